"""A running frame -> what its slots contain, read from the interpreter's memory."""

import ctypes
from collections.abc import Callable
from struct import unpack
from types import FrameType

from ...internals import interpreter_frame
from ..text.value import ValueWords, describe_value, short_repr

# Function that describes an object -> what it would return for a slot that contains no object.
_EMPTY_SLOTS = {describe_value: ValueWords("NULL", ""), short_repr: "NULL"}


def make_slot_reader(look: Callable) -> Callable:
    """Return `read_slots(frame, count)` for a recorder, which calls it before each instruction.

    Parameters
    ----------
    look : Callable
        `look(value)` returns what is recorded of an object: `describe_value`, `short_repr`, or
        another function. Only for these two it is known what to record of an empty slot.
    """
    offsets = interpreter_frame.read_layout()
    word_size = interpreter_frame.WORD
    slot_at = ctypes.py_object.from_address
    empty = _EMPTY_SLOTS.get(look)

    def read_slots(frame: FrameType, count: int) -> tuple[tuple, tuple] | None:
        """Return what `look` says of each of the first `count` slots, and the objects' addresses.

        The slots are those of the frame's variables and of its stack, bottom first. None is
        returned if the stack of the frame has another depth than `count` implies.
        """
        address = interpreter_frame.find_interpreter_frame(frame)
        saved_top = ctypes.c_int.from_address(address + offsets.stacktop).value
        # The real depth may differ from the derived one. A slot above the real top contains a
        # stale pointer, so it must not be read. A negative top is kept in a register.
        if saved_top >= 0 and saved_top != count:
            return None

        first = address + offsets.localsplus
        # All addresses are copied before the first `look`, which may run the garbage collector.
        addresses = unpack(f"{count}P", ctypes.string_at(first, word_size * count))
        slots = [
            look(slot_at(first + word_size * index).value) if pointer else empty
            for index, pointer in enumerate(addresses)
        ]
        return tuple(slots), addresses

    return read_slots
