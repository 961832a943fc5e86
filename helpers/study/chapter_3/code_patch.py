"""Chapter 3: patch one constant and one operator of a code object, and nothing else. The check
reads the returned code object but never runs it. A wrong stack depth or exception table could crash
the process.
"""

import dis
from collections.abc import Callable
from itertools import pairwise
from types import CodeType

from helpers.capture.text.value import short_repr
from helpers.study.answers import InvalidAnswer, require_no_stub
from helpers.study.check import exercise
from helpers.study.engine import advise_on_first_part, find_difference, make_cases

FIELDS = (  # attributes of a code object that a patch must not change
    "co_name",
    "co_argcount",
    "co_posonlyargcount",
    "co_kwonlyargcount",
    "co_varnames",
    "co_cellvars",
    "co_freevars",
    "co_flags",
    "co_filename",
    "co_firstlineno",
)
ADD = 0  # NB_ADD, CPython's Include/opcode.h
ADVICE = "in the given code, change its last 10 and the operator after it, and nothing else"


def early(n):
    """Ten times, less ten."""
    y = n - 10
    return y * 2 - 10


def half(n):  # noqa: D103
    x = n * 10.0
    return x - 10


def ticket(age, /, lock, *more, base=100, **rest):  # noqa: D103
    with lock:
        return (base - age) * (base - 50) - 10


def _patch_code(code: CodeType) -> CodeType:
    """Be the reference answer: return `code` with two arguments of instructions changed.

    The last instruction that loads 10 loads 25, and the operator after it is an addition.
    """
    load = None
    operator = None
    for step, following in pairwise(dis.get_instructions(code)):
        loads_ten = step.opname == "LOAD_CONST" and step.argval == 10
        if loads_ten and following.opname == "BINARY_OP":
            load = step
            operator = following

    raw = bytearray(code.co_code)
    # The byte after an opcode is its argument. For LOAD_CONST, that is an index of `co_consts`, at
    # whose end 25 is added below.
    raw[load.offset + 1] = len(code.co_consts)
    raw[operator.offset + 1] = ADD
    return code.replace(co_code=bytes(raw), co_consts=(*code.co_consts, 25))


def _read_patched(before: CodeType, patch: Callable) -> dict[str, object]:
    """Call an answer on the code `before`; return label -> fact about the code that it returns.

    Labels are such as "co_name" and "offset 4", an instruction. InvalidAnswer if the answer returns
    anything but a new code object.
    """
    patched = require_no_stub(patch(before))
    if patched is before:
        raise InvalidAnswer("it returns the same code object, whose fields nobody can change")
    if not isinstance(patched, CodeType):
        cure = "; try .to_code()" if hasattr(type(patched), "to_code") else ""
        raise InvalidAnswer(f"it returns {short_repr(patched)}, which is not a code object{cure}")

    values = {name: repr(getattr(patched, name)) for name in FIELDS}
    for step in dis.get_instructions(patched):
        # EXTENDED_ARG only has higher bits of the next instruction's argument.
        if step.opname != "EXTENDED_ARG":
            values[f"offset {step.offset}"] = _write_instruction(step)
    values["a stack that is deep enough"] = patched.co_stacksize >= before.co_stacksize
    values["the exception table"] = [
        (entry.start, entry.end, entry.target, entry.depth)
        for entry in dis._parse_exception_table(patched)
    ]
    values["the source positions for tracebacks"] = list(patched.co_positions())
    return values


def _write_instruction(step: dis.Instruction) -> str:
    """Return an instruction as text. The type of a constant is named: 10 and 10.0 differ."""
    if step.opname == "LOAD_CONST":
        return f"{step.opname} {type(step.argval).__name__} {step.argrepr}".strip()
    return f"{step.opname} {step.argrepr}".strip()


CODE_PATCH_HINTS = (
    "Bytecode.from_code(code) is a list of instructions. Which two must change?",
    "An instruction has .name and .arg, but a Label, TryBegin or TryEnd has neither. The .arg of "
    "BINARY_OP is a member of BinaryOp. If there are several 10s, which one is loaded last?",
    "In the last LOAD_CONST of 10, set .arg to 25. In the last BINARY_OP, set .arg to "
    "BinaryOp.ADD. Return steps.to_code().",
)


@exercise(*CODE_PATCH_HINTS)
def code_patch(patch: Callable):
    """You changed one constant and one operator, in a new code object. The old one is unchanged."""
    # Return None if the answer is right, else a sentence on what is wrong. The docstring is what
    # the learner reads after a pass.
    rows = [(f"for the code of {fn.__name__}", fn.__code__) for fn in (early, half, ticket)]
    cases = make_cases(_read_patched, rows, advise_on_first_part(advice=ADVICE))
    return find_difference(patch, _patch_code, cases)
