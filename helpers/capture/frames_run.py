"""One call of a Python function -> its frames at every call, return, yield and exception."""

import dis
from functools import lru_cache
from types import CodeType, FrameType, FunctionType

from helpers.capture.brief import brief, plain
from helpers.capture.frames import MOST_FRAMES, FrameRow, locals_words
from helpers.capture.functions import function_of, refuse_async
from helpers.capture.pages import Pages
from helpers.capture.tracing import Printed, traced
from helpers.model.listing import Column, Listing
from helpers.model.timeline import Panel, Step, Timeline

MOST_STEPS = 400
YIELDS = ("YIELD_VALUE",)


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
        words = locals_words(frame)
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
        while above is not None and place < MOST_FRAMES and not _is_ours(above):
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
            locals_words(frame),
        )


def _is_ours(frame: FrameType) -> bool:
    """Return whether the frame belongs to the watching (a forgotten generator ends below it)."""
    return frame.f_globals.get("__package__") == __package__


def _suspends(frame: FrameType) -> bool:
    """Return whether a frame that sends 'return' is a generator's at a yield."""
    code = frame.f_code
    if not code.co_flags & 0x2A0:
        return False
    names = _names_at(code)
    # 3.13 has moved on to the instruction after the yield when it tells the tracer
    return names.get(frame.f_lasti) in YIELDS or names.get(frame.f_lasti - 2) in YIELDS


@lru_cache(maxsize=64)
def _names_at(code: CodeType) -> dict[int, str]:
    return {i.offset: i.opname for i in dis.get_instructions(code)}
