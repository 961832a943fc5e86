"""List the frames of the stack, read from the interpreter's own records in memory.
CPython keeps a `_PyInterpreterFrame` record for each call that runs. It makes a frame object, which
Python code can use, only when something asks for one. The list shows which calls have one.
"""

import ctypes
import sys
from types import CodeType, FrameType

from ...internals import interpreter_frame
from ...model.code_records import build_columns
from ...model.tables import Listing
from ...safety.arguments import require_int
from ..text.value import format_text
from .frame_rows import FrameRow

MOST_FRAMES, MOST_ASKED = 12, 100_000
# FRAME_OWNED_BY_CSTACK: the record marks where C code called the interpreter (3.12 and later).
OWNED_BY_C_STACK = 3


def list_frames(frame: FrameType, most: int = MOST_FRAMES) -> Listing:
    """Return a table of `frame`, its caller, the caller's caller, and so on, `most` rows at most.

    The table says which of these calls have a frame object.
    """
    require_int(most, "most", MOST_ASKED)
    if interpreter_frame.find_unsupported():
        raise RuntimeError(interpreter_frame.find_unsupported())
    offsets = interpreter_frame.read_layout()
    address = interpreter_frame.find_interpreter_frame(frame)
    rows = []
    # The records are followed by address, because `frame.f_back` would make a frame object.
    while address and len(rows) < most:
        if not _is_entry_from_c(address, offsets):
            rows.append(_read_row(address, offsets, place=len(rows) + 1))
        address = interpreter_frame.read_word(address + offsets.previous)

    shown = build_columns("function", place="place", function="function", made="frame object made")
    note = ""
    if address:  # the loop ended because the table is full
        note = "Frames further down are left out; `show_frames(most=…)` lists more."
    return Listing("The stack of frames, starting with the running one", shown, tuple(rows), note)


def _is_entry_from_c(address: int, offsets: interpreter_frame.Layout) -> bool:
    """Return whether the record at an address runs no code: it marks a call from C to Python."""
    owner = ctypes.c_ubyte.from_address(address + offsets.owner).value
    return sys.version_info >= (3, 12) and owner == OWNED_BY_C_STACK


def _read_row(address: int, offsets: interpreter_frame.Layout, place: int) -> FrameRow:
    """Return the table row of the call whose record begins at this address.

    `offsets` says where in a record each field is. `place` is the position of the call in the
    stack, 1 for the innermost.
    """
    code = interpreter_frame.read_object(interpreter_frame.read_word(address + offsets.code))
    name = format_text(code.co_name) if type(code) is CodeType else "?"
    has_frame_object = bool(interpreter_frame.read_word(address + offsets.frame_object))
    return FrameRow(str(place), name, made=has_frame_object)
