"""A code object -> its instructions, how deep the stack is before each, and what each takes."""

import dis
from itertools import zip_longest
from types import CodeType

from ...mini.versions import JUMPS, effect, ends
from ...model.code_records import Handler
from ...model.phrase import format_count
from ..text.value import format_text

RETURNS = ("RETURN_VALUE", "RETURN_CONST")  # none of them raises
# How many values these take. Of all others the stack effect tells it.
_TAKEN_COUNTS = {
    "LOAD_ATTR": 1,
    "LOAD_METHOD": 1,
    "BEFORE_WITH": 1,
    "UNPACK_SEQUENCE": 1,
    "UNPACK_EX": 1,
    "PUSH_EXC_INFO": 1,
    "STORE_FAST_LOAD_FAST": 1,
    "BEFORE_ASYNC_WITH": 1,
    "LOAD_SUPER_ATTR": 3,
    "CHECK_EG_MATCH": 2,
}
# Names of instructions that push one result begin so.
_PUSHES_RESULT = ("BINARY_", "UNARY_", "COMPARE_", "IS_OP", "CONTAINS_", "BUILD_", "CALL", "LOAD_",
                  "FORMAT_", "CONVERT_", "MAKE_FUNCTION", "SET_FUNCTION", "TO_BOOL",
                  "LIST_TO_TUPLE", "GET_", "IMPORT_", "CHECK_", "MATCH_", "PREP_", "SEND",
                  "END_SEND", "YIELD_")  # fmt: skip


class Doubt(Exception):
    """The stack of this code cannot be derived from its bytecode; the message says why."""


def decode_instructions(code: CodeType) -> list[dis.Instruction]:
    """Return the instructions; ValueError where the bytes are none that Python could run."""
    try:
        return list(dis.get_instructions(code))
    except Exception:
        raise ValueError(f"the bytecode of {format_text(code.co_name)} cannot be decoded") from None


def list_handlers(code: CodeType) -> tuple[Handler, ...]:
    """Return the rows of the code's exception table (3.11 and later)."""
    return tuple(Handler(*row) for row in dis._parse_exception_table(code))


def describe_handler(row: Handler) -> str:
    """Return what a row of an exception table does for an exception, as words."""
    words = f"go to {row.target}, keep {format_count(row.depth, 'value')}"
    return f"{words}, push the offset" if row.lasti else words


def derive_depths(code: CodeType) -> dict[int, int]:
    """Return offset -> stack depth before it, as `calculate_stackdepth` does (Python/compile.c).

    All paths through the code are followed. Doubt is raised where two of them disagree.
    """
    listed = decode_instructions(code)
    # Offset -> (instruction, the one after it, None at the end). An entry goes when it is followed.
    unvisited = {entry.offset: (entry, after) for entry, after in zip_longest(listed, listed[1:])}
    depths_by_offset = {}
    pending = [(0, 0)]  # (offset, depth there)
    for row in list_handlers(code):
        pushed_count = 2 if row.lasti else 1  # the exception, and maybe the offset that raised
        pending.append((row.target, row.depth + pushed_count))

    while pending:
        offset, depth = pending.pop()
        if not 0 <= depth <= code.co_stacksize:
            raise Doubt(f"offset {offset} would need {depth} values")
        if depths_by_offset.setdefault(offset, depth) != depth:
            raise Doubt(f"two paths reach offset {offset} with different depths")
        if offset not in unvisited:
            continue
        entry, after = unvisited.pop(offset)
        if entry.opcode in JUMPS:
            pending.append((entry.argval, depth + effect(entry, True)))
        if after is not None and not ends(entry.opname):
            pending.append((after.offset, depth + effect(entry, False)))
    return depths_by_offset


def count_taken(instruction: dis.Instruction, depth: int) -> int:
    """Return how many of the `depth` values on the stack an instruction takes.

    Values that it only looks at are not counted.
    """
    opname = instruction.opname
    if opname == "SWAP":
        count = instruction.arg
    elif opname in _TAKEN_COUNTS:
        count = _TAKEN_COUNTS[opname]
    else:
        result_count = 1 if opname.startswith(_PUSHES_RESULT) else 0
        count = max(0, result_count - effect(instruction, False))
    return min(count, depth)
