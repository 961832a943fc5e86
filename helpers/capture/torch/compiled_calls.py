"""Calls of what `torch.compile` made -> in which of them compiled code ran, and why in others not.

torch's wrapper around a compiled function says when a call begins, and its cache says of each frame
whether an entry accepts it. Dynamo's own words say why it leaves a frame to Python. A frame that
Dynamo was told in an earlier call to skip is not announced at all: that is *unknown* here.
"""

import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType, FrameType

from ...internals import compiled_calls_under_way, compiled_functions, dynamo_reports
from ...model.phrase import format_count, format_names
from ...safety.bookkeeping import Bookkeeping
from .compiled_call_reasons import (
    EARLIER,
    NO_CALL,
    NO_MORE,
    NOT_LOOKED_AT,
    NOT_REPORTED,
    NOTHING_TO_COMPILE,
    SHARED_WRAPPER,
    STANCE_KEPT,
    STANCE_OFF,
    STANCE_RAISES,
    describe_failure,
    describe_marked_code,
    read_recompile_limit,
)
from .dynamo_messages import clean_message
from .frame_words import describe_code, describe_frame
from .given_up import find_given_up, find_reached

MOST_REASONS = 4  # that a summary names


class RunningCall:
    """One call of a compiled function, and what was reported of it so far."""

    def __init__(self, fn, number: int, callback):
        """Begin a call.

        `fn`: what was compiled. `number`: which call of it this is, from 1. `callback`: what torch
        asks for frames in this call: None where compiling is turned off, False where torch only
        looks for entries.
        """
        self.fn = fn
        self.number = number
        self.thread = threading.get_ident()
        self.only_looks_up = callback is False

        self.ran = False  # whether an entry accepted a frame, so compiled code ran
        self.is_pending = False  # whether no entry accepted a frame, and no more was reported of it
        self.left_to_python = False  # whether such a frame stayed without a report
        self.refused = False  # whether torch did not compile a frame that it might have
        self.skipped = False  # whether Dynamo left a frame to Python
        self.gave_up = False  # whether Dynamo failed to compile a frame, and skips it from now on
        self.marked = ""  # in words: the code that torch has marked to be skipped
        self.reasons: list[str] = [STANCE_OFF] if callback is None else []


@dataclass(frozen=True)
class FrameReport:
    """One frame that Dynamo compiled, or tried to."""

    #: torch's `CompilationMetrics`
    metrics: object
    #: the code object; the metrics themselves where it is not known, which have its name and place
    code: object
    #: the frame's locals
    frame_locals: dict
    #: torch's `GuardedCode` if there is a new entry, else None
    guarded_code: object
    #: the user's frame that called the compiled function, if known
    caller: FrameType | None
    #: the call of a compiled function in which this happened, if known
    call: RunningCall | None
    #: whether the function has as many entries as torch allows
    at_limit: bool


def _ignore_report(report: FrameReport) -> None:
    """Do nothing with a report."""


