"""One call of a function -> a step for each call, return, yield and exception, with its frames."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from types import FrameType, FunctionType
from typing import NamedTuple

from ...internals.frame_tracer import ask_for_opcodes, forget_tracer
from ...model.code_records import build_columns
from ...model.stage_records import Card, FrameStep, Panel, Timeline
from ...model.tables import Listing
from ..text.source_pages import SourcePages
from ..text.value import format_text, short_repr
from .following import RecordingLimits
from .frame_exits import is_at_yield, is_generator_frame, is_left_by_exception
from .frame_rows import FrameRow, format_locals, format_new_call, list_locals
from .frame_stack import MOST_FRAMES
from .objects import read_function_name
from .settrace import Printed, Result, call_traced
from .unwrapping import Unwrapped, find_watched_function

MOST_STEPS = 400
_HEADINGS = {
    "place": "place",
    "function": "function",
    "line": "line",
    "lasti": "f_lasti",
    "state": "state",
    "locals": "f_locals",
}


@dataclass(frozen=True)
class FrameEvent:
    """What happens to a frame at one step, in words."""

    label: str
    #: What happens, as a sentence.
    says: str
    #: The kind of the step: call, resume, exception, yield or return.
    lane: str
    #: What the frame does meanwhile.
    state: str = "running"
    #: The value that the caller gets, "" for none.
    handed: str = ""
    #: How the line ended that ran last, "" where it is about to run.
    deed: str = ""


class FrameLook(NamedTuple):
    """How a frame looks at one step."""

    #: Its row in the tables.
    row: FrameRow
    #: Its card in the drawing.
    card: Card


def record_frames(fn, /, *args, depth=None, only=None, most=MOST_STEPS, **kwargs) -> Timeline:
    """Run `fn(*args, **kwargs)` and step through its calls and returns, with its frames at each.

    For `depth`, `only` and `most` see `following`.
    """
    watched = find_watched_function(fn, "watch_frames", args)
    limits = RecordingLimits("watch_frames", depth, only, most)
    recorder = FrameRecorder(watched.function, limits)
    try:
        result = call_traced(
            recorder.enter, recorder.printed, watched, args, kwargs, lambda: recorder.is_full
        )
    finally:
        recorder.release_frames()
    result.require_record(len(recorder.steps))

    source, _ = recorder.pages.place(watched.function.__code__)
    return Timeline(
        title=f"Frames of {read_function_name(watched.function)}{source.where}",
        source=recorder.pages.text,
        steps=tuple(recorder.steps),
        note=_describe_record(recorder, watched, result),
        places=tuple(recorder.pages.places),
    )


def _describe_record(recorder: "FrameRecorder", watched: Unwrapped, result: Result) -> str:
    """Return the sentences on how the run ended, and what the record does not show."""
    stop = ""
    if recorder.is_full:
        most = recorder.limits.most
        stop = f"Only the first {most:,} steps are recorded (most={2 * most} records more)."
    elif result.lost:
        stop = f"{result.lost}."
    sentences = [
        *watched.sentences,
        result.sentence(len(recorder.steps), "step"),
        stop,
        recorder.printed.note,
        recorder.limits.note(),
        watched.unreached(bool(recorder.steps)),
        result.aside,
    ]
    return " ".join(filter(None, sentences))


class FrameRecorder:
    """Records the steps of one run.

    Parameters
    ----------
    fn : FunctionType
        The function that is watched. The record begins with its first frame.
    limits : RecordingLimits
        Which other calls are recorded, and how many steps.
    """

    def __init__(self, fn: FunctionType, limits: RecordingLimits):
        """Start without steps; `enter` is the tracer of the run."""
        self.limits = limits
        self.steps: list[FrameStep] = []
        self.is_full = False
        self.pages = SourcePages()
        self.pages.place(fn.__code__)  # so that its source is the first
        self.printed = Printed()
        self._globals = fn.__globals__
        self._first_code = fn.__code__
        # The frames that run, by id. They are kept alive, so that no other gets their id.
        self._running: dict[int, FrameType] = {}
        # In the next two the key is that of `_find_key`.
        #: How each suspended generator's frame looked when it was left.
        self._suspended: dict[tuple[int, int], FrameLook] = {}
        #: The number on the card of each frame; a frame that has none yet gets the next one.
        self._numbers: dict[tuple[int, int], int] = defaultdict(count().__next__)
        # Id of a frame in which an exception was raised -> offset of what ran last in it.
        self._last_offsets: dict[int, int] = {}

    def enter(self, frame: FrameType, event: str, argument) -> Callable | None:
        """Return the tracer of a frame that is to be recorded; None for any other.

        `FrameTracer` calls this when a frame begins or is resumed.
        """
        if not self._is_recorded(frame):
            return None
        self._running[id(frame)] = frame
        key = _find_key(frame)
        if self._suspended.pop(key, None) is not None:
            name = format_text(frame.f_code.co_name)
            event_words = FrameEvent(
                label=f"resume {name}()",
                says="The frame comes back from the shelf with all its values and continues.",
                lane="resume",
            )
        else:
            self._numbers.pop(key, None)  # a frame that has ended may have left its address
            event_words = FrameEvent(
                label=f"call {format_new_call(frame)}",
                says="A new frame goes on top. Its caller waits below.",
                lane="call",
            )
        self._add_step(frame, event_words)
        return self._receive

    def _is_recorded(self, frame: FrameType) -> bool:
        """Return whether a frame that begins is recorded; the first is the watched function's."""
        if self.is_full:
            return False
        if not self.steps and frame.f_code is not self._first_code:
            return False
        if self.steps and not self.limits.follows(frame, self._globals):
            return False
        # How deep the call is: recorded frames below it, and itself.
        level = 1
        caller = frame.f_back
        while caller is not None:
            if id(caller) in self._running:
                level += 1
            caller = caller.f_back
        return self.limits.reaches(level)

    def release_frames(self) -> None:
        """Take the tracer off the frames that are still on their way, and forget them."""
        for frame in self._running.values():
            forget_tracer(frame)
        self._running.clear()

    def _receive(self, frame: FrameType, event: str, argument) -> Callable | None:
        """Record an event of a frame that `enter` has accepted; `FrameTracer` calls this."""
        if self.is_full:
            frame.f_trace_opcodes = False
            return None
        if event == "exception":
            # A handler may raise the exception again. No event reports that. So from here on the
            # offset of each instruction is noted, from which `_leave` sees how the frame was left.
            self._last_offsets[id(frame)] = frame.f_lasti
            ask_for_opcodes(frame)
            _, error, link = argument
            verb = "is raised in" if _is_raised_in(frame, link) else "reaches"
            raised = FrameEvent(
                label=f"{short_repr(error)} {verb} {format_text(frame.f_code.co_name)}",
                says="It looks for a handler in this frame first.",
                lane="exception",
                deed="just raised",
            )
            self._add_step(frame, raised)
        elif event == "opcode":
            self._last_offsets[id(frame)] = frame.f_lasti
        elif event == "return":
            self._leave(frame, argument)
            self._running.pop(id(frame), None)
            self._last_offsets.pop(id(frame), None)
            forget_tracer(frame)
            return None  # what is returned here would become the frame's tracer again
        return self._receive

    def _leave(self, frame: FrameType, value: object) -> None:
        """Add the step of a frame that returns, yields, or is left by an exception.

        `value` is what the caller gets; it is None for an exception too.
        """
        name = format_text(frame.f_code.co_name)
        words = short_repr(value)
        last_offset = self._last_offsets.get(id(frame))
        # CPython reports an exception as a return of None: the instruction tells which it is.
        if value is None and is_left_by_exception(frame, last_offset):
            event = FrameEvent(
                label=f"leave {name} with the exception",
                says="There is no handler here. The frame ends, and the exception goes to its "
                "caller.",
                lane="exception",
                state="leaving",
                deed="just raised",
            )
        elif is_at_yield(frame):
            self._suspended[_find_key(frame)] = self._look_at(frame, "", "suspended")
            event = FrameEvent(
                label=f"yield {words} from {name}",
                says=f"The caller gets {words}. The frame moves to the shelf unchanged.",
                lane="yield",
                state="on top again",
                handed=words,
                deed="just yielded",
            )
        else:
            is_generator = is_generator_frame(frame)
            effect = f"The caller gets {words}"
            if is_generator:
                effect = "The generator is finished and signals this to its caller"
            event = FrameEvent(
                label=f"return {words} from {name}",
                says=f"{effect}. The frame is gone for good.",
                lane="return",
                state="leaving",
                handed="" if is_generator else words,
                deed="just returned",
            )
        self._add_step(frame, event)

    def _add_step(self, frame: FrameType, event: FrameEvent) -> None:
        """Add the step of an event of a frame, unless the record is full.

        The line of a step is the one that runs next. An event with a `deed` ends the frame's own
        line. After it the caller's line is next, or 0 after an exception: nobody knows yet where it
        is caught.
        """
        if len(self.steps) >= self.limits.most:
            self.is_full = True
            return
        stack = self._find_stack(frame)
        looks = []
        for place, shown_frame in enumerate(stack[:MOST_FRAMES], 1):
            state = event.state if place == 1 else "waits for a call"
            looks.append(self._look_at(shown_frame, str(place), state))

        own_line = self._find_line(frame)
        next_line = own_line
        left_line = 0
        if event.deed:
            left_line = own_line
            # The stack begins with the caller if the frame has just been suspended.
            callers = [candidate for candidate in stack[:2] if candidate is not frame]
            is_known = callers and event.lane != "exception"
            next_line = self._find_line(callers[0]) if is_known else 0
        self.steps.append(
            FrameStep(
                label=event.label,
                line=next_line,
                panels=tuple(self._build_panels([look.row for look in looks], len(stack))),
                handed=event.handed,
                left=left_line,
                deed=event.deed,
                says=event.says,
                lane=event.lane,
                cards=tuple(look.card for look in reversed(looks)),  # the top frame comes last
                shelf=tuple(look.card for look in self._suspended.values()),
            )
        )

    def _find_stack(self, frame: FrameType) -> list[FrameType]:
        """Return the frames from this one down to the first call of the watched function.

        The list begins with the caller if this frame is suspended.
        """
        stack = []
        depth_of_first = 0
        caller = frame
        # The frames of this package are those of the verb; the program's own lie above them.
        while caller is not None and caller.f_globals.get("__package__") != __package__:
            stack.append(caller)
            if caller.f_code is self._first_code:
                depth_of_first = len(stack)
            caller = caller.f_back
        if depth_of_first:  # the last that was found: the function may have called itself
            stack = stack[:depth_of_first]
        if stack and _find_key(stack[0]) in self._suspended:
            stack = stack[1:]
        return stack

    def _build_panels(self, rows: list[FrameRow], depth: int) -> Iterator[Panel]:
        """Yield the tables of a step: of the stack, of suspended frames, and what was printed.

        `rows` are those of the topmost frames; `depth` is how many frames the stack has.
        """
        shown = build_columns("function locals", **_HEADINGS)
        rest = depth - len(rows)
        note = f"{rest:,} more below. Each is at the top in an earlier step." if rest else ""
        title = "frames on the stack"
        yield Panel(title, Listing(title, shown, tuple(rows), note))
        if self._suspended:
            title = "frames off the stack, kept by generators"
            suspended_rows = tuple(look.row for look in self._suspended.values())
            columns_without_place = shown[1:]
            yield Panel(title, Listing(title, columns_without_place, suspended_rows))
        if self.printed.size:
            yield Panel("printed so far", self.printed.text())

    def _find_line(self, frame: FrameType) -> int:
        """Return the frame's line in the text of the run, 0 for none."""
        return self.pages.line(frame.f_code, frame.f_lineno)

    def _look_at(self, frame: FrameType, place: str, state: str) -> FrameLook:
        """Return how a frame looks now.

        `place` is its place on the stack from the top, "1" for the topmost, "" for a frame off the
        stack. `state` says what the frame does.
        """
        name = format_text(frame.f_code.co_name)
        line = self._find_line(frame)
        is_own = frame.f_globals is self._globals
        row = FrameRow(
            place=place,
            function=name,
            line=self.pages.number(line),
            lasti=str(frame.f_lasti) if is_own else "",
            state=state,
            locals=format_locals(frame),
        )
        card = Card(
            number=self._numbers[_find_key(frame)],
            function=name,
            line=line,
            state=state.removesuffix(" for a call"),
            names=list_locals(frame),
        )
        return FrameLook(row, card)


def _find_key(frame: FrameType) -> tuple[int, int]:
    """Return the ids of a frame and of its code, which together tell frames apart.

    The id of a frame alone is not enough: a later frame, of other code, may have the same address.
    """
    return id(frame), id(frame.f_code)


def _is_raised_in(frame: FrameType, link) -> bool:
    """Return whether an exception was raised in this frame, and not in one that it called.

    `link` is the exception's traceback at the moment.
    """
    return link is not None and link.tb_frame is frame and link.tb_next is None
