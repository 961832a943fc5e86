"""Chapter 3: patch one constant and one operator of a code object, and nothing else."""

import dis
from types import CodeType, FunctionType

from helpers.study.check import Exercise, tried

CASES = (0, 1, 7, -3)


def _ticket(age):
    base = 100
    return (base - age) * (base - 50) - 10


def _expected(age):
    base = 100
    return (base - age) * (base - 50) + 25


def _steps(code: CodeType):
    return [(i.opname, i.argrepr) for i in dis.get_instructions(code)]


def _judge_patch(patch):
    before = _ticket.__code__
    patched = tried(patch(before))
    if _ticket.__code__ is not before:
        _ticket.__code__ = before
        return "the function that owned the code was changed; return a new code object instead"
    if patched is before:
        return "it returned the same code object: code objects cannot change, so make a new one"
    if not isinstance(patched, CodeType):
        return f"it must return a code object, not {type(patched).__name__}; try .to_code()"
    same = ("co_name", "co_argcount", "co_varnames", "co_filename", "co_firstlineno")
    lost = [name for name in same if getattr(patched, name) != getattr(before, name)]
    if lost:
        return f"{lost[0]} changed: patch the given code instead of compiling another function"
    return _judge_steps(_steps(before), _steps(patched)) or _judge_values(patched)


def _judge_steps(before, after):
    if len(before) != len(after):
        return f"the code had {len(before)} instructions and has {len(after)} now; change two only"
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    operators = [pair for pair in changed if pair[0][0] == "BINARY_OP"]
    others = [pair for pair in changed if pair[0][0] != "BINARY_OP"]
    if len(operators) > 1:
        return f"{len(operators)} operators changed; only the last one is asked for"
    if not operators:
        return "no operator changed: the argument of the last BINARY_OP says which one it is"
    if len(others) > 1:
        return f"{len(others)} constants changed; only the 10 is asked for"
    if not others:
        return "the constant 10 is still there: find the LOAD_CONST whose argument it is"
    return None


def _judge_values(patched):
    run = FunctionType(patched, {})
    for age in CASES:
        value, expected = run(age), _expected(age)
        if value != expected:
            return f"for age {age} it returns {value}; `- 10` patched to `+ 25` returns {expected}"
    return None


CODE_PATCH = Exercise(
    "code_patch",
    _judge_patch,
    "One constant, one operator, a new code object; the old one is as it was.",
    (
        "Bytecode.from_code(code) is a list of instructions. Which two must change?",
        "An instruction has .name and .arg; the argument of BINARY_OP is a member of BinaryOp.",
        "Set .arg of the LOAD_CONST that holds 10 to 25, .arg of the last BINARY_OP to "
        "BinaryOp.ADD, and return steps.to_code().",
    ),
)
