"""A frame or a traceback -> what it holds: attributes, callers, the locals that it keeps alive."""

import ctypes
import sys
from dataclasses import dataclass
from types import CodeType, FrameType, TracebackType

from helpers.capture.text.value import brief, plain
from helpers.internals import interpreter_frame
from helpers.model.listing import Column, Listing
from helpers.safety.arguments import is_a

MOST_LINKS, MOST_FRAMES, MOST_ASKED, MOST_LOCALS = 5_000, 12, 100_000, 6
CSTACK = 3  # FRAME_OWNED_BY_CSTACK: an entry from C, without code of its own (3.12 and later)
MEANINGS = {
    "f_back": "the frame that called this one, None if there is none",
    "f_code": "the code object that it runs: shared by all calls",
    "f_locals": "local names and values: of a function a copy up to 3.12, since 3.13 its own slots",
    "f_globals": "the dict where LOAD_GLOBAL looks first",
    "f_builtins": "where LOAD_GLOBAL looks next",
    "f_lasti": "offset of the instruction that runs, or ran last",
    "f_lineno": "its line, worked out from f_lasti and co_linetable when asked",
    "f_trace": "the tracer of this frame, if one is set",
    "f_trace_lines": "whether the tracer is called at each new line",
    "f_trace_opcodes": "whether it is called at each instruction",
    "clear": "method: empty the slots of a frame that does not run; close its generator",
    "f_generator": "the generator or coroutine that owns the frame, if one does",
}
_NAMESPACES = (dict, type((lambda: sys._getframe().f_locals)()))  # since 3.13 a function's: a proxy
_TRACEBACK = BaseException.__dict__["__traceback__"].__get__


@dataclass(frozen=True)
class Attribute:
    """One attribute of a frame: its value in words, and what it is."""

    name: str
    value: str
    meaning: str


@dataclass(frozen=True)
class FrameRow:
    """One frame. `made` says whether Python has made a frame object for it."""

    place: str
    function: str
    line: str
    lasti: str
    state: str
    locals: str = ""
    made: bool = True


def frame_listing(frame: FrameType) -> Listing:
    """Return every attribute of a frame (Objects/frameobject.c) with its value in words.

    TypeError if it is no frame.
    """
    if type(frame) is not FrameType:
        raise TypeError(f"show_frame needs a frame, such as sys._getframe(), not {brief(frame)}")
    names, order = [n for n in dir(frame) if n.startswith("f_") or n == "clear"], list(MEANINGS)
    names.sort(key=lambda n: (order.index(n) if n in order else len(order), n))
    rows = tuple(Attribute(n, _value(frame, n), MEANINGS.get(n, "new here")) for n in names)
    columns = (
        Column("name", "attribute", True),
        Column("value", "value", True),
        Column("meaning", "what it is"),
    )
    return Listing(f"Frame of {plain(frame.f_code.co_name)}", columns, rows)


def _value(frame: FrameType, name: str) -> str:
    value = getattr(frame, name)
    if name == "clear":
        return "method"
    if name in ("f_globals", "f_builtins"):
        return "a dict" if type(value) is dict else brief(value)
    if name != "f_locals":
        return brief(value)
    if value is frame.f_globals:
        return "the dict of f_globals itself"
    return "{" + locals_words(frame, separator=": ") + "}"


def traceback_listing(error: BaseException) -> Listing:
    """Return an exception's traceback as the chain of frames that it keeps alive.

    The first `MOST_LINKS` are listed. TypeError if it is no exception.
    """
    if not is_a(error, BaseException):
        raise TypeError(f"show_traceback needs an exception, not {brief(error)}")
    rows, link, place = [], _TRACEBACK(error), 0
    while link is not None:
        place += 1
        if place <= MOST_LINKS:
            rows.append(_link(link, place))
        link = link.tb_next
    columns = (
        Column("place", "link"),
        Column("function", "function", True),
        Column("line", "tb_lineno"),
        Column("lasti", "tb_lasti"),
        Column("state", "frame.f_lineno"),
        Column("locals", "locals kept alive", True),
    )
    note = "Line 1 is the first line of each frame's code, decorators included."
    if place > MOST_LINKS:
        note = f"Frames {MOST_LINKS + 1:,} to {place:,} are left out. {note}"
    return Listing(f"Traceback of {brief(error)}", columns, tuple(rows), note)


def _link(link: TracebackType, place: int) -> FrameRow:
    frame, first = link.tb_frame, link.tb_frame.f_code.co_firstlineno - 1
    lines = (str(at - first) if at else "" for at in (link.tb_lineno, frame.f_lineno))
    name, last = plain(frame.f_code.co_name), str(link.tb_lasti)
    return FrameRow(str(place), name, next(lines), last, next(lines), locals_words(frame))


def frame_objects(frame: FrameType, most: int = MOST_FRAMES) -> Listing:
    """Return the frames from `frame` down to its callers, and which have a frame object.

    The chain is read from the interpreter's own records (`previous` in _PyInterpreterFrame), so
    that looking makes no frame object. RuntimeError where those records are not known, ValueError
    where `most` is no number of frames.
    """
    if type(most) is not int or not 1 <= most <= MOST_ASKED:
        raise ValueError(f"most must be a number from 1 to {MOST_ASKED:,}, not {brief(most)}")
    if interpreter_frame.doubt():
        raise RuntimeError(interpreter_frame.doubt())
    offsets, address, rows = interpreter_frame.layout(), interpreter_frame.base(frame), []
    while address and len(rows) < most:
        owner = ctypes.c_ubyte.from_address(address + offsets.owner).value
        if sys.version_info < (3, 12) or owner != CSTACK:
            code = interpreter_frame.thing(_word(address + offsets.code))
            name = plain(code.co_name) if type(code) is CodeType else "?"
            made = bool(_word(address + offsets.frame_object))
            rows.append(FrameRow(str(len(rows) + 1), name, "", "", "", made=made))
        address = _word(address + offsets.previous)
    columns = (
        Column("place", "place"),
        Column("function", "function", True),
        Column("made", "frame object made"),
    )
    note = "Frames further down are left out; `show_frames(most)` lists more." if address else ""
    return Listing("The stack of frames, from the one that runs", columns, tuple(rows), note)


def _word(address: int) -> int:
    return ctypes.c_void_p.from_address(address).value or 0


def locals_words(frame: FrameType, separator: str = " = ") -> str:
    """Return a frame's first few locals as words; no code of the objects' own is run."""
    values = frame.f_locals
    if values is frame.f_globals:
        return "(the module's dict)"
    if type(values) not in _NAMESPACES:  # exec takes any mapping, and its code must not run here
        return brief(values)
    parts = [f"{name}{separator}{words}" for name, words in locals_pairs(frame)]
    rest = sum(type(name) is str for name in values) - len(parts)
    return ", ".join(parts + ([f"… {rest} more"] if rest else []))


def locals_pairs(frame: FrameType) -> tuple[tuple[str, str], ...]:
    """Return (name, words) of a frame's first few locals; none where they are no function's own."""
    values = frame.f_locals
    if values is frame.f_globals or type(values) not in _NAMESPACES:
        return ()
    names = [name for name in values if type(name) is str][:MOST_LOCALS]
    return tuple((plain(name), brief(values[name])) for name in names)