class CompiledCalls:
    """Counts the calls of compiled functions in a block, in any thread, by what ran in them.

    The methods with an underscore that take what torch reports are called by `torch_private`, in
    the middle of the user's call. Errors in them are kept in the `Bookkeeping`.
    """

    def __init__(
        self,
        book: Bookkeeping,
        on_report: Callable[[FrameReport], None] = _ignore_report,
    ):
        """Begin to count.

        `on_report` is called with each `FrameReport`, after the call that it belongs to is updated.
        """
        self.total = 0
        # The next four are numbers of calls that have ended.
        self.ran = 0  # in which compiled code ran
        self.eager = 0  # in which plain Python ran all or a part
        self.failed = 0  # in which Dynamo raised
        self.unknown = 0  # in which plain Python may have run a part
        self.why: Counter[str] = Counter()  # reason -> calls with plain Python for it
        self.measured = False  # whether this torch says if an entry accepts a frame

        self._book = book
        self._on_report = on_report
        # What was compiled -> how many calls of it began, and the reason that an earlier call had.
        # Weak, because a user's function must not live longer on account of this.
        self._call_counts = weakref.WeakKeyDictionary()
        self._earlier_reasons = weakref.WeakKeyDictionary()
        self._running: dict[int, RunningCall] = {}  # by id of the frame of torch's wrapper
        self._given_up: list[CodeType] = []  # that Dynamo gave up, and skips since then
        self._not_reported: dict[str, None] = {}  # functions that Dynamo skips without a report

    @contextmanager
    def hearing(self) -> Iterator["CompiledCalls"]:
        """Record calls, look-ups and skipped frames in the block."""
        errors = self._book.lost
        self._given_up = self._book.attempt(find_given_up, default=[])
        with (
            dynamo_reports.report_compiled_calls(self._start, errors),
            dynamo_reports.report_skipped_frames(self._skip, errors),
            dynamo_reports.report_refused_recompiles(self._refuse, errors),
            dynamo_reports.report_compilations(self._compile, errors),
            dynamo_reports.report_cache_lookups(self._look_up, errors) as self.measured,
        ):
            try:
                yield self
            finally:
                for frame_id in list(self._running):
                    self._book.attempt(self._end, frame_id)

    def current(self) -> RunningCall | None:
        """Return the innermost call that this thread is in."""
        frame = compiled_calls_under_way.find_wrapper_frame()
        if frame is None:
            return None
        return self._running.get(id(frame))

    def _start(self, fn, frame: FrameType, callback) -> None:
        """Note that a call begins; `frame` is that of torch's wrapper, `callback` what it asks.

        Torch does not say when a call ends. It has ended when its frame is off the stack, or when
        the frame's id is used again.
        """
        frame_ids = {id(wrapper) for wrapper in compiled_calls_under_way.list_wrapper_frames()}
        for frame_id, call in list(self._running.items()):
            is_over = call.thread == threading.get_ident() and frame_id not in frame_ids
            if is_over or frame_id == id(frame):
                self._end(frame_id)

        number = self._call_counts.get(fn, 0) + 1
        self._call_counts[fn] = number
        self.total += 1
        self._running[id(frame)] = RunningCall(fn, number, callback)

    def _look_up(self, is_hit: bool) -> None:
        """Note for a frame whether an entry accepts it."""
        call = self.current()
        if call is None:
            return
        # a further frame begins, so nothing is reported any more of one that waited for a report
        if call.is_pending:
            call.left_to_python = True
        call.is_pending = not is_hit
        if is_hit:
            call.ran = True

    def _compile(self, metrics) -> None:
        """Note what Dynamo says of a frame that it compiled, or tried to."""
        compile_locals, caller = compiled_calls_under_way.find_frame_being_compiled()
        # torch has two ways of saying it: metrics without a name, and the reason of a failure
        has_no_name = not metrics.co_name and metrics.recompile_reason
        is_exceeded = "recompile limit exceeded" in str(metrics.fail_reason)
        report = FrameReport(
            metrics=metrics,
            code=compile_locals.get("code", metrics),
            frame_locals=compile_locals.get("locals") or {},
            guarded_code=compile_locals.get("guarded_code"),
            caller=caller,
            call=self.current(),
            at_limit=bool(has_no_name or is_exceeded),
        )
        if report.call is not None:
            self._update_call(report)
        self._on_report(report)

    def _update_call(self, report: FrameReport) -> None:
        """Note in a call what Dynamo did with a frame of it."""
        call = report.call
        metrics = report.metrics
        function = describe_frame(report.code, report.frame_locals)
        call.is_pending = False

        if report.at_limit:
            call.refused = True
            limit = read_recompile_limit()
            call.reasons.append(f"{NO_MORE} (recompile_limit is {limit}): {function}")
        elif metrics.fail_type:
            call.refused = True
            call.gave_up = True
            call.reasons.append(f"Dynamo gave up {function}: {describe_failure(metrics)}")
        elif metrics.graph_op_count is not None:
            call.ran = True
        else:
            call.reasons.append(f"{NOTHING_TO_COMPILE} {function}")

    def _refuse(self, code: CodeType) -> None:
        """Note that torch raises in place of compiling a frame."""
        call = self.current()
        if call is None:
            return
        call.is_pending = False
        call.refused = True
        call.reasons.append(f"{STANCE_RAISES}: {describe_code(code)}")

    def _skip(self, code: CodeType, reason: str, is_start: bool) -> None:
        """Note that Dynamo leaves a frame to Python, and torch's `reason` for it.

        `is_start` says whether the compiled call begins with this frame. Of any other frame the
        reason is not noted: who called it is not known, so it says nothing about the call.
        """
        call = self.current()
        if call is None:
            return
        call.is_pending = False
        call.skipped = True
        if is_start:
            reason = " ".join(clean_message(reason).split())
            call.reasons.append(f"Dynamo skipped {describe_code(code)}: {reason}")

    def _end(self, frame_id: int) -> None:
        """Count a call by what ran in it; `frame_id` is the key of the call in `_running`."""
        call = self._running.pop(frame_id)
        if call.is_pending:  # no report will come any more
            call.left_to_python = True
        if call.ran:
            self.ran += 1

        # Dynamo refused a frame, and nothing else ran, in Python or compiled: so it raised.
        if call.refused and not call.ran and not call.skipped:
            self.failed += 1
        elif self._ran_plain_python(call):
            self.eager += 1
            self.why[self._find_reason(call)] += 1
        else:
            # Code that Dynamo has given up runs without any report: the call may have run it.
            reached = find_reached(call.fn, self._given_up)
            if reached:
                self.unknown += 1
                self._not_reported |= dict.fromkeys(map(describe_code, reached))

        if call.gave_up:
            self._given_up = find_given_up()

    def _ran_plain_python(self, call: RunningCall) -> bool:
        """Return whether plain Python ran all or a part of a call.

        Torch may have marked code to be skipped, which it does not report. If only that shows that
        Python ran, the call's `marked` is set.
        """
        if call.left_to_python or call.refused or not call.ran:
            return True
        call.marked = self._book.attempt(describe_marked_code, call.fn, True, default="")
        return bool(call.marked)

    def _find_reason(self, call: RunningCall) -> str:
        """Return why plain Python ran in a call.

        This is what was reported in the call, else what torch's settings and marks show, else that
        it is unknown, with the reason of an earlier call of the same function.
        """
        has_reason = call.reasons and (call.refused or call.marked or not call.ran)
        if has_reason:
            self._earlier_reasons[call.fn] = call.reasons[0]
            return call.reasons[0]

        if call.left_to_python or call.is_pending or call.refused:
            if call.only_looks_up:
                return STANCE_KEPT
            return f"{NO_MORE} (recompile_limit is {read_recompile_limit()})"

        marked = call.marked or self._book.attempt(describe_marked_code, call.fn)
        reason = marked or NOT_LOOKED_AT
        if compiled_functions.is_inline_wrapper(getattr(call.fn, "__code__", None)):
            reason += SHARED_WRAPPER

        earlier = self._earlier_reasons.get(call.fn)
        return reason if earlier is None else EARLIER.format(reason, earlier)

    def summary(self) -> str:
        """Return how many calls ran compiled code, how many plain Python, and why."""
        if not self.total:
            return NO_CALL
        calls = f"{format_count(self.total, 'call')} of compiled functions: "
        if not self.measured:
            return calls + "unknown which of them ran compiled code, as this torch does not say."

        ran = f"{self.ran:,}" if self.ran else "none"
        parts = [f"compiled code ran in {ran}"]
        if self.eager:
            parts.append(f"plain Python ran all or a part of {self.eager:,}")
        if self.failed:
            parts.append(f"Dynamo raised an error in {self.failed:,}")
        if self.unknown:
            functions = format_names([*self._not_reported], MOST_REASONS)
            parts.append(f"{NOT_REPORTED.format(functions)} {self.unknown:,}")

        reasons = [f"{reason} ({count:,}×)" for reason, count in self.why.most_common()]
        sentence = f"{calls}{', '.join(parts)}."
        return (
            f"{sentence} Because: {format_names(reasons, MOST_REASONS)}." if reasons else sentence
        )
