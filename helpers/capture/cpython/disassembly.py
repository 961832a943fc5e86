"""Decode a code object: its instructions, its exception table, and the depth of its value stack."""

import dis
from itertools import zip_longest
from types import CodeType

from ...mini.versions import JUMPS, find_stack_effect, is_never_followed
from ...model.code_records import Handler
from ...model.phrase import format_count
from ..text.value import format_text

RETURNS = ("RETURN_VALUE", "RETURN_CONST")  # instructions that return and never raise
# Opname -> how many values it takes from the stack. For any other instruction, `count_taken`
# computes the number from the stack effect: values pushed minus values taken.
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
# Instructions whose name begins with one of these push one result.
_PUSHES_RESULT = ("BINARY_", "UNARY_", "COMPARE_", "IS_OP", "CONTAINS_", "BUILD_", "CALL", "LOAD_",
                  "FORMAT_", "CONVERT_", "MAKE_FUNCTION", "SET_FUNCTION", "TO_BOOL",
                  "LIST_TO_TUPLE", "GET_", "IMPORT_", "CHECK_", "MATCH_", "PREP_", "SEND",
                  "END_SEND", "YIELD_")  # fmt: skip


class UnknownStackDepth(Exception):
    """The depth of the stack cannot be derived from the bytecode; the message says why."""


def decode_instructions(code: CodeType) -> list[dis.Instruction]:
    """Return the instructions of a code object; ValueError if `dis` cannot decode its bytes."""
    try:
        return list(dis.get_instructions(code))
    except Exception:
        raise ValueError(f"the bytecode of {format_text(code.co_name)} cannot be decoded") from None


def list_handlers(code: CodeType) -> tuple[Handler, ...]:
    """Return the rows of the code's exception table: which handler serves which instructions."""
    return tuple(Handler(*row) for row in dis._parse_exception_table(code))


def describe_handler(row: Handler) -> str:
    """Return what CPython does for an exception by this row of the exception table.

    Such as "go to 20, keep 1 value" or, if `lasti` is set, "go to 20, keep 1 value, push the
    offset": the offset of the instruction that raised is then pushed below the exception.
    """
    action = f"go to {row.target}, keep {format_count(row.depth, 'value')}"
    return f"{action}, push the offset" if row.lasti else action


def derive_depths(code: CodeType) -> dict[int, int]:
    """Return offset of an instruction -> how many values are on the stack before it.

    Follow all paths through the code, as `calculate_stackdepth` does (Python/compile.c).
    Instructions that no path reaches are not in the dict. Raise UnknownStackDepth if two paths
    reach an instruction with different depths, or if a depth is impossible.
    """
    instructions = decode_instructions(code)
    # Offset -> (the instruction, the next one in the code or None). An entry is removed when the
    # paths that go on from the instruction have been added to `pending`.
    unvisited = {
        entry.offset: (entry, next_entry)
        for entry, next_entry in zip_longest(instructions, instructions[1:])
    }
    depths_by_offset = {}
    # (offset, depth there) of paths that are still to be followed. One starts at offset 0 with an
    # empty stack, and one at each exception handler.
    pending = [(0, 0)]
    for row in list_handlers(code):
        pushed_count = 2 if row.lasti else 1  # the exception, and maybe the offset that raised
        pending.append((row.target, row.depth + pushed_count))

    while pending:
        offset, depth = pending.pop()
        if not 0 <= depth <= code.co_stacksize:
            raise UnknownStackDepth(f"offset {offset} would need {depth} values")
        if depths_by_offset.setdefault(offset, depth) != depth:
            raise UnknownStackDepth(f"two paths reach offset {offset} with different depths")
        if offset not in unvisited:
            continue
        entry, next_entry = unvisited.pop(offset)
        if entry.opcode in JUMPS:
            pending.append((entry.argval, depth + find_stack_effect(entry, jump=True)))
        never_continues = is_never_followed(
            entry.opname
        )  # a return, a raise or an unconditional jump
        if next_entry is not None and not never_continues:
            pending.append((next_entry.offset, depth + find_stack_effect(entry, jump=False)))
    return depths_by_offset


def count_taken(instruction: dis.Instruction, depth: int) -> int:
    """Return how many values an instruction takes from the stack, at most `depth`.

    Values that the instruction reads and leaves on the stack are not counted.
    """
    opname = instruction.opname
    if opname == "SWAP":
        count = instruction.arg  # SWAP 3 exchanges the first and the third value from the top
    elif opname in _TAKEN_COUNTS:
        count = _TAKEN_COUNTS[opname]
    else:
        # The effect is the number of values pushed, minus the number of values taken.
        result_count = 1 if opname.startswith(_PUSHES_RESULT) else 0
        count = max(0, result_count - find_stack_effect(instruction, jump=False))
    return min(count, depth)
