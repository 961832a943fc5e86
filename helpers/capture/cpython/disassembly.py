"""A code object -> its instructions, decoded by `dis` without asking its constants anything.

`dis` asks each constant for its repr, and a cache asks a code object for its hash, which asks every
constant in turn. Code made by hand, or by a compiler such as Dynamo, may hold any object there.
"""

import dis
import weakref
from collections.abc import Callable
from functools import wraps
from types import CodeType

from helpers.capture.text.value import BIGGEST_BITS, brief, plain
from helpers.safety.original_builtins import BUILTINS, Unpatched

__builtins__ = BUILTINS  # those of the interpreter may be patched when this runs

LONGEST, MOST_ITEMS = 10_000, 10_000  # of a constant that `dis` may put into words
MOST_KEPT = 256  # code objects
_SCALARS = (bool, float, complex, type(None), type(...), CodeType)


class _Told:
    """What stands in the place of a constant that is not to be asked for its repr."""

    __slots__ = ("_words",)

    def __init__(self, value):
        self._words = brief(value)

    def __repr__(self):
        return self._words


def instructions(code: CodeType) -> list[dis.Instruction]:
    """Return the instructions as `dis.get_instructions` does.

    ValueError, in one sentence, where the bytes are none that Python could run.
    """
    try:
        with Unpatched():
            return list(dis.get_instructions(calm(code)))
    except Exception as error:
        raise ValueError(
            f"the bytecode of {plain(code.co_name)} cannot be decoded: "
            f"{type(error).__name__} at some instruction"
        ) from None


def calm(code: CodeType) -> CodeType:
    """Return the code; where a constant has a repr of its own, a copy with words in its place."""
    if all(_is_plain(value, 3) for value in code.co_consts):
        return code
    told = tuple(v if _is_plain(v, 3) else _Told(v) for v in code.co_consts)
    return code.replace(co_consts=told)


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


def _is_plain(value: object, deeper: int) -> bool:
    """Return whether a repr of the value runs built-in code alone, and is not huge."""
    kind = type(value)
    if any(kind is scalar for scalar in _SCALARS):
        return True
    if kind is int:
        return value.bit_length() <= BIGGEST_BITS
    if kind is str or kind is bytes:
        return len(value) <= LONGEST
    if kind is tuple or kind is frozenset:
        few = len(value) <= MOST_ITEMS and deeper > 0
        return few and all(_is_plain(item, deeper - 1) for item in value)
    return False
