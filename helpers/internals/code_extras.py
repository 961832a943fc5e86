"""What torch has stored on a code object: read, taken off for a block, and restored.

CPython gives a code object room for the pointers of others, `co_extra` (Include/cpython/code.h).
Torch stores one there, to an ExtraState: its cache entries, and what it does with frames of this
code (torch/csrc/dynamo/extra_state.h). Torch has functions that add to an ExtraState and one that
frees it, but none that takes it off, so the pointer is moved here. A trial with a new code object
shows where the pointer is.
"""

import ctypes
import functools
from collections.abc import Iterable
from dataclasses import dataclass
from types import CodeType

from ..safety.missing_parts import MissingPart
from . import torch_private
from .interpreter_frame import WORD, find_unsupported, read_word

HEADER = 2 * WORD  # the reference count and the type
MOST_USERS = 255  # MAX_CO_EXTRA_USERS, Include/internal/pycore_interp.h
LONGEST_STATE = 512  # bytes of an ExtraState that are searched
ACTIONS = ("DEFAULT", "SKIP", "RUN_ONLY")
UNREADABLE = "what torch stores on a code object cannot be set aside on this Python and torch"


@dataclass(frozen=True)
class ExtraLayout:
    """Where torch's pointer is on a code object, and where its decision is in an ExtraState."""

    #: Offset in a code object, in bytes, of the pointer to the array `co_extra`.
    extras: int
    #: Number of torch's pointer in that array.
    number: int
    #: Offset in an ExtraState, in bytes, of torch's FrameExecStrategy.
    strategy: int


def require_readable() -> None:
    """Raise MissingPart where torch's pointer cannot be found on this Python and torch."""
    reason = find_unsupported()
    if not reason and not _find_layout():
        reason = UNREADABLE
    if reason:
        raise MissingPart(reason)


def read_action(state: int) -> str:
    """Return the name of what torch does with frames of a code with this state, an address.

    DEFAULT compiles them, RUN_ONLY only runs what is compiled, SKIP runs them as they are. The
    address 0, for no state, is DEFAULT.
    """
    if not state:
        return "DEFAULT"
    # The second action is what torch does with the functions that this code calls.
    action, _ = _read_strategy(state, _find_layout().strategy)
    return next(name for name in ACTIONS if _number_action(name) == action)


def list_barred_codes(codes: Iterable[CodeType]) -> list[tuple[CodeType, str]]:
    """Return those of `codes` that torch does not compile, each with the name of torch's action.

    The list is empty where torch's state cannot be read.
    """
    if find_unsupported() or not _find_layout():
        return []

    barred = []
    for code in codes:
        action = read_action(find_state(code))
        if action != "DEFAULT":
            barred.append((code, action))
    return barred


def find_state(code: CodeType) -> int:
    """Return the address of what torch has stored on a code object; 0 for nothing."""
    slot = _find_slot(code)
    return read_word(slot) if slot else 0


def take_off_state(code: CodeType) -> int:
    """Take torch's state off a code object, and return its address; 0 for nothing.

    The code object is as new then. Nothing frees the state, so `restore_state` must follow.
    """
    slot = _find_slot(code)
    return _replace_word(slot, 0) if slot else 0


def restore_state(code: CodeType, state: int, is_in_use: bool) -> None:
    """Free what torch has stored on a code object meanwhile, and restore its earlier state.

    `state` is the address that `take_off_state` returned. If the new state `is_in_use`, because
    Dynamo was asked in another thread, it is left in memory.
    """
    if not is_in_use:
        torch_private.reset_code(code)
    slot = _find_slot(code)
    if slot:
        _replace_word(slot, state)


def _replace_word(address: int, value: int) -> int:
    """Write a pointer to an address, and return the pointer that was there."""
    place = ctypes.c_void_p.from_address(address)
    earlier_value = place.value or 0  # ctypes reads a null pointer as None
    place.value = value
    return earlier_value


def _find_slot(code: CodeType) -> int:
    """Return the address of torch's pointer on a code object; 0 if CPython has no room there yet.

    The array `co_extra` begins with its length, `ce_size`. Its pointers follow.
    """
    layout = _find_layout()
    extras = read_word(id(code) + layout.extras)
    if not extras or layout.number >= read_word(extras):
        return 0
    return extras + WORD * (1 + layout.number)


@functools.cache
def _find_layout() -> ExtraLayout | None:
    """Return where torch's pointer is, by what changes in a new code object; None if unclear.

    The code object of the trial gets its `co_extra` when torch stores its first decision on it.
    """
    code = compile("0", "<a trial>", "exec")
    words_before = _read_words(code)
    _decide(code, "SKIP", "DEFAULT")
    words_after = _read_words(code)

    changed = []
    for index, (before, after) in enumerate(zip(words_before, words_after, strict=True)):
        if before != after:
            changed.append(index)
    if len(changed) != 1 or words_before[changed[0]]:  # the pointer was null before
        return None

    extras = words_after[changed[0]]
    length = read_word(extras)
    if not 0 < length <= MOST_USERS:
        return None
    # Of all places in the array, only torch's has a pointer: nobody else has met this code.
    numbers = [number for number in range(length) if read_word(extras + WORD * (1 + number))]
    if len(numbers) != 1:
        return None

    state = read_word(extras + WORD * (1 + numbers[0]))
    strategy = _find_strategy(code, state)
    if strategy is None:
        return None
    return ExtraLayout(
        extras=HEADER + WORD * changed[0],
        number=numbers[0],
        strategy=strategy,
    )


def _read_words(code: CodeType) -> list[int]:
    """Return the words of a code object between its header and its instructions."""
    end = type(code).__basicsize__ - WORD
    return [read_word(id(code) + offset) for offset in range(HEADER, end + 1, WORD)]


def _find_strategy(code: CodeType, state: int) -> int | None:
    """Return the offset in the state at which torch stores its decision; None if there is none.

    It is the first offset whose two numbers follow three decisions in turn.
    """
    decisions = (("SKIP", "DEFAULT"), ("RUN_ONLY", "SKIP"), ("DEFAULT", "DEFAULT"))
    for offset in range(0, LONGEST_STATE, ctypes.sizeof(ctypes.c_int)):
        if all(_decide(code, *names) == _read_strategy(state, offset) for names in decisions):
            return offset
    return None


def _decide(code: CodeType, action: str, action_of_callees: str) -> tuple[int, int]:
    """Tell torch what to do with this code and with what it calls; return both as numbers."""
    frame_action = torch_private.FrameAction
    current = getattr(frame_action, action)
    recursive = getattr(frame_action, action_of_callees)
    strategy = torch_private.FrameExecStrategy(current, recursive)
    torch_private.set_code_exec_strategy(code, strategy)
    return int(current), int(recursive)


def _number_action(name: str) -> int:
    """Return the number of one of torch's frame actions, as an ExtraState has it."""
    return int(getattr(torch_private.FrameAction, name))


def _read_strategy(state: int, offset: int) -> tuple[int, int]:
    """Return the numbers of two frame actions at an offset in a state, which is an address."""
    current, recursive = (ctypes.c_int * 2).from_address(state + offset)
    return current, recursive
