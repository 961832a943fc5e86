"""A code object -> how many values its stack holds before each instruction, and who put them there.

Every path is followed from the entry and from the handlers of the exception table, as the
compiler does it itself (`calculate_stackdepth` in Python/compile.c, flowgraph.c from 3.12 on).
"""

import dis
from dataclasses import dataclass
from types import CodeType

from helpers.capture.cpython import disassembly
from helpers.mini.versions import JUMPS, effect, ends
from helpers.safety.original_builtins import BUILTINS, Unpatched

__builtins__ = BUILTINS  # those of the interpreter may be patched when this runs

_TAKES_ONLY = ("POP_", "STORE_", "DELETE_", "JUMP_", "LIST_A", "LIST_E", "SET_ADD", "SET_UPDATE")
_TAKES_ONLY += ("DICT_", "MAP_ADD", "END_FOR")
_REPLACES_TOP = ("LOAD_ATTR", "LOAD_METHOD", "BEFORE_WITH", "UNPACK_SEQUENCE", "UNPACK_EX")
_CHANGES_NOTHING = ("RESUME", "NOP", "CACHE", "PRECALL", "KW_NAMES", "EXTENDED_ARG", "COPY_FREE")
_TAKES = {
    **dict.fromkeys(("GET_ITER", "GET_YIELD_FROM_ITER", "LOAD_METHOD", "LOAD_ATTR", "FORMAT_SIMPLE",
                     "CONVERT_VALUE", "BEFORE_WITH", "UNPACK_SEQUENCE", "UNPACK_EX", "YIELD_VALUE",
                     "LIST_TO_TUPLE", "CALL_INTRINSIC_1", "CHECK_EXC_MATCH", "PUSH_EXC_INFO",
                     "SEND", "UNARY_NOT", "UNARY_NEGATIVE", "UNARY_INVERT", "UNARY_POSITIVE",
                     "GET_AWAITABLE", "GET_AITER", "BEFORE_ASYNC_WITH",
                     "TO_BOOL", "STORE_FAST_LOAD_FAST", "STORE_FAST_MAYBE_NULL"), 1),
    **dict.fromkeys(("BINARY_OP", "BINARY_SUBSCR", "COMPARE_OP", "IS_OP", "CONTAINS_OP",
                     "IMPORT_NAME", "FORMAT_WITH_SPEC", "CALL_INTRINSIC_2", "END_SEND",
                     "SET_FUNCTION_ATTRIBUTE", "CHECK_EG_MATCH", "PREP_RERAISE_STAR"), 2),
    **dict.fromkeys(("BINARY_SLICE", "LOAD_SUPER_ATTR", "MATCH_CLASS"), 3),
    **dict.fromkeys(("FOR_ITER", "COPY", "WITH_EXCEPT_START", "GET_LEN", "PRECALL"), 0),
}  # fmt: skip
_TAKES_BY_ARG = {
    **dict.fromkeys(("BUILD_LIST", "BUILD_TUPLE", "BUILD_SET", "BUILD_STRING", "BUILD_SLICE",
                     "SWAP"), lambda arg: arg),
    "BUILD_MAP": lambda arg: 2 * arg,
    "BUILD_CONST_KEY_MAP": lambda arg: arg + 1,
    "CALL": lambda arg: arg + 2,
    "CALL_KW": lambda arg: arg + 3,
    "CALL_FUNCTION_EX": lambda arg: 3 + (arg & 1),
    "FORMAT_VALUE": lambda arg: 2 if arg & 4 else 1,
    "MAKE_FUNCTION": lambda arg: 1 + (arg & 15).bit_count(),
}  # fmt: skip
MOST_ORIGINS = 4_000_000  # of all instructions together


class Doubt(Exception):
    """The stack of this code cannot be told from its bytecode alone; the message says why."""


@dataclass(frozen=True)
class Handler:
    """One row of the exception table: offsets `start` to `end` (not included) go to `target`.

    `depth` values stay on the stack; with `lasti`, the offset of the failed instruction is pushed.
    """

    start: int
    end: int
    target: int
    depth: int
    lasti: bool


