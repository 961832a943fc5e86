"""Record which frames of a run reach a frame hook, and list them in a table.
With PEP 523 a program can have CPython call its own function, here the *frame hook*, for each new
frame before the frame runs. Dynamo, the compiler of torch.compile, works in this way.
"""

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
from ...safety.restoring import note_interrupt, raise_after_verb
from ..text.error import describe_error
from ..text.value import format_text, short_repr
from .objects import read_function_name, require_code
from .unseen_frames import UnseenFrames
from .unwrapping import find_called_function, find_watched_function, unwrap

MOST_ROWS, MOST_ARGUMENTS = 60, 8
MOST_INDENTED = 20  # levels of calls that the table indents; deeper calls are not indented more
OF_TRACERS = (
    "of your tracer (sys.settrace) or profiler (sys.setprofile), "
    "which also hears frames of this verb"
)


def record_hooked_frames(fn, /, *args, only=None, **kwargs) -> FramesSeen:
    """Run `fn(*args, **kwargs)` under a frame hook, and return a table of the frames it received.

    `only` is a function or a code object, or a list of these, whose frames are listed. By default,
    these are all functions with the same globals as `fn`, that is, of the same module.
    """
    unwrapped = find_watched_function(fn, "watch_hooked", args)
    codes = _choose_codes(unwrapped.function, only)
    title = _format_title(unwrapped.function, args, kwargs)
    recorder = HookRecorder(with_tracers=only is not None)
    recorder.run(unwrapped.call, args, kwargs, codes)

    total = recorder.count_frames()
    if recorder.interrupt is not None:
        if not total:
            raise recorder.interrupt  # no frame was recorded, so there is no table to show
        note_interrupt(recorder.interrupt)  # raised when the table has been shown
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
    """Return the code objects whose frames are listed.

    `only` is the argument of `record_hooked_frames`. If it is None, these are the code objects of
    all functions that have the same globals as `function`.
    """
    if only is None:
        return find_codes_with_same_globals(function)
    chosen = only if is_exactly(only, list, tuple, set, frozenset) else [only]
    codes = []
    for item in chosen:
        chosen_function, _ = unwrap(item)
        codes.append(require_code(chosen_function, "only of watch_hooked"))
    return codes


def _format_title(function: FunctionType, args: tuple, kwargs: Mapping) -> str:
    """Return the title of the table, such as "Frames passed to the hook while f(3, x=1) ran"."""
    positional = [("", value) for value in args]
    arguments = [*positional, *kwargs.items()]  # (name, value), the name "" without a keyword
    call = f"{read_function_name(function)}({_format_arguments(arguments, len(arguments))})"
    return f"Frames passed to the hook while {call} ran"


def _describe_record(recorder: "HookRecorder", sentences: Iterable[str]) -> str:
    """Return the note below the table: how many frames ran, how the run ended, what is not shown.

    `sentences` say which wrappers were taken off the function that the user passed.
    """
    total = recorder.count_frames()
    code_objects = format_count(len(recorder.counts), "code object")
    note = f"{format_count(total, 'frame')} of {code_objects}.{recorder.ending}"
    if recorder.frames_of_tracers:
        note += f" Not shown: {format_count(recorder.frames_of_tracers, 'frame')} {OF_TRACERS}."
    note = " ".join((*sentences, note, recorder.unseen.describe())).rstrip()
    if total > len(recorder.rows):
        shown = len(recorder.rows)
        note += f" Only the first {shown} are shown. Use `only` to choose functions."
    return note


