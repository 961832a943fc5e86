"""What torch has stored on a code object: read, taken off for a block, and put back as it was.

CPython gives a code object room for the pointers of others, `co_extra` (Include/cpython/code.h).
Torch stores one there, to an ExtraState: its cache entries, and what it does with frames of this
code (torch/csrc/dynamo/extra_state.h). Torch has functions that add to an ExtraState and one that
frees it, but none that takes it off, so the pointer is moved here. Where it is, a trial with a new
code object tells.
"""

import ctypes
import functools
from types import CodeType
from typing import NamedTuple

from ..safety.missing_parts import MissingPart
from . import torch_private
from .interpreter_frame import WORD, unsupported, word

HEADER = 2 * WORD  # the reference count and the type
MOST_USERS = 255  # MAX_CO_EXTRA_USERS, Include/internal/pycore_interp.h
LONGEST_STATE = 512  # bytes of an ExtraState that are searched
ACTIONS = "DEFAULT", "SKIP", "RUN_ONLY"
UNREADABLE = "what torch stores on a code object cannot be set aside on this Python and torch"


class Places(NamedTuple):
    """Where torch's pointer is: an offset in a code object, a number, an offset in the state."""

    extras: int
    number: int
    strategy: int


def require() -> None:
    """Raise MissingPart where this module cannot find its way."""
    if why := unsupported() or ("" if _places() else UNREADABLE):
        raise MissingPart(why)


def action(pointer: int) -> str:
    """Return what torch does with frames of a code that has this state: an action's name.

    DEFAULT compiles them, RUN_ONLY only runs what is compiled, SKIP runs them as they are.
    """
    if not pointer:
        return "DEFAULT"
    number, _ = _strategy(pointer, _places().strategy)
    return next(name for name in ACTIONS if _numbered(name) == number)


def barred(codes) -> list[tuple[CodeType, str]]:
    """Return which of these codes torch does not compile, each with an action's name.

    Where torch's state cannot be read, none of them.
    """
    if unsupported() or not _places():
        return []
    actions = ((code, action(state_of(code))) for code in codes)
    return [(code, found) for code, found in actions if found != "DEFAULT"]


def state_of(code: CodeType) -> int:
    """Return the address of what torch has stored on a code object; 0 for nothing."""
    slot = _slot(code)
    return word(slot) if slot else 0


def take_off(code: CodeType) -> int:
    """Take torch's state off a code object, and return its address; 0 for nothing.

    The code object is as new then. Nothing frees the state, so it must be put back.
    """
    slot = _slot(code)
    return _exchange(slot, 0) if slot else 0


def put_back(code: CodeType, pointer: int, in_use: bool = False) -> None:
    """Free what torch has stored on a code object meanwhile, and put its earlier state back.

    What another thread may still use, because Dynamo was asked in it, is left in memory.
    """
    if not in_use:
        torch_private.reset_code(code)
    if slot := _slot(code):
        _exchange(slot, pointer)


def _exchange(address: int, value: int) -> int:
    place = ctypes.c_void_p.from_address(address)
    before, place.value = place.value or 0, value
    return before


def _slot(code: CodeType) -> int:
    """Return the address of the place for torch's pointer; 0 if CPython has not made it yet."""
    places = _places()
    extras = word(id(code) + places.extras)
    if not extras or places.number >= word(extras):  # ce_size comes first
        return 0
    return extras + WORD * (1 + places.number)


@functools.cache
def _places() -> Places | None:
    """Return where torch's pointer is, by what changes in a new code object; None if unclear."""
    code = compile("0", "<a trial>", "exec")
    before = _words(code)
    _decide(code, "SKIP", "DEFAULT")
    after = _words(code)
    changed = [at for at, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
    if len(changed) != 1 or before[changed[0]]:
        return None
    extras = after[changed[0]]
    if not 0 < word(extras) <= MOST_USERS:
        return None
    numbers = [n for n in range(word(extras)) if word(extras + WORD * (1 + n))]
    if len(numbers) != 1:
        return None
    state = word(extras + WORD * (1 + numbers[0]))
    offset = _find_strategy(code, state)
    if offset is None:
        return None
    return Places(HEADER + WORD * changed[0], numbers[0], offset)


def _words(code: CodeType) -> list[int]:
    """Return the words of a code object without its header, before its instructions."""
    return [word(id(code) + at) for at in range(HEADER, type(code).__basicsize__ - WORD + 1, WORD)]


def _find_strategy(code: CodeType, state: int) -> int | None:
    """Return where the state has what torch decided: the place that follows three decisions."""
    tried = ("SKIP", "DEFAULT"), ("RUN_ONLY", "SKIP"), ("DEFAULT", "DEFAULT")
    for offset in range(0, LONGEST_STATE, ctypes.sizeof(ctypes.c_int)):
        if all(_decide(code, *names) == _strategy(state, offset) for names in tried):
            return offset
    return None


def _decide(code: CodeType, *names: str) -> tuple[int, int]:
    """Tell torch what to do with this code, and with what it calls; return both as numbers."""
    actions = [getattr(torch_private.FrameAction, name) for name in names]
    torch_private.set_code_exec_strategy(code, torch_private.FrameExecStrategy(*actions))
    return tuple(map(int, actions))


def _numbered(name: str) -> int:
    return int(getattr(torch_private.FrameAction, name))


def _strategy(state: int, offset: int) -> tuple[int, ...]:
    return tuple((ctypes.c_int * 2).from_address(state + offset))
