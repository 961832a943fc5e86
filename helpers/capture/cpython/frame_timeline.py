"""Run a function and record a step for each call, return, yield and exception, with all frames.
A *step* shows the stack of frames at one such event: as rows of a table and as cards of a drawing.
Frames of suspended generators are not on the stack. They are drawn on a *shelf* beside it.
"""

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
    """What happens to a frame at one step, as text."""

    #: A title of a few words, such as "call f(x = 1)".
    label: str
    #: What happens, as a sentence.
    says: str
    #: The kind of the step: call, resume, exception, yield or return.
    lane: str
    #: What the frame does at this step.
    state: str = "running"
    #: The value that the caller gets, "" for none.
    handed: str = ""
    #: How the frame's line ended, such as "just returned"; "" if the line is about to run.
    deed: str = ""


class FrameLook(NamedTuple):
    """What a step shows of one frame."""

    #: The row of the frame in the table.
    row: FrameRow
    #: The card of the frame in the drawing.
    card: Card


def record_frames(fn, /, *args, depth=None, only=None, most=MOST_STEPS, **kwargs) -> Timeline:
    """Run `fn(*args, **kwargs)`, and return a step for each call, return, yield and exception.

    `depth`, `only` and `most` limit which calls are recorded; see the module `following`.
    """
    watched = find_watched_function(fn, "watch_frames", args)
    limits = RecordingLimits("watch_frames", depth, only, most)
    recorder = FrameRecorder(watched.function, limits)
    try:
        result = call_traced(
            tracer=recorder.enter,
            printed=recorder.printed,
            watched=watched,
            args=args,
            kwargs=kwargs,
            enough=lambda: recorder.is_full,
        )
    finally:
        recorder.release_frames()
    # After Ctrl-C before the first step there is nothing to show: this raises KeyboardInterrupt.
    result.raise_interrupt_if_empty(len(recorder.steps))

    source, _ = recorder.pages.place(watched.function.__code__)  # `.where`: file and line
    return Timeline(
        title=f"Frames of {read_function_name(watched.function)}{source.where}",
        source=recorder.pages.text,
        steps=tuple(recorder.steps),
        note=_describe_record(recorder, watched, result),
        places=tuple(recorder.pages.places),
    )


def _describe_record(recorder: "FrameRecorder", watched: Unwrapped, result: Result) -> str:
    """Return the sentences on how the run ended, and what the record does not show.

    Parameters
    ----------
    recorder : FrameRecorder
        The recorder, after the run.
    watched : Unwrapped
        The function that was watched, with a sentence for each wrapper around it.
    result : Result
        How the call ended.
    """
    end_of_record = ""
    if recorder.is_full:
        most = recorder.limits.most
        end_of_record = (
            f"Only the first {most:,} steps are recorded (most={2 * most} records more)."
        )
    elif result.lost:  # says how: the program has set another tracer, for example
        end_of_record = f"{result.lost}."
    # Each of these is "" if it does not apply.
    sentences = [
        *watched.sentences,
        result.sentence(len(recorder.steps), "step"),
        end_of_record,
        recorder.printed.note,
        recorder.limits.note(),
        watched.describe_if_not_run(bool(recorder.steps)),
        result.aside,
    ]
    return " ".join(filter(None, sentences))