class HookRecorder:
    """Collects the frames of one run that reach the hook.

    Parameters
    ----------
    with_tracers : bool
        Whether to record also the frames of the program's own tracer and profiler. This is so if
        the user has chosen functions with `only`, because one of them may be the tracer.
    """

    def __init__(self, with_tracers: bool):
        """Start with nothing recorded; `run` makes the call."""
        #: Whether frames of the program's own tracer and profiler are recorded too.
        self._with_tracers = with_tracers
        self._id_of_run = 0  # id of the frame of `run`: below it are no frames of the program
        self.rows: list[FrameSeen] = []
        #: Id of a code object -> (its name, how many frames of it ran).
        self.counts: dict[int, tuple[str, int]] = {}
        #: How many frames of the program's tracer and profiler were not recorded.
        self.frames_of_tracers = 0
        #: Counts threads and compiled calls, whose frames the hook does not receive.
        self.unseen = UnseenFrames()
        #: The sentence on what the call raised, with a space before it; "" if it raised nothing.
        self.ending = ""
        #: The KeyboardInterrupt that ended the call, None if none did.
        self.interrupt: KeyboardInterrupt | None = None

    def count_frames(self) -> int:
        """Return how many frames were recorded, also those for which the table had no room."""
        return sum(frames for _, frames in self.counts.values())

    def run(self, call: Callable, args: tuple, kwargs: Mapping, codes: list[CodeType]) -> None:
        """Make the call `call(*args, **kwargs)`, and record the frames of these code objects.

        An exception of the call is not raised. It is noted in `interrupt` or `ending`.
        """
        # Only the id is kept: a variable that refers to its own frame would be a reference cycle.
        self._id_of_run = id(sys._getframe())
        leave_to_python(HookRecorder.note_frame)  # Dynamo must not compile it
        try:
            with self.unseen.counting(), frame_hook.watching(self.note_frame, only=codes):
                try:
                    call(*args, **kwargs)
                except Exception as error:
                    self._note_error(error)
        # Caught here, because Ctrl-C may also come while the hook is set or removed.
        except KeyboardInterrupt as error:
            self.interrupt = error
        except BaseException as error:
            self._note_error(error)

    def _note_error(self, error: BaseException) -> None:
        """Note the error that the call raised: as a sentence, and to be raised again at the end."""
        self.ending = f" {end_sentence(f'It raised {describe_error(error)}')}"
        raise_after_verb(error)

    def note_frame(self, code: CodeType, values: tuple) -> None:
        """Record a frame that is about to run. The frame hook calls this method.

        `code` is the code object of the new frame, and `values` are its arguments. The frame that
        called this method, `sys._getframe(1)`, is the frame that makes the program's call.
        """
        # This method calls few others: a tracer of the program is called for each function of ours
        # too, which makes more frames.
        if not self._with_tracers and _is_of_tracer(code, sys._getframe(1), self._id_of_run):
            self.frames_of_tracers += 1
            return
        name, frames_before = self.counts.get(id(code), (code.co_name, 0))
        self.counts[id(code)] = name, frames_before + 1
        if len(self.rows) >= MOST_ROWS:
            return

        depth = 0  # how many frames of the program are below, recorded or not
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
    """Return whether a new frame runs the program's tracer or profiler, or what one of them calls.

    CPython calls a tracer as if the traced frame had called it. So the tracer's frame lies directly
    above a frame that has this tracer, and what the tracer calls lies above the tracer's frame.

    Parameters
    ----------
    code : CodeType
        The code object of the new frame.
    caller : FrameType or None
        The frame directly below the new one.
    id_of_run : int
        The id of the lowest frame to look at.
    """
    tracers = [tracer for tracer in (sys.gettrace(), sys.getprofile()) if tracer is not None]
    if not tracers:
        return False
    codes_of_tracers = [_find_code_of_tracer(tracer) for tracer in tracers]
    codes_by_frame_tracer = {}  # id of the tracer of a frame -> its code object, found once
    # Walk down the stack, comparing the code of each frame with the tracers of the frame below it.
    code_above = code
    while caller is not None:
        frame_tracer = caller.f_trace
        if id(frame_tracer) not in codes_by_frame_tracer:
            codes_by_frame_tracer[id(frame_tracer)] = _find_code_of_tracer(frame_tracer)
        possible_codes = [*codes_of_tracers, codes_by_frame_tracer[id(frame_tracer)]]
        if any(code_above is tracer_code for tracer_code in possible_codes):
            return True
        if id(caller) == id_of_run:
            break
        code_above = caller.f_code
        caller = caller.f_back
    return False


def _find_code_of_tracer(tracer) -> CodeType | None:
    """Return the code object that a call of a tracer runs; None for a tracer in C or for None."""
    function = None if tracer is None else find_called_function(tracer)
    return None if function is None else function.__code__


def find_codes_with_same_globals(function: FunctionType) -> list[CodeType]:
    """Return the code objects of all functions that have the same globals as `function`.

    Functions that do not exist yet are included: their code is a constant of an outer function's.
    """
    pending = [function.__code__]
    # The garbage collector knows also functions that no global refers to, such as those in lists.
    for candidate in gc.get_objects():
        if type(candidate) is FunctionType and candidate.__globals__ is function.__globals__:
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
    """Return arguments as text, such as `3, x=1, … 2 more`.

    Parameters
    ----------
    pairs : iterable of (str, object)
        Name and value of each argument; the name is "" for an argument without a keyword. Only the
        first `MOST_ARGUMENTS` are shown.
    count : int
        How many arguments there are.
    """
    parts = []
    for name, value in islice(pairs, MOST_ARGUMENTS):
        parts.append(f"{format_text(name)}={short_repr(value)}" if name else short_repr(value))
    if count > len(parts):
        parts.append(f"… {count - len(parts)} more")
    return ", ".join(parts)
