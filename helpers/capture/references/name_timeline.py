"""Run a function, and record for each of its lines a graph of its local names and the objects that
they refer to. The result is a Timeline, which has a Step for each line that ran.

The recorder traces one function with `sys.settrace`. CPython calls the tracer before a line runs,
and the recorder draws what the variables refer to at that moment. `name_changes` compares two
neighbouring steps, and writes the sentence on what the line between them did.
"""

import enum
import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from dis import get_instructions, opmap
from types import FrameType, FunctionType, MethodType, ModuleType

from ...internals.interpreter_frame import read_local_variables
from ...model.graphs import Graph
from ...model.phrase import describe_interruption
from ...model.stage_records import Panel, Step, Timeline
from ...safety.arguments import is_exactly, real_isinstance
from ...safety.users_frames import is_library
from ..cpython.following import RecordingLimits
from ..cpython.frame_exits import is_at_yield
from ..cpython.objects import read_function_name
from ..cpython.settrace import Printed, Result, call_traced
from ..cpython.unwrapping import Unwrapped, find_watched_function
from ..text.source import Source, find_source
from ..text.value import format_library_value, format_name, is_library_class, short_repr
from .name_changes import NAMES_PANEL, PRINTED_PANEL, RAISED, describe_step
from .name_graph import ObjectNumbers, build_names_graph

MOST_STEPS = 200
CALL_IS_OVER = "The call is over."
CALL_WAS_INTERRUPTED = "You interrupted the call here."
GENERATOR_WAS_RUN = "The generator was run to its end."
PRIVATE_NAMES_HIDDEN = "Names that begin with _ are not shown."
FOLLOWED_TYPES = (list, tuple, dict, set, frozenset, functools.partial, MethodType)
CALL_OPCODES = ("CALL", "CALL_FUNCTION_EX", "CALL_KW")


def record_names(fn: Callable, /, *args, most: int = MOST_STEPS, **kwargs) -> Timeline:
    """Run `fn(*args, **kwargs)`, and return a step for each line that ran, up to `most` lines.

    `fn` may be wrapped in decorators. The function inside them is recorded. An exception of `fn` is
    not raised here, because the timeline shows it.
    """
    watched = find_watched_function(fn, "watch_names", args)
    limits = RecordingLimits("watch_names", most=most)
    recorder = _NamesRecorder(watched, limits.most)
    recorder.run(args, kwargs)

    source = recorder.source
    # `source.where` is the file and line in brackets, "" if they are not known.
    return Timeline(
        title=f"{read_function_name(recorder.function)}{source.where}, line by line",
        source=source.text,
        steps=tuple(_describe_steps(recorder)),
        note=" ".join(filter(None, recorder.notes)),
        places=source.places,
    )


def _describe_steps(recorder: "_NamesRecorder") -> list[Step]:
    """Return the recorded steps, each with a sentence on what its line is about to do."""
    steps = recorder.steps
    calling_lines = _find_calling_lines(recorder.function, recorder.source)
    # A step is recorded before its line runs. So the next step shows what the line has changed.
    pairs = zip(steps, steps[1:], strict=False)
    described = [describe_step(step, next_step, calling_lines) for step, next_step in pairs]
    if steps:  # the last step comes after the last line, and has no next step
        ending = CALL_WAS_INTERRUPTED if recorder.is_interrupted else CALL_IS_OVER
        described.append(replace(steps[-1], says=ending, lane="return"))
    return described


def _find_calling_lines(function: FunctionType, source: Source) -> set[int]:
    """Return the numbers of the lines, in the source that is shown, that call something."""
    instructions = get_instructions(function.__code__)
    calls = [instruction for instruction in instructions if instruction.opname in CALL_OPCODES]
    # `source.line` converts the line number of the file to that of the source that is shown.
    lines = {source.line(call.positions.lineno) for call in calls}
    return lines - {0}  # 0: the instruction has no line in this source


