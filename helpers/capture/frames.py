"""A frame, or one call of a function -> its frames: what each holds, and how they come and go."""

import ctypes
import sys
from dataclasses import dataclass
from types import CodeType, FrameType, FunctionType

from helpers.capture import slots
from helpers.capture.brief import brief, plain
from helpers.capture.functions import function_of, refuse_async
from helpers.capture.pages import Pages
from helpers.capture.tracing import Printed, traced
from helpers.model.listing import Column, Listing
from helpers.model.timeline import Panel, Step, Timeline

MOST_STEPS = 400
MOST_FRAMES = 12
MOST_LOCALS = 6
CSTACK = 3  # FRAME_OWNED_BY_CSTACK: an entry from C, without code of its own (3.12 and later)
YIELDS, RETURNS = ("YIELD_VALUE",), ("RETURN_VALUE", "RETURN_CONST")
MEANINGS = {
    "f_back": "the frame that called this one; None at the bottom",
    "f_code": "the code object that it runs: shared by all calls",
    "f_locals": "local names and values: a copy until 3.12, the frame's own slots since 3.13",
    "f_globals": "the module's dict, where LOAD_GLOBAL looks first",
    "f_builtins": "where LOAD_GLOBAL looks next",
    "f_lasti": "offset of the instruction that runs, or ran last",
    "f_lineno": "its line, worked out from f_lasti and co_linetable when asked",
    "f_trace": "the tracer of this frame, if one is set",
    "f_trace_lines": "whether the tracer is called at each new line",
    "f_trace_opcodes": "whether it is called at each instruction",
    "clear": "method: drop the locals of a frame that has ended",
    "f_generator": "the generator or coroutine that owns the frame, if one does",
}


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
    names = [n for n in dir(frame) if n.startswith("f_") or n == "clear"]
    order = list(MEANINGS)
    names.sort(key=lambda n: (order.index(n) if n in order else len(order), n))
    rows = tuple(Attribute(n, _value(frame, n), MEANINGS.get(n, "new here")) for n in names)
    columns = (
        Column("name", "attribute", True),
        Column("value", "value", True),
        Column("meaning", "what it is"),
    )
    return Listing(f"Frame of {plain(frame.f_code.co_name)}", columns, rows)


def traceback_listing(error: BaseException) -> Listing:
    """Return an exception's traceback as the chain of frames that it keeps alive.

    TypeError if it is no exception.
    """
    if not isinstance(error, BaseException):
        raise TypeError(f"show_traceback needs an exception, not {brief(error)}")
    rows, link = [], error.__traceback__
    while link is not None and len(rows) < MOST_STEPS:
        frame = link.tb_frame
        at = frame.f_code.co_firstlineno
        rows.append(
            FrameRow(
                str(len(rows) + 1),
                plain(frame.f_code.co_name),
                _relative(link.tb_lineno, at),
                str(link.tb_lasti),
                _relative(frame.f_lineno, at),
                _locals(frame),
            )
        )
        link = link.tb_next
    columns = (
        Column("place", "tb_next"),
        Column("function", "function", True),
        Column("line", "tb_lineno"),
        Column("lasti", "tb_lasti"),
        Column("state", "frame.f_lineno"),
        Column("locals", "locals kept alive", True),
    )
    note = "Lines are counted from the def of each function, which is line 1."
    return Listing(f"Traceback of {brief(error)}", columns, tuple(rows), note)


def frame_objects(frame: FrameType, most: int = MOST_FRAMES) -> Listing:
    """Return the frames from `frame` down to its callers, and which have a frame object.

    The chain is read from the interpreter's own records (`previous` in _PyInterpreterFrame), so
    that looking makes no frame object. RuntimeError where those records are not known.
    """
    if slots.doubt():
        raise RuntimeError(slots.doubt())
    offsets, address, rows = slots.layout(), slots.base(frame), []
    while address and len(rows) < most:
        if not _is_shim(address):
            rows.append(_record(address, len(rows) + 1))
        address = _word(address + offsets.previous)
    columns = (
        Column("place", "place"),
        Column("function", "function", True),
        Column("made", "frame object made"),
    )
    return Listing("The stack of frames, from the one that runs", columns, tuple(rows))


def frames_timeline(fn, *args, **kwargs) -> Timeline:
    """Return a step per call, return, yield and exception of `fn(*args, **kwargs)`: all frames.

    Followed are the functions of the same module. A generator function is run to its end. TypeError
    for what has no frame to watch; the record stops after `MOST_STEPS`, and says so.
    """
    function, own = function_of(fn, "watch_frames")
    refuse_async(function, "watch_frames")
    run = _Run(function)
    result = traced(run.enter, run.printed, function, (*own, *args), kwargs, lambda: run.full)
    stopped = f" Only the first {MOST_STEPS} events are shown." if run.full else ""
    changed = (
        " It changed the tracer itself (sys.settrace)."
        if (result.tracer_changed and not run.full)
        else ""
    )
    return Timeline(
        f"Frames of {function.__name__}",
        run.pages.text,
        tuple(run.steps),
        f"{result.sentence}{stopped}{changed}",
    )


