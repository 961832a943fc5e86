"""Chapter 3: patch one constant and one operator of a code object, and nothing else.

What comes back is read, and never run: a code object that is wrong in its depth or its table could
end the process.
"""

import dis
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import NamedTuple

from helpers.capture.text.value import brief
from helpers.study.check import Exercise, tried

SOURCES = (
    "def ticket(age):\n    base = 100\n    return (base - age) * (base - 50) - 10",
    "def tens(n):\n    return (10 - n) * (10 + n) - 10",
    "def half(n):\n    'Ten times.'\n    x = n * 10.0\n    return x - 10",
    "def keys(a, /, b=10, *c, d, **e):\n    x = a * b - d\n    return (x + len(c)) // 3 - 10",
    "def early(n):\n    y = n - 10\n    return y * 2 - 10",
    "def made(rate):\n    def inner(n):\n        return (10, rate * n)[1] - 10\n    return inner",
    "def held(lock, n):\n    with lock:\n        return n * n - 10",
    "def safe(n):\n    try:\n        part = 100 // n\n    except ZeroDivisionError as error:\n"
    "        part = len(str(error))\n    few = [k - 10 for k in (n, part)]\n"
    "    return (part + len(few)) * (part - n) - 10",
)
KEPT = (
    *("co_name", "co_qualname", "co_argcount", "co_posonlyargcount", "co_kwonlyargcount"),
    *("co_varnames", "co_cellvars", "co_freevars", "co_flags", "co_filename", "co_firstlineno"),
)
KEPT_BY_THE_WAY = ("co_flags", "co_filename", "co_firstlineno")


class Step(NamedTuple):
    """One instruction; `value` tells 25 from 25.0."""

    offset: int
    opname: str
    value: str


def _functions():
    for source in SOURCES:
        space = {}
        exec(compile(source, "<function>", "exec"), space)
        name = source[4 : source.index("(")]
        yield space["made"](3) if name == "made" else space[name]


def _steps(code: CodeType) -> list[Step]:
    found = [i for i in dis.get_instructions(code) if i.opname != "EXTENDED_ARG"]
    return [Step(i.offset, i.opname, f"{type(i.argval).__name__} {i.argrepr}") for i in found]


def _judge_patch(patch: Callable):
    for fn in _functions():
        because = _judge_one(patch, fn)
        if because:
            return f"{because} (in the function {fn.__name__}, see `{_source_of(fn)}`)"
    return None


def _source_of(fn) -> str:
    """Return the last line of a function: what the patch is about."""
    source = next(s for s in SOURCES if f"def {fn.__name__}(" in s)
    lines = [line.strip() for line in source.split("\n") if line.endswith("- 10")]
    return lines[-1]


def _judge_one(patch, fn: FunctionType) -> str | None:
    before = fn.__code__
    patched = tried(patch(before))
    if fn.__code__ is not before:
        return "the function that owned the code was changed; return a new code object instead"
    if patched is before:
        return "it returned the same code object: its fields cannot be written, so make a new one"
    if not isinstance(patched, CodeType):
        cure = "; try .to_code()" if hasattr(type(patched), "to_code") else ""
        return f"it must return a code object, not {brief(patched)}{cure}"
    lost = [name for name in KEPT if getattr(patched, name) != getattr(before, name)]
    if lost and lost[0] in KEPT_BY_THE_WAY:
        return f"{lost[0]} changed, and nothing else was to change"
    if lost:
        return f"{lost[0]} changed: patch the given code instead of compiling another function"
    try:
        after = _steps(patched)
    except (IndexError, KeyError, ValueError) as error:
        return f"the new code cannot be read: {type(error).__name__} in dis.get_instructions"
    return _judge_steps(_steps(before), after) or _judge_tables(before, patched)


def _judge_steps(before: list[Step], after: list[Step]) -> str | None:
    if len(before) != len(after):
        return f"the code had {len(before)} instructions and has {len(after)} now; change two only"
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    wrong = [old for old, new in changed if old[:2] != new[:2]]
    if wrong:
        return f"{wrong[0].opname} at offset {wrong[0].offset} became another instruction"
    constant, operator = _places(before)
    operators = [old for old, _ in changed if old.opname == "BINARY_OP"]
    others = [old for old, _ in changed if old.opname != "BINARY_OP"]
    if len(operators) > 1:
        return f"{len(operators)} operators changed; only the last one is asked for"
    if not operators:
        return "no operator changed: the argument of the last BINARY_OP says which one it is"
    if operators != [operator]:
        return f"the operator at offset {operators[0].offset} changed; asked is the last one"
    if len(others) > 1:
        return f"{len(others)} constants changed; only the last 10 is asked for"
    if not others:
        return "the constant 10 is still there: find the LOAD_CONST whose argument it is"
    if others != [constant]:
        there = others[0].value.partition(" ")[2]
        return f"the {there} at offset {others[0].offset} changed; asked is the 10 at the end"
    return _judge_new(dict(changed), constant, operator)


def _places(steps: list[Step]) -> tuple[Step, Step]:
    """Return the last 10 that an operator follows, and the operator."""
    pairs = zip(steps, steps[1:], strict=False)
    return [
        (load, sign)
        for load, sign in pairs
        if (load.opname, load.value, sign.opname) == ("LOAD_CONST", "int 10", "BINARY_OP")
    ][-1]


def _judge_new(new: dict, constant: Step, operator: Step) -> str | None:
    if new[constant].value != "int 25":
        kind, _, words = new[constant].value.partition(" ")
        return f"the 10 became {words}, of type {kind}; it should become the int 25"
    if new[operator].value.partition(" ")[2] != "+":
        return f"the last operator is {new[operator].value.partition(' ')[2]} now; it should be +"
    return None


def _judge_tables(before: CodeType, patched: CodeType) -> str | None:
    if patched.co_stacksize < before.co_stacksize:
        return f"co_stacksize was {before.co_stacksize} and is {patched.co_stacksize}: not enough"
    if set(patched.co_names) != set(before.co_names):
        return "co_names changed, and nothing else was to change"
    if list(patched.co_positions()) != list(before.co_positions()):
        return "the line table changed: a traceback would point to other places"
    if _guarded(patched) != _guarded(before):
        return "the exception table changed, and nothing else was to change"
    if FunctionType(patched, {}, None, None, _cells(patched)).__doc__ != _doc(before):
        return "the docstring changed: it is the first constant"
    return None


def _doc(code: CodeType):
    return FunctionType(code, {}, None, None, _cells(code)).__doc__


def _cells(code: CodeType):
    return tuple((lambda x: lambda: x)(0).__closure__ * len(code.co_freevars)) or None


def _guarded(code: CodeType) -> dict[int, tuple]:
    """Return offset -> where an exception there goes."""
    rows = dis._parse_exception_table(code)
    return {k: (r.target, r.depth, r.lasti) for r in rows for k in range(r.start, r.end, 2)}


CODE_PATCH = Exercise(
    "code_patch",
    _judge_patch,
    "One constant, one operator, a new code object; the old one is as it was.",
    (
        "Bytecode.from_code(code) is a list of instructions. Which two must change?",
        "An instruction has .name and .arg (labels and the marks of a try have neither); the "
        "argument of BINARY_OP is a member of BinaryOp. Of several 10s, which one does the "
        "function load last?",
        "Set .arg of the last LOAD_CONST that holds 10 to 25, .arg of the last BINARY_OP to "
        "BinaryOp.ADD, and return steps.to_code().",
    ),
)
