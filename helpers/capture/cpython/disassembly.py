"""A code object -> its instructions, and what its stack holds before each of them.

`dis` asks each constant for its repr, and a cache asks a code object for its hash, which asks every
constant in turn. Code made by a compiler such as Dynamo may hold any object there, so they are not
asked. The stack is followed on every path from the entry and from the handlers of the exception
table, as the compiler does it itself (`calculate_stackdepth` in Python/compile.c, flowgraph.c from
3.12 on).
"""

import dis
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from types import CodeType

from helpers.capture.text.value import BIGGEST_BITS, brief, plain
from helpers.mini.versions import JUMPS, effect, ends
from helpers.model.phrase import counted
from helpers.safety.arguments import is_exactly

LONGEST = 10_000  # of a constant that `dis` may put into words
MOST_KEPT = 256  # code objects
MOST_ORIGINS = 4_000_000  # of all instructions together
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


class _Told:
    """What stands in the place of a constant that is not to be asked for its repr."""

    def __init__(self, value):
        self._words = brief(value)

    def __repr__(self):
        return self._words


def instructions(code: CodeType) -> list[dis.Instruction]:
    """Return the instructions as `dis.get_instructions` does.

    ValueError, in one sentence, where the bytes are none that Python could run.
    """
    try:
        return list(dis.get_instructions(calm(code)))
    except Exception as error:
        raise ValueError(
            f"the bytecode of {plain(code.co_name)} cannot be decoded: "
            f"{type(error).__name__} at some instruction"
        ) from None


def calm(code: CodeType) -> CodeType:
    """Return the code; where a constant has a repr of its own, a copy with words in its place."""
    if all(map(_is_plain, code.co_consts)):
        return code
    return code.replace(co_consts=tuple(v if _is_plain(v) else _Told(v) for v in code.co_consts))


def _is_plain(value: object, deeper: int = 3) -> bool:
    """Return whether a repr of the value runs built-in code alone, and is not huge."""
    if is_exactly(value, tuple, frozenset):
        few = len(value) <= LONGEST and deeper > 0
        return few and all(_is_plain(item, deeper - 1) for item in value)
    if is_exactly(value, str, bytes):
        return len(value) <= LONGEST
    if type(value) is int:
        return value.bit_length() <= BIGGEST_BITS
    return is_exactly(value, bool, float, complex, type(None), type(...), CodeType)


def running_name(number: int) -> str:
    """Return the name of an opcode, of a specialised one too."""
    return dis._all_opname[number]


def positions(code: CodeType) -> list[tuple]:
    """Return (line, end line, column, end column) per two bytes; None where the table has none."""
    found = list(code.co_positions())
    return found + [(None,) * 4] * (len(code.co_code) // 2 - len(found))


def once_per_code(fn: Callable) -> Callable:
    """Cache a function of one code object by identity; a code object that ends is forgotten."""
    kept: dict[int, tuple] = {}

    @wraps(fn)
    def asked(code: CodeType):
        found = kept.get(id(code))
        if found is not None and found[0]() is code:
            return found[1]
        answer = fn(code)
        if len(kept) >= MOST_KEPT:
            kept.clear()
        kept[id(code)] = weakref.ref(code), answer
        return answer

    return asked


def handlers(code: CodeType) -> tuple[Handler, ...]:
    """Return the rows of the code's exception table (3.11 and later)."""
    rows = dis._parse_exception_table(code)
    return tuple(Handler(r.start, r.end, r.target, r.depth, bool(r.lasti)) for r in rows)


def handler_words(rows, offset: int) -> str:
    """Say what the rows of an exception table do for an exception here; nothing without a row."""
    for row in rows:
        if row.start <= offset < row.end:
            values = counted(row.depth, "value")
            return f"go to {row.target}, keep {values}{', push the offset' if row.lasti else ''}"
    return ""


@once_per_code
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
    waiting += [(row.target, (-1,) * (row.depth + 1 + row.lasti)) for row in handlers(code)]
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
    if count is None:
        by_arg = _TAKES_BY_ARG.get(name)
        count = by_arg(arg) if by_arg else max(0, -effect(instruction, False))
    return min(count, depth)


def _successors(code: CodeType):
    """Return offset -> [(next offset, the instruction, its effect on that way)]."""
    found = instructions(code)
    following = [i.offset for i in found[1:]] + [-1]
    after = {}
    for instruction, then in zip(found, following, strict=True):
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