def handlers(code: CodeType) -> tuple[Handler, ...]:
    """Return the rows of the code's exception table (3.11 and later)."""
    with Unpatched():
        rows = dis._parse_exception_table(code)
    return tuple(Handler(r.start, r.end, r.target, r.depth, bool(r.lasti)) for r in rows)


@disassembly.once_per_code
def origins(code: CodeType) -> dict[int, tuple[int, ...]]:
    """Return offset -> the offsets of the instructions that put each value there, bottom first.

    The length of each tuple is the depth before that instruction. What a handler finds, and what
    a resumed generator is sent, has the origin -1. Offsets that no path reaches are left out.
    Doubt where two paths meet with different depths, a depth leaves 0 … co_stacksize, or a way
    leads to where no instruction begins.
    """
    found: dict[int, tuple[int, ...]] = {}
    after = _successors(code)
    waiting, room = [(0, ())], MOST_ORIGINS
    for row in handlers(code):
        values = row.depth + 1 + row.lasti
        if values > code.co_stacksize:
            raise Doubt(f"the handler at offset {row.target} would need {values} values")
        waiting.append((row.target, (-1,) * values))
    while waiting:
        offset, stack = waiting.pop()
        if not 0 <= len(stack) <= code.co_stacksize:
            raise Doubt(f"offset {offset} would need {len(stack)} values")
        if offset not in after:
            raise Doubt(f"a way leads to offset {offset}, where no instruction begins")
        room -= len(stack)
        if room < 0:
            raise Doubt("its stack is too deep to be followed at every instruction")
        if offset in found:
            if len(found[offset]) != len(stack):
                raise Doubt(f"two paths reach offset {offset} with different depths")
            continue
        found[offset] = stack
        waiting += [(to, _moved(stack, at, change)) for to, at, change in after[offset]]
    return found


def takes(opname: str) -> int:
    """Return how many values an opcode always works on; 0 where that depends on its argument."""
    return _TAKES.get(opname, 0)


def taken(instruction: dis.Instruction, depth: int) -> int:
    """Return how many of the `depth` values on the stack an instruction works on.

    A value that it only looks at, such as an iterator's, is not counted. Mirrors the stack effects
    in Python/bytecodes.c; for an opcode without a row here, what the net effect says at least.
    """
    name, arg = instruction.opname, instruction.arg or 0
    count = _TAKES.get(name)
    if count is None and name in _TAKES_BY_ARG:
        count = _TAKES_BY_ARG[name](arg)
    if count is None:
        count = max(0, -effect(instruction, False))
    return min(count, depth)


def _successors(code: CodeType):
    """Return offset -> [(next offset, the instruction, its effect on that way)]."""
    instructions = disassembly.instructions(code)
    following = [i.offset for i in instructions[1:]] + [-1]
    after = {}
    for instruction, then in zip(instructions, following, strict=True):
        ways = after[instruction.offset] = []
        if instruction.opcode in JUMPS:
            ways.append((instruction.argval, instruction, effect(instruction, True)))
        if not ends(instruction.opname):
            ways.append((then, instruction, effect(instruction, False)))
    return after


def _moved(stack: tuple, instruction: dis.Instruction, change: int) -> tuple:
    """Return the origins after one instruction, told by its name and its net effect."""
    name, here = instruction.opname, instruction.offset
    if name == "SWAP":
        deep = len(stack) - instruction.arg
        return (*stack[:deep], stack[-1], *stack[deep + 1 : -1], stack[deep])
    if name.startswith(_CHANGES_NOTHING):
        return stack
    if name.startswith(_TAKES_ONLY) and "_LOAD_" not in name and "_STORE_" not in name[1:]:
        return stack[: len(stack) + change]
    replaced = 1 if change <= 0 or name in _REPLACES_TOP else 0
    keep = max(len(stack) + min(change, 0) - replaced, 0)
    return stack[:keep] + (here,) * (len(stack) + change - keep)
