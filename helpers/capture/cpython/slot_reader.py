"""Read the values in a running frame from the memory of the interpreter.
A frame has an array of *slots*. Each slot contains a pointer to an object: first one slot for each
variable, then one for each value on the stack.
"""

import ctypes
from collections.abc import Callable
from struct import unpack
from types import FrameType

from ...internals import interpreter_frame
from ..text.value import ValueWords, describe_value, short_repr

# Function that describes an object -> what is recorded for a slot that contains no object.
_EMPTY_SLOTS = {describe_value: ValueWords("NULL", ""), short_repr: "NULL"}


def make_slot_reader(look: Callable) -> Callable:
    """Return the function `read_slots(frame, count)`, which reads the slots of a frame.

    A recorder calls it before each instruction. So all that is the same for each call is looked up
    here, once.

    Parameters
    ----------
    look : Callable
        `look(value)` returns what is recorded of an object, such as `short_repr`. If it is neither
        `short_repr` nor `describe_value`, None is recorded of an empty slot.
    """
    offsets = interpreter_frame.read_layout()
    word_size = interpreter_frame.WORD
    read_pointer = ctypes.py_object.from_address  # its `.value` is the object that is pointed to
    empty = _EMPTY_SLOTS.get(look)  # what is recorded of an empty slot

    def read_slots(frame: FrameType, count: int) -> tuple[tuple, tuple] | None:
        """Return (what `look` returned for each slot, address of the object in each slot).

        The first `count` slots are read: those of the variables, then the stack, bottom first. None
        is returned if the frame has another number of slots in use.
        """
        address = interpreter_frame.find_interpreter_frame(frame)
        saved_top = ctypes.c_int.from_address(address + offsets.stacktop).value
        # `count` was derived from the bytecode, and CPython may know another number. A slot above
        # the top contains a pointer to an object that may be freed, so nothing is read then. While
        # the frame runs, CPython may have the number in a register only; `saved_top` is -1 then.
        if saved_top >= 0 and saved_top != count:
            return None

        first = address + offsets.localsplus  # of the first slot
        # All addresses are copied before the first call of `look`, which may run the garbage
        # collector.
        addresses = unpack(f"{count}P", ctypes.string_at(first, word_size * count))
        slots = []
        for index, object_address in enumerate(addresses):
            if object_address:
                slot_address = first + word_size * index
                slots.append(look(read_pointer(slot_address).value))
            else:
                slots.append(empty)
        return tuple(slots), addresses

    return read_slots