class _NamesRecorder:
    """Records one run of one function: a step before its first line, and one after each line.

    Attributes
    ----------
    function : FunctionType
        The Python function whose lines are recorded.
    source : Source
        Its source, without docstrings.
    steps : list of Step
        The moments so far, without sentences.
    notes : dict of str to None
        The sentences of the timeline's note. A dict keeps their order, and each of them once.
    is_interrupted : bool
        Whether Ctrl-C ended the run.
    """

    def __init__(self, watched: Unwrapped, most: int):
        """Prepare to run a function, and to record up to `most` lines.

        `watched.function` is the function inside its decorators, and `watched.sentences` say which
        decorators were taken off.
        """
        self.function = watched.function
        self.source: Source = find_source(self.function.__code__).folded()
        self.steps: list[Step] = []
        self.notes: dict[str, None] = dict.fromkeys(watched.sentences)
        self.is_interrupted = False

        self._watched = watched
        self._most = most
        self._printed = Printed()
        self._numbers = ObjectNumbers()
        self._frame: FrameType | None = None  # of the recorded call; None before it begins
        self._names: list[str] = []  # the bound variables, in the order in which they were bound
        self._line = 0  # the line that is running, 0 before the first
        self._raised = ""  # the name of the exception that the running line has raised
        self._is_full = False  # whether there are as many steps as `most` allows

    def run(self, args: tuple, kwargs: Mapping[str, object]) -> None:
        """Call the function under the tracer, and note how the call ended.

        An exception of the function is not raised from here. The last step or a note names it.
        """
        result = call_traced(
            self._on_new_frame,
            self._printed,
            self._watched,
            args,
            kwargs,
            self._has_enough_steps,
        )
        result.raise_interrupt_if_empty(
            len(self.steps)
        )  # raises Ctrl-C if there is nothing to show
        self.is_interrupted = result.interrupt is not None
        self._note_end(result)
        self._frame = None  # because a frame keeps the variables of its call alive

    def _has_enough_steps(self) -> bool:
        """Return whether the limit on steps is reached.

        `call_traced` asks before it takes the next item of a generator.
        """
        return self._is_full

    def _note_end(self, result: Result) -> None:
        """Add the sentences on how the call ended, and on what the timeline does not show of it."""
        # Without a frame, a decorator answered the call, or an argument was wrong.
        has_begun = self._frame is not None
        # "" if the function was reached. A wrapper that raised needs no sentence of this kind.
        self._add_note(self._watched.describe_if_not_run(has_begun or result.raised))
        # The call made a generator, which was then run to its end.
        if result.is_generator_run and not result.raised and not self._is_full:
            self._add_note(GENERATOR_WAS_RUN)
        # The tracer was lost, for example because the program has set another one.
        if has_begun and result.lost:
            self._add_note(f"{result.lost}: what ran after that is not shown.")
        if self.is_interrupted:
            line_count = max(len(self.steps) - 1, 0)  # the first step is before the first line
            self._add_note(describe_interruption(line_count, "line"))
        elif result.raised and not self._raised:  # no step shows this exception
            name = format_name(self.function.__name__)
            when = "" if has_begun else " before its first line"
            self._add_note(f"The call of {name} raised {result.kind}{when}.")
        self._add_note(result.aside)  # on a tracer of the program, which did not run meanwhile

    def _add_note(self, sentence: str) -> None:
        """Add a sentence to the note, if it is not empty and not yet part of the note."""
        if sentence:
            self.notes.setdefault(sentence)

    def _on_new_frame(self, frame: FrameType, event: str, argument: object) -> Callable | None:
        """Return the tracer for the frame of the recorded call, None for every other frame.

        CPython calls this function when a frame starts or a generator's frame goes on, with the
        event "call" and None. Only the first call of the function is recorded. If the function
        calls itself, the inner call is a part of the line that makes it.
        """
        is_recorded_call = self._frame is None or self._frame is frame
        if frame.f_code is not self.function.__code__ or not is_recorded_call:
            return None
        self._frame = frame
        return self._on_event

    def _on_event(self, frame: FrameType, event: str, argument: object) -> Callable:
        """Record one event of the recorded call; return the tracer of its next event.

        CPython calls this tracer with "line" before a line runs, with "exception" and the
        exception's (type, value, traceback), and with "return" and the value when the frame ends.
        """
        if self._is_full:
            return self._on_event
        # A `yield` is also reported as "return". The generator only pauses there.
        if event == "return" and is_at_yield(frame):
            return self._on_event

        if event == "exception":
            self._note_exception(frame, kind=argument[0])
        elif event == "line":
            self._record_step(frame, next_line=frame.f_lineno)
            self._line = frame.f_lineno
            self._raised = ""  # the label of the step has it
        elif self._line:  # "return" after at least one line: the end of the call
            self._record_step(frame, next_line=0, ending=_describe_return(event, argument))
        return self._on_event

    def _note_exception(self, frame: FrameType, kind: type[BaseException]) -> None:
        """Remember the name of an exception for the label of the next step."""
        # An iterator raises StopIteration at its end, and a `for` catches it. That is no error of
        # the program, so it is not shown.
        is_in_for = frame.f_code.co_code[frame.f_lasti] == opmap["FOR_ITER"]
        if not (is_in_for and kind is StopIteration):
            self._raised = format_name(kind.__name__)

    def _record_step(self, frame: FrameType, next_line: int, ending: str = "") -> None:
        """Append a step that shows the names after the line that has run.

        `next_line` is the line that is about to run, 0 at the end of the call. `ending` is the end
        of the label, such as ", and the call returns 3"; "" except at a return with a value.
        """
        variables = self._read_variables(frame)
        # The step before the first line does not count, so there may be one more than `_most`.
        if len(self.steps) > self._most:
            self._is_full = True
            limit = f"Only the first {self._most:,} lines that ran are shown"
            self._add_note(f"{limit} (most={2 * self._most} shows more).")
            return

        step = Step(
            label=self._format_label(ending),
            line=self.source.line(next_line),
            panels=(
                Panel(NAMES_PANEL, self._draw_names(variables)),
                Panel(PRINTED_PANEL, self._format_output()),
            ),
            short=self.source.place(next_line) if next_line else "the end",
        )
        self.steps.append(step)

    def _read_variables(self, frame: FrameType) -> dict[str, object]:
        """Return the frame's variables, in the order in which the call has bound them.

        CPython lists them in the order of the code object. In a picture they would change places.
        """
        variables = read_local_variables(frame)
        still_bound = [name for name in self._names if name in variables]
        newly_bound = [name for name in variables if name not in still_bound]
        self._names = still_bound + newly_bound
        return {name: variables[name] for name in self._names}

    def _format_label(self, ending: str) -> str:
        """Return a label like "the call begins", "after line 3" or "line 3 raised KeyError".

        `ending` is added to a label of the second form.
        """
        if not self._line:
            return "the call begins"
        place = self.source.place(self._line)
        if self._raised:
            return f"{place}{RAISED}{self._raised}"
        return f"after {place}{ending}"

    def _draw_names(self, variables: Mapping[str, object]) -> Graph | str:
        """Return the graph of the public names; the text "none yet" if there is no public name.

        Names that begin with `_` are left out, and a note says so.
        """
        own_names = [name for name in variables if not name.startswith("@")]  # pytest adds @names
        public_names = [name for name in own_names if not name.startswith("_")]
        if len(public_names) < len(own_names):
            self._add_note(PRIVATE_NAMES_HIDDEN)
        self._numbers.begin_moment()  # an object has the same key as in the step before
        graph = build_names_graph(
            variables, public_names, numbers=self._numbers, follow=is_followed
        )
        return graph if graph.nodes else "none yet"

    def _format_output(self) -> str:
        """Return what the call has printed so far; of a long output only its end, with a remark."""
        hidden_count = self._printed.total - len(self._printed.tail)
        if not hidden_count:
            return self._printed.tail
        return f"[{hidden_count:,} characters before these are not shown]\n{self._printed.tail}"


def _describe_return(event: str, value: object) -> str:
    """Return the end of a label, such as ", and the call returns 3".

    The text is "" for None, which CPython also reports where an exception ends the call, and for an
    event other than "return".
    """
    if event != "return" or value is None:
        return ""
    return f", and the call returns {format_library_value(value) or short_repr(value)}"


def is_followed(value: object) -> bool:
    """Return whether the contents of a value are drawn.

    The contents of a built-in container are drawn, and those of what the learner has written:
    functions, and instances of the learner's classes.
    """
    if is_exactly(value, *FOLLOWED_TYPES):
        return True
    if real_isinstance(value, type, ModuleType, enum.Enum):
        return False  # their many attributes are not what a line of the program changes
    if type(value) is FunctionType:
        return not is_library(value.__code__.co_filename)
    return not is_library_class(type(value))
