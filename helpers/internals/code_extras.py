"""The pointer that torch stores on a code object: read it, take it off for a while, restore it.

CPython lets other libraries store pointers on a code object, in the array `co_extra`
(Include/cpython/code.h). Torch stores a pointer to an ExtraState there
(torch/csrc/dynamo/extra_state.h). An ExtraState has Dynamo's cache entries for the code, and a
FrameExecStrategy: what torch does with frames of the code. No function of torch takes an ExtraState
off a code object and leaves it in memory. So this module overwrites the pointer itself. A trial
with a new code object shows at which offset the pointer is.
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
# The names of torch's FrameAction: DEFAULT compiles a frame, SKIP runs it as plain Python, and
# RUN_ONLY runs code that was compiled before but compiles nothing new.
ACTIONS = ("DEFAULT", "SKIP", "RUN_ONLY")
UNREADABLE = "what torch stores on a code object cannot be set aside on this Python and torch"


@dataclass(frozen=True)
class ExtraLayout:
    """Where torch's pointer is on a code object, and where its decision is in an ExtraState."""

    #: Offset in a code object, in bytes, of the pointer to the array `co_extra`.
    extras: int
    #: Index of torch's pointer in that array, from 0.
    number: int
    #: Offset in an ExtraState, in bytes, of torch's FrameExecStrategy.
    strategy: int


def require_readable() -> None:
    """Raise MissingPart where torch's pointer cannot be found on this Python and torch."""
    reason = find_unsupported()  # a sentence if this CPython's memory layout is unknown, else ""
    if not reason and not _find_layout():
        reason = UNREADABLE
    if reason:
        raise MissingPart(reason)


def read_action(state: int) -> str:
    """Return what torch does with frames of a code object: DEFAULT, SKIP or RUN_ONLY.

    `state` is the address of the code object's ExtraState, as `find_state` returns it. The address
    0 means that the code object has no ExtraState, and torch treats that as DEFAULT.
    """
    if not state:
        return "DEFAULT"
    # The second number is the action for the functions that the code calls.
    action, _ = _read_strategy(state, _find_layout().strategy)
    return next(name for name in ACTIONS if _number_action(name) == action)


def list_barred_codes(codes: Iterable[CodeType]) -> list[tuple[CodeType, str]]:
    """Return (code object, action) for those of `codes` that torch does not compile.

    The action is SKIP or RUN_ONLY. The list is empty where the ExtraState of a code object cannot
    be read on this Python and torch.
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
    """Return the address of the ExtraState that torch stored on a code object; 0 for none."""
    slot = _find_slot(code)
    return read_word(slot) if slot else 0


def take_off_state(code: CodeType) -> int:
    """Set torch's pointer on a code object to null, and return the pointer; 0 for none.

    Torch then treats the code object as one that it never met. The ExtraState stays in memory, and
    nothing else frees it, so a call of `restore_state` must follow.
    """
    slot = _find_slot(code)
    return _replace_word(slot, 0) if slot else 0


def restore_state(code: CodeType, state: int, is_in_use: bool) -> None:
    """Free the ExtraState that torch stored since `take_off_state`, and restore the earlier one.

    Parameters
    ----------
    code
        The code object.
    state
        The address that `take_off_state` returned.
    is_in_use
        Whether another thread may be running code that Dynamo compiled since. If so, the newer
        ExtraState is not freed but stays in memory.
    """
    if not is_in_use:
        torch_private.reset_code(code)
    slot = _find_slot(code)
    if slot:
        _replace_word(slot, state)


def _replace_word(address: int, new_pointer: int) -> int:
    """Write a pointer to an address, and return the pointer that was there."""
    memory = ctypes.c_void_p.from_address(address)
    earlier_pointer = memory.value or 0  # ctypes reads a null pointer as None
    memory.value = new_pointer
    return earlier_pointer


def _find_slot(code: CodeType) -> int:
    """Return the address at which torch's pointer for a code object is stored; 0 for none.

    CPython allocates the array `co_extra` of a code object when somebody first stores a pointer
    there. The array begins with its length, `ce_size`. Its pointers follow.
    """
    layout = _find_layout()
    array = read_word(id(code) + layout.extras)
    if not array:  # nobody has stored a pointer on this code object
        return 0
    length = read_word(array)
    if layout.number >= length:  # the array was allocated before torch asked for a place in it
        return 0
    return array + WORD * (1 + layout.number)


@functools.cache
def _find_layout() -> ExtraLayout | None:
    """Return where torch stores its pointer, found by a trial; None if the trial is unclear.

    The trial makes a code object and has torch store an action on it. CPython then allocates the
    array `co_extra`, so exactly one word of the code object changes: from null to the array.
    """
    code = compile("0", "<a trial>", "exec")
    words_before = _read_words(code)
    _store_actions(code, "SKIP", "DEFAULT")
    words_after = _read_words(code)

    changed_indexes = []
    for index, (before, after) in enumerate(zip(words_before, words_after, strict=True)):
        if before != after:
            changed_indexes.append(index)
    if len(changed_indexes) != 1:
        return None
    word_index = changed_indexes[0]
    if words_before[word_index]:  # not null before, so the word is no pointer to a new array
        return None

    array = words_after[word_index]
    number = _find_only_pointer(array)
    if number is None:
        return None
    state = read_word(array + WORD * (1 + number))
    strategy = _find_strategy(code, state)
    if strategy is None:
        return None
    return ExtraLayout(extras=HEADER + WORD * word_index, number=number, strategy=strategy)


def _find_only_pointer(array: int) -> int | None:
    """Return the index of the only pointer in the `co_extra` array at an address; None if unclear.

    Only torch has met the code object of the trial, so every other place in the array is null.
    """
    length = read_word(array)
    if not 0 < length <= MOST_USERS:  # then the address is not that of a `co_extra`
        return None
    numbers = [number for number in range(length) if read_word(array + WORD * (1 + number))]
    return numbers[0] if len(numbers) == 1 else None


def _read_words(code: CodeType) -> list[int]:
    """Return the words of a code object between its header and its instructions."""
    end = type(code).__basicsize__ - WORD
    return [read_word(id(code) + offset) for offset in range(HEADER, end + 1, WORD)]


def _find_strategy(code: CodeType, state: int) -> int | None:
    """Return the offset in an ExtraState of its FrameExecStrategy; None if it is not found.

    A FrameExecStrategy is two C ints: the action for frames of the code, and the action for the
    functions that the code calls. `state` is the address of the ExtraState of `code`. For each
    offset, torch stores three pairs of actions in turn. At the right offset, the two ints in memory
    are the same as the stored pair each time.
    """
    action_pairs = (("SKIP", "DEFAULT"), ("RUN_ONLY", "SKIP"), ("DEFAULT", "DEFAULT"))
    for offset in range(0, LONGEST_STATE, ctypes.sizeof(ctypes.c_int)):
        if all(
            _store_actions(code, *names) == _read_strategy(state, offset) for names in action_pairs
        ):
            return offset
    return None


def _store_actions(code: CodeType, action: str, action_of_callees: str) -> tuple[int, int]:
    """Have torch store two actions on a code object, and return them as numbers.

    `action` is for frames of the code itself, and `action_of_callees` for the functions that the
    code calls. Both are names of `ACTIONS`.
    """
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
    """Return the two C ints at an offset in an ExtraState: a FrameExecStrategy, as numbers.

    `state` is the address of the ExtraState.
    """
    current, recursive = (ctypes.c_int * 2).from_address(state + offset)
    return current, recursive
