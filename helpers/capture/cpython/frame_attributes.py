"""List all attributes of a frame object, with their values and meanings, as a table."""

from types import FrameType
from typing import NamedTuple

from ...model.code_records import build_columns
from ...model.tables import Listing
from ..text.value import format_text, short_repr
from .frame_rows import format_locals, is_module_frame

# Attribute of a frame -> what it is.
MEANINGS = {
    "f_back": "the frame that called this one, None if there is none",
    "f_code": "the code object that it runs, shared by all calls",
    "f_locals": "local names and values; in a function, a copy up to 3.12",
    "f_globals": "the dict where LOAD_GLOBAL looks first",
    "f_builtins": "where LOAD_GLOBAL looks next",
    "f_lasti": "offset of the instruction that runs, or ran last",
    "f_lineno": "its line, computed from f_lasti and co_linetable when you read it",
    "f_trace": "the tracer of this frame, if one is set",
    "f_trace_lines": "whether the tracer is called at each new line",
    "f_trace_opcodes": "whether it is called at each instruction",
    "clear": "method: empty the slots of a frame that is not running; close its generator",
    "f_generator": "the generator or coroutine that owns the frame, if one does",
}
# Attribute -> text that is shown in place of the value. The two dicts may have thousands of items.
_TEXTS_IN_PLACE_OF_VALUE = {"clear": "method", "f_globals": "a dict", "f_builtins": "a dict"}


class Attribute(NamedTuple):
    """One attribute of a frame."""

    name: str
    #: Its value as words.
    value: str
    #: What the attribute is.
    meaning: str


def list_frame_attributes(frame: FrameType) -> Listing:
    """Return a table with a row for each attribute that frames have on this version of Python."""
    if type(frame) is not FrameType:
        raise TypeError(
            f"show_frame needs a frame, such as sys._getframe(), not {short_repr(frame)}"
        )
    rows = []
    for name, meaning in MEANINGS.items():
        if hasattr(FrameType, name):  # `f_generator` is new in Python 3.14
            rows.append(Attribute(name, _format_attribute(frame, name), meaning))
    shown = build_columns("name value", name="attribute", value="value", meaning="what it is")
    return Listing(f"Frame of {format_text(frame.f_code.co_name)}", shown, tuple(rows))


def _format_attribute(frame: FrameType, name: str) -> str:
    """Return the value of a frame's attribute as short text."""
    if name in _TEXTS_IN_PLACE_OF_VALUE:  # a method, or a dict with too many items
        return _TEXTS_IN_PLACE_OF_VALUE[name]
    if name != "f_locals":
        return short_repr(getattr(frame, name))
    # `frame.f_locals` is not read here. Up to Python 3.12, reading it overwrites the dict that the
    # program may have got from it, too.
    if is_module_frame(frame):
        return "the dict of f_globals itself"
    return "{" + format_locals(frame, separator=": ") + "}"