class FrameRecorder:
    """Records the steps of one run.

    `enter` is given to `sys.settrace`, by way of `FrameTracer`. CPython calls it when a frame
    begins or is resumed, and calls what it returned, `_receive`, for each later event of the frame.

    Parameters
    ----------
    fn : FunctionType
        The function that is watched. The record begins with the first frame of this function.
    limits : RecordingLimits
        Which other calls are recorded, and how many steps.
    """

    def __init__(self, fn: FunctionType, limits: RecordingLimits):
        """Start without steps."""
        #: Which calls are recorded, and how many steps.
        self.limits = limits
        #: The steps so far.
        self.steps: list[FrameStep] = []
        #: Whether there are as many steps as `limits.most` allows.
        self.is_full = False
        #: The sources of all functions that ran, one below the other.
        self.pages = SourcePages()
        self.pages.place(fn.__code__)  # the source of the watched function comes first
        #: What the program prints.
        self.printed = Printed()
        # The record begins with the first frame that runs this code object.
        self._first_code = fn.__code__
        self._globals = fn.__globals__
        # Id of a recorded frame that runs -> the frame. The frame is kept alive, so that no other
        # frame can get the same id.
        self._running: dict[int, FrameType] = {}
        # The next two have the result of `_find_key(frame)` as key.
        #: Frame of a suspended generator -> how the frame looked when it was suspended.
        self._suspended: dict[tuple[int, int], FrameLook] = {}
        #: Frame -> the number on its card. A frame that is not in the dict gets the next number.
        self._numbers: dict[tuple[int, int], int] = defaultdict(count().__next__)
        # Id of a frame in which an exception was raised -> offset of the instruction that ran last.
        self._last_offsets: dict[int, int] = {}

    def enter(self, frame: FrameType, event: str, argument) -> Callable | None:
        """Add the step of a frame that begins or is resumed, and return the tracer of the frame.

        Return None for a frame that is not recorded: then CPython reports no events of it.
        """
        if not self._should_record(frame):
            return None
        self._running[id(frame)] = frame
        key = _find_key(frame)
        is_resumed = self._suspended.pop(key, None) is not None
        if is_resumed:
            name = format_text(frame.f_code.co_name)
            frame_event = FrameEvent(
                label=f"resume {name}()",
                says="The frame comes back from the shelf with all its values and continues.",
                lane="resume",
            )
        else:
            # An earlier frame at the same address may have had this key. This frame is a new one.
            self._numbers.pop(key, None)
            frame_event = FrameEvent(
                label=f"call {format_new_call(frame)}",
                says="A new frame goes on top. Its caller waits below.",
                lane="call",
            )
        self._add_step(frame, frame_event)
        return self._receive

    def _should_record(self, frame: FrameType) -> bool:
        """Return whether to record a frame that begins or is resumed.

        The first step must be the call of the watched function. For later frames the limits decide.
        """
        if self.is_full:
            return False
        if self.steps:
            if not self.limits.should_record_frame(frame, self._globals):
                return False
        elif frame.f_code is not self._first_code:
            return False
        return self.limits.is_within_depth(self._count_level(frame))

    def _count_level(self, frame: FrameType) -> int:
        """Return the level of a call: 1, and 1 more for each recorded frame below it."""
        level = 1
        caller = frame.f_back
        while caller is not None:
            if id(caller) in self._running:
                level += 1
            caller = caller.f_back
        return level

    def release_frames(self) -> None:
        """Take the tracer off the recorded frames that have not ended, and forget all frames."""
        for frame in self._running.values():
            forget_tracer(frame)
        self._running.clear()

    def _receive(self, frame: FrameType, event: str, argument) -> Callable | None:
        """Record an event of a frame, and return the tracer of the frame from now on.

        `event` and `argument` are as for a tracer of `sys.settrace`. An event "line" adds no step.
        """
        if self.is_full:
            frame.f_trace_opcodes = False
            return None
        if event == "exception":
            self._note_exception(frame, argument)
        elif event == "opcode":  # sent only after `ask_for_opcodes` in `_note_exception`
            self._last_offsets[id(frame)] = frame.f_lasti
        elif event == "return":
            self._note_exit(frame, argument)
            self._running.pop(id(frame), None)
            self._last_offsets.pop(id(frame), None)
            forget_tracer(frame)
            return None  # a tracer that is returned here would be set on the frame again
        return self._receive

    def _note_exception(self, frame: FrameType, argument: tuple) -> None:
        """Add the step of an exception in a frame. `argument` is (type, exception, traceback).

        If a handler raises the exception again, CPython reports no event. So the offset of each
        later instruction of the frame is noted, from which `_note_exit` tells how the frame ended.
        """
        self._last_offsets[id(frame)] = frame.f_lasti
        ask_for_opcodes(frame)
        _, error, traceback = argument
        verb = "is raised in" if _is_raised_in(frame, traceback) else "reaches"
        frame_event = FrameEvent(
            label=f"{short_repr(error)} {verb} {format_text(frame.f_code.co_name)}",
            says="It looks for a handler in this frame first.",
            lane="exception",
            deed="just raised",
        )
        self._add_step(frame, frame_event)

    def _note_exit(self, frame: FrameType, value: object) -> None:
        """Add the step of a frame that returns, yields, or is left by an exception.

        `value` is what the caller gets. CPython reports None for an exception too, so the last
        instruction of the frame tells which of the three it is.
        """
        name = format_text(frame.f_code.co_name)
        value_text = short_repr(value)
        last_offset = self._last_offsets.get(id(frame))
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
            suspended_look = self._look_at(frame, place="", state="suspended")
            self._suspended[_find_key(frame)] = suspended_look
            event = FrameEvent(
                label=f"yield {value_text} from {name}",
                says=f"The caller gets {value_text}. The frame moves to the shelf unchanged.",
                lane="yield",
                state="on top again",  # of the caller: the suspended frame is not on the stack
                handed=value_text,
                deed="just yielded",
            )
        else:
            # The `return` of a generator raises StopIteration in its caller, which gets no value.
            is_generator = is_generator_frame(frame)
            effect = f"The caller gets {value_text}"
            if is_generator:
                effect = "The generator is finished and signals this to its caller"
            event = FrameEvent(
                label=f"return {value_text} from {name}",
                says=f"{effect}. The frame is gone for good.",
                lane="return",
                state="leaving",
                handed="" if is_generator else value_text,
                deed="just returned",
            )
        self._add_step(frame, event)

    def _add_step(self, frame: FrameType, event: FrameEvent) -> None:
        """Add the step of an event of a frame. If there are `most` steps, set `is_full` instead."""
        if len(self.steps) >= self.limits.most:
            self.is_full = True
            return
        stack = self._find_stack(frame)
        looks = []  # of the frames on the stack, the topmost first
        for place, shown_frame in enumerate(stack[:MOST_FRAMES], 1):
            state = event.state if place == 1 else "waits for a call"
            looks.append(self._look_at(shown_frame, str(place), state))

        next_line, left_line = self._find_lines_of_step(frame, event, stack)
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

    def _find_lines_of_step(
        self, frame: FrameType, event: FrameEvent, stack: list[FrameType]
    ) -> tuple[int, int]:
        """Return (the line that runs next, the line that has just ended), 0 for none.

        `stack` is what `_find_stack` returned for the frame.
        """
        own_line = self._find_line(frame)
        if not event.deed:  # the frame is about to run its line
            return own_line, 0
        if event.lane == "exception":  # it is not known yet which line will handle the exception
            return 0, own_line
        # The caller is the second frame of the stack, or the first if `frame` was suspended.
        callers = [candidate for candidate in stack[:2] if candidate is not frame]
        next_line = self._find_line(callers[0]) if callers else 0
        return next_line, own_line

    def _find_stack(self, frame: FrameType) -> list[FrameType]:
        """Return the frames from this one down to the first call of the watched function.

        A frame that was just suspended at a yield is left out: the list begins with the caller.
        """
        stack = []
        first_call_depth = 0
        caller = frame
        # Below the frames of the program are those of this package, which made the call.
        while caller is not None and caller.f_globals.get("__package__") != __package__:
            stack.append(caller)
            if caller.f_code is self._first_code:
                # Overwritten by each further call below: the watched function may call itself.
                first_call_depth = len(stack)
            caller = caller.f_back
        if first_call_depth:  # cut off the frames of decorators, which are below the function
            stack = stack[:first_call_depth]
        if stack and _find_key(stack[0]) in self._suspended:
            stack = stack[1:]
        return stack

    def _build_panels(self, rows: list[FrameRow], depth: int) -> Iterator[Panel]:
        """Yield a table of the stack, a table of suspended frames, and what was printed so far.

        The second and the third are yielded only if there is something to show in them.

        Parameters
        ----------
        rows : list of FrameRow
            The topmost frames of the stack.
        depth : int
            How many frames the stack has, of which `rows` may show only the first.
        """
        columns = build_columns("function locals", **_HEADINGS)
        hidden_count = depth - len(rows)
        note = ""
        if hidden_count:
            note = f"{hidden_count:,} more below. Each is at the top in an earlier step."
        title = "frames on the stack"
        yield Panel(title, Listing(title, columns, tuple(rows), note))
        if self._suspended:
            title = "frames off the stack, kept by generators"
            suspended_rows = tuple(look.row for look in self._suspended.values())
            columns_without_place = columns[1:]  # a suspended frame has no place on the stack
            yield Panel(title, Listing(title, columns_without_place, suspended_rows))
        if self.printed.size:
            yield Panel("printed so far", self.printed.text())

    def _find_line(self, frame: FrameType) -> int:
        """Return which line of `self.pages.text` shows the line that a frame runs; 0 for none."""
        return self.pages.line(frame.f_code, frame.f_lineno)

    def _look_at(self, frame: FrameType, place: str, state: str) -> FrameLook:
        """Return the table row and the card of a frame, as the frame is now.

        Parameters
        ----------
        frame : FrameType
            The frame.
        place : str
            The position of the frame on the stack: "1" for the topmost, "" for a suspended frame.
        state : str
            What the frame does, such as "running".
        """
        name = format_text(frame.f_code.co_name)
        line = self._find_line(frame)
        is_of_watched_module = frame.f_globals is self._globals
        row = FrameRow(
            place=place,
            function=name,
            line=self.pages.number(line),
            # Offsets are shown for the code of the watched module only, not for libraries.
            lasti=str(frame.f_lasti) if is_of_watched_module else "",
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
    """Return (id of a frame, id of its code object) as the key of the frame in a dict.

    The id of the frame alone is not enough. It is an address, and when a frame has ended, a frame
    of another function may get the same address.
    """
    return id(frame), id(frame.f_code)


def _is_raised_in(frame: FrameType, traceback) -> bool:
    """Return whether an exception was raised in this frame, and not in a function that it called.

    `traceback` is the exception's traceback so far. It begins with the frame that the exception has
    reached, and it has a next link if the exception comes from a deeper call.
    """
    if traceback is None:
        return False
    return traceback.tb_frame is frame and traceback.tb_next is None
