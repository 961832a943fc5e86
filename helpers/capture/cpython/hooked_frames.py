"""PEP 523: which frames of a run the frame hook receives, as a table."""

import gc
import sys
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from types import CodeType, FrameType, FunctionType

from ...mini import frame_hook
from ...model.code_records import build_columns
from ...model.frame_records import FrameSeen, FramesSeen
from ...model.phrase import describe_interruption, end_sentence, format_count
from ...safety.arguments import is_exactly
from ...safety.dynamo_aside import leave_to_python
from ...safety.restoring import note_end, note_interrupt
from ..text.error import describe_error
from ..text.value import format_text, short_repr
from .objects import read_function_name, require_code
from .unseen_frames import Unseen
from .unwrapping import find_called_function, find_watched_function, unwrap

MOST_ROWS, MOST_ARGUMENTS = 60, 8
MOST_INDENTED = 20  # levels of calls
OF_TRACERS = (
    "of your tracer (sys.settrace) or profiler (sys.setprofile), "
    "which also hears frames of this verb"
)


def record_hooked_frames(fn, /, *args, only=None, **kwargs) -> FramesSeen:
    """Run `fn(*args, **kwargs)` under the frame hook, and list the frames that reach the hook.

    `only`: the functions, or code objects, whose frames are to be listed; one, or several in a
    list. Without it those are listed that have the same globals as `fn`.
    """
    unwrapped = find_watched_function(fn, "watch_hooked", args)
    codes = _choose_codes(unwrapped.function, only)
    title = _format_title(unwrapped.function, args, kwargs)
    recorder = HookRecorder(with_tracers=only is not None)
    recorder.run(unwrapped.call, args, kwargs, codes)

    total = recorder.count_frames()
    if recorder.interrupt is not None:
        if not total:
            raise recorder.interrupt  # nothing ran that could be shown
        note_interrupt(recorder.interrupt)
        recorder.ending = f" {describe_interruption(total, 'frame')}"
    shown = build_columns(
        "code arguments",
        order="order",
        depth="depth",
        code="code object",
        line="its first line",
        arguments="arguments in the frame",
        nth="frames of this code so far",
    )
    return FramesSeen(
        title=title,
        columns=shown,
        rows=tuple(recorder.rows),
        note=_describe_record(recorder, unwrapped.sentences),
        counts=tuple(recorder.counts.values()),
    )


def _choose_codes(function: FunctionType, only) -> list[CodeType]:
    """Return the code objects whose frames are listed; see `record_hooked_frames` for `only`."""
    if only is None:
        return find_own_codes(function)
    chosen = only if is_exactly(only, list, tuple, set, frozenset) else [only]
    codes = []
    for item in chosen:
        chosen_function, _ = unwrap(item)
        codes.append(require_code(chosen_function, "only of watch_hooked"))
    return codes


def _format_title(function: FunctionType, args: tuple, kwargs: Mapping) -> str:
    """Return the title, which shows the call."""
    arguments = [*(("", value) for value in args), *kwargs.items()]
    call = f"{read_function_name(function)}({_format_arguments(arguments, len(arguments))})"
    return f"Frames passed to the hook while {call} ran"


def _describe_record(recorder: "HookRecorder", sentences: Iterable[str]) -> str:
    """Return how many frames ran, how the run ended, and what is not shown.

    `sentences` are those on what was unwrapped.
    """
    total = recorder.count_frames()
    code_objects = format_count(len(recorder.counts), "code object")
    note = f"{format_count(total, 'frame')} of {code_objects}.{recorder.ending}"
    if recorder.frames_of_tracers:
        note += f" Not shown: {format_count(recorder.frames_of_tracers, 'frame')} {OF_TRACERS}."
    note = " ".join((*sentences, note, recorder.unseen.words())).rstrip()
    if total > len(recorder.rows):
        shown = len(recorder.rows)
        note += f" Only the first {shown} are shown. Use `only` to choose functions."
    return note