class _Run:
    """One traced run; `steps` fills up at its calls and returns."""

    def __init__(self, fn: FunctionType):
        self.globals, self.steps, self.full = fn.__globals__, [], False
        self.pages, self.printed = Pages(), Printed()
        self.pages.place(fn.__code__)
        self.enter = self._enter
        self._first, self._last, self._off, self._names = None, {}, {}, {}

    def _enter(self, frame, event, argument):
        if frame.f_globals is not self.globals or self.full:
            return None
        self._first = self._first or frame.f_code
        key = (id(frame), frame.f_code)
        resumed = self._off.pop(key, None)
        self._raising = False
        verb = "resume" if resumed else "call"
        words = _locals(frame, "")
        self._step(frame, f"{verb} {frame.f_code.co_name}({words if not resumed else ''})")
        return self._on_event

    def _on_event(self, frame, event, argument):
        if self.full:
            return None
        if event == "exception":
            self._raising = True
            self._step(frame, f"{brief(argument[1])} passes through {frame.f_code.co_name}")
        elif event == "line":
            self._raising = False
        elif event == "return":
            self._left(frame, argument)
        return self._on_event

    def _left(self, frame, value):
        name = frame.f_code.co_name
        if self._raising and value is None:
            self._step(frame, f"leave {name} with the exception", "leaving")
        elif _suspends(frame):
            self._off[id(frame), frame.f_code] = self._row(frame, "", "suspended")
            self._step(frame, f"yield {brief(value)} from {name}", "leaving, keeps its frame")
        else:
            self._step(frame, f"return {brief(value)} from {name}", "leaving")

    def _step(self, frame, label, state="running"):
        if len(self.steps) >= MOST_STEPS:
            self.full = True
            return
        rows, above, place = [], frame, 0
        while above is not None and place < MOST_FRAMES:
            place += 1
            rows.append(self._row(above, str(place), state if place == 1 else "waits for a call"))
            if above.f_code is self._first and not self._recurses(above):
                break
            above = above.f_back
        line = self.pages.line(frame.f_code, frame.f_lineno)
        self.steps.append(Step(label, line, tuple(self._panels(rows))))

    def _recurses(self, frame) -> bool:
        below = frame.f_back
        while below is not None:
            if below.f_code is self._first:
                return True
            below = below.f_back
        return False

    def _panels(self, rows):
        columns = (
            Column("place", "place"),
            Column("function", "function", True),
            Column("line", "line"),
            Column("lasti", "f_lasti"),
            Column("state", "state"),
            Column("locals", "f_locals", True),
        )
        yield Panel("frames on the stack", Listing("frames on the stack", columns, tuple(rows)))
        if self._off:
            rest = Listing(
                "frames off the stack, kept by generators", columns[1:], tuple(self._off.values())
            )
            yield Panel(rest.title, rest)
        if self.printed.size:
            yield Panel("printed so far", self.printed.text())

    def _row(self, frame, place, state):
        line = self.pages.line(frame.f_code, frame.f_lineno)
        inside = frame.f_globals is self.globals
        return FrameRow(
            place,
            plain(frame.f_code.co_name),
            str(line or ""),
            str(frame.f_lasti) if inside else "",
            state,
            _locals(frame),
        )


def _suspends(frame: FrameType) -> bool:
    """Return whether a frame that sends 'return' is a generator's at a yield."""
    code = frame.f_code
    if not code.co_flags & 0x2A0:
        return False
    names = _names_at(code)
    # 3.13 has moved on to the instruction after the yield when it tells the tracer
    return names.get(frame.f_lasti) in YIELDS or names.get(frame.f_lasti - 2) in YIELDS


def _names_at(code: CodeType) -> dict[int, str]:
    import dis

    return {i.offset: i.opname for i in dis.get_instructions(code)}


def _value(frame: FrameType, name: str) -> str:
    if name == "clear":
        return "method"
    value = getattr(frame, name)
    if name in ("f_globals", "f_builtins"):
        return "a dict" if type(value) is dict else brief(value)
    if name == "f_locals" and frame.f_locals is not frame.f_globals:
        return "{" + _locals(frame, separator=": ") + "}"
    return brief(value) if name != "f_locals" else "the dict of f_globals itself"


def _locals(frame: FrameType, nothing: str = "", separator: str = " = ") -> str:
    values = frame.f_locals
    if values is frame.f_globals:
        return "(the module's dict)"
    names = [name for name in values if type(name) is str]
    parts = [f"{plain(n)}{separator}{brief(values[n])}" for n in names[:MOST_LOCALS]]
    more = [f"… {len(names) - MOST_LOCALS} more"] if len(names) > MOST_LOCALS else []
    return ", ".join(parts + more) or nothing


def _relative(lineno: int | None, first: int) -> str:
    return str(lineno - first + 1) if lineno else ""


def _word(address: int) -> int:
    return ctypes.c_void_p.from_address(address).value or 0


def _is_shim(address: int) -> bool:
    owner = ctypes.c_ubyte.from_address(address + slots.layout().owner).value
    return sys.version_info >= (3, 12) and owner == CSTACK


def _record(address: int, place: int) -> FrameRow:
    offsets = slots.layout()
    code = slots.thing(_word(address + offsets.code))
    made = bool(_word(address + offsets.frame_object))
    name = plain(code.co_name) if type(code) is CodeType else "?"
    return FrameRow(str(place), name, "", "", "", made=made)
