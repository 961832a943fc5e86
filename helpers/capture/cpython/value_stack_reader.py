"""A frame under a tracer -> the words of its slots, read fast enough for every instruction."""

import ctypes
from collections.abc import Callable
from types import FrameType

from helpers.capture.text.value import Seen, brief, same_for_ever, says_only_its_type, seen
from helpers.internals import interpreter_frame
from helpers.safety.original_builtins import BUILTINS

__builtins__ = BUILTINS  # those of the interpreter may be patched when this runs

MOST_KEPT = 4096  # scalars whose words are remembered
_NOTHING = {brief: "NULL", seen: Seen("NULL", "")}


def reader(look: Callable, kept: dict, words: dict) -> Callable:
    """Return `open(frame) -> read(count)`; read tells the first slots: their words, and addresses.

    None where CPython's own stack pointer disagrees with the count: then nothing is read. `words`
    remembers by address what never changes (`kept` holds it, so that the address stays its own),
    and by type what is told by its type alone.
    """
    offsets, word = interpreter_frame.layout(), interpreter_frame.WORD
    pointer, number, whatever = ctypes.c_void_p, ctypes.c_int, ctypes.py_object
    known, ours = words.get, look in (brief, seen)

    def open_frame(frame: FrameType):
        where = pointer.from_address(id(frame) + offsets.frame)
        # Views of memory, made once: reading them again costs no look-up and no new object.
        address = where.value
        top = number.from_address(address + offsets.stacktop)
        code, first = id(frame.f_code), address + offsets.localsplus
        right = pointer.from_address(address + offsets.code).value == code
        rows = {}

        def read(count: int):
            saved = top.value
            # A frame can move (a generator that ends) or its depth be another than was worked out;
            # the slots above the real top hold what was left there, and must not be touched.
            if where.value != address or (saved >= 0 and saved != count) or not right:
                return None
            row = rows.get(count)
            if row is None:
                row = rows[count] = (pointer * count).from_address(first)
            # Addresses are copied out first: describing an object may run the collector.
            places = row[:]
            return tuple([known(p) or said(p, n) for n, p in enumerate(places)]), places

        def said(p, n):
            if p is None:
                return nothing
            thing = whatever.from_address(first + word * n).value
            if not ours:
                return look(thing)
            kind = type(thing)
            answer = known(kind) if type(kind) is type else None
            if answer is not None:
                return answer
            answer = look(thing)
            if same_for_ever(thing):
                # An address is good for words only while the object there is kept alive.
                if len(words) > MOST_KEPT:
                    words.clear(), kept.clear()
                words[p], kept[p] = answer, thing
            elif says_only_its_type(kind):
                words[kind] = answer
            return answer

        return read

    nothing = _NOTHING.get(look) or look(interpreter_frame.NULL)
    return open_frame