class HookRecorder:
    """Collects the frames of one run that reach the hook.

    Parameters
    ----------
    with_tracers : bool
        Record the frames of the program's own tracers too: they were asked for by `only`.
    """

    def __init__(self, with_tracers: bool):
        """Start with nothing recorded; `run` makes the call."""
        self._with_tracers = with_tracers
        self._id_of_run = 0  # the id of the frame of `run`, which makes the call
        self.rows: list[FrameSeen] = []
        #: Id of a code object -> (its name, how many frames of it ran).
        self.counts: dict[int, tuple[str, int]] = {}
        self.frames_of_tracers = 0
        self.unseen = Unseen()
        #: The sentence on what the call raised, with a space before it; "" if it raised nothing.
        self.ending = ""
        self.interrupt: KeyboardInterrupt | None = None

    def count_frames(self) -> int:
        """Return how many frames ran."""
        return sum(frames for _, frames in self.counts.values())

    def run(self, call: Callable, args: tuple, kwargs: Mapping, codes: list[CodeType]) -> None:
        """Make a call, and record the frames of these code objects; nothing is raised."""
        # The id alone, because a variable that refers to its own frame would be in a cycle.
        self._id_of_run = id(sys._getframe())
        leave_to_python(HookRecorder.note_frame)
        try:
            with self.unseen.noticing(), frame_hook.watching(self.note_frame, only=codes):
                try:
                    call(*args, **kwargs)
                except Exception as error:
                    self._note_error(error)
        except KeyboardInterrupt as error:
            self.interrupt = error
        except BaseException as error:
            self._note_error(error)

    def _note_error(self, error: BaseException) -> None:
        """Note what the call raised."""
        self.ending = f" {end_sentence(f'It raised {describe_error(error)}')}"
        note_end(error)

    def note_frame(self, code: CodeType, values: tuple) -> None:
        """Record a frame that is about to run; the hook calls this with its code and variables.

        Its caller is the frame that makes the call. All is done in this one function, because
        a tracer of the program is called for each function of ours too, and its frames count.
        """
        if not self._with_tracers and _is_of_tracer(code, sys._getframe(1), self._id_of_run):
            self.frames_of_tracers += 1
            return
        name, frames_before = self.counts.get(id(code), (code.co_name, 0))
        self.counts[id(code)] = name, frames_before + 1
        if len(self.rows) >= MOST_ROWS:
            return

        depth = 0  # counts all frames below, recorded or not
        frame = sys._getframe(1)
        while frame is not None and id(frame) != self._id_of_run:
            depth += 1
            frame = frame.f_back
        arguments = _format_arguments(zip(code.co_varnames, values, strict=False), len(values))
        short_name = format_text(code.co_name)
        self.rows.append(
            FrameSeen(
                order=len(self.rows) + 1,
                depth=depth,
                name=short_name,
                code="· " * min(depth, MOST_INDENTED) + short_name,
                line=code.co_firstlineno,
                arguments=arguments,
                nth=frames_before + 1,
            )
        )


def _is_of_tracer(code: CodeType, caller: FrameType | None, id_of_run: int) -> bool:
    """Return whether a new frame is of a tracer or a profiler, or of a function that one calls.

    CPython calls a tracer as if the frame that it reports had called it. So each frame is compared
    with the tracer of the frame below.

    Parameters
    ----------
    code : CodeType
        The code object of the new frame.
    caller : FrameType or None
        The frame below.
    id_of_run : int
        The id of the frame at which to stop.
    """
    tracers_now = [tracer for tracer in (sys.gettrace(), sys.getprofile()) if tracer is not None]
    if not tracers_now:
        return False
    # Walk down the stack. `code` is that of the frame above `caller`: it is a tracer's if `caller`
    # has that tracer. Then the new frame, somewhere above, is of what the tracer calls.
    codes = {id(tracer): _find_code_of_tracer(tracer) for tracer in tracers_now}
    while caller is not None:
        frame_tracer = caller.f_trace
        if id(frame_tracer) not in codes:
            codes[id(frame_tracer)] = _find_code_of_tracer(frame_tracer)
        tracer_ids = *map(id, tracers_now), id(frame_tracer)
        if any(codes[tracer_id] is code for tracer_id in tracer_ids):
            return True
        if id(caller) == id_of_run:
            break
        code = caller.f_code
        caller = caller.f_back
    return False


def _find_code_of_tracer(tracer) -> CodeType | None:
    """Return the code that a call of a tracer runs, None of one that is written in C."""
    function = None if tracer is None else find_called_function(tracer)
    return None if function is None else function.__code__


def find_own_codes(function: FunctionType) -> list[CodeType]:
    """Return the code objects of the function and of all others that have its globals."""
    space = function.__globals__
    pending = [function.__code__]
    # The collector knows functions without a name too, such as those in lists and cells.
    for candidate in gc.get_objects():
        if type(candidate) is FunctionType and candidate.__globals__ is space:
            pending.append(candidate.__code__)
    codes_by_id = {}
    while pending:
        code = pending.pop()
        codes_by_id[id(code)] = code
        for constant in code.co_consts:
            if type(constant) is CodeType and id(constant) not in codes_by_id:
                pending.append(constant)
    return list(codes_by_id.values())


def _format_arguments(pairs: Iterable[tuple[str, object]], count: int) -> str:
    """Return the first few of `count` arguments as `3, x=1`; one with an empty name has no `=`."""
    few = islice(pairs, MOST_ARGUMENTS)
    words = [f"{format_text(name)}={short_repr(value)}".removeprefix("=") for name, value in few]
    more = [f"… {count - len(words)} more"] if count > len(words) else []
    return ", ".join([*words, *more])
