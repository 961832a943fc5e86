"""Calls of compiled functions -> how many ran compiled code, how many plain Python, and why.

A compiled function is what `torch.compile` returns. One call of it may run several frames: the
function, the functions that it calls, and a resume function after each graph break. Torch reports
four things: that a call begins, whether an entry of Dynamo's cache accepts a frame, that Dynamo
compiled a frame, and that it skipped one. A frame whose code torch has marked to be skipped in an
earlier call is not reported at all. Whether such a frame ran is *unknown* here.
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
from .given_up import find_given_up, find_given_up_codes_named_by

MOST_REASONS = 4  # that a summary names


class RunningCall:
    """One call of a compiled function, and what was reported of it so far."""

    def __init__(self, fn, number: int, callback):
        """Begin a call.

        Parameters
        ----------
        fn : callable
            What was compiled.
        number : int
            Which call of `fn` this is, from 1.
        callback : callable, None or False
            What torch calls for each frame in this call. It is None where compiling is turned off,
            and False where torch may use cache entries but compile nothing new.
        """
        self.fn = fn
        self.number = number
        self.thread = threading.get_ident()
        self.may_not_compile = callback is False

        #: whether compiled code ran for one of the frames
        self.ran_compiled_code = False
        #: whether no cache entry accepted the latest frame, and torch has not yet reported what
        #: happened to this frame instead
        self.awaits_report = False
        #: whether such a report never came, so plain Python ran the frame
        self.has_unreported_frame = False
        #: whether torch refused to compile a frame: at the recompile limit, or after an error
        self.was_refused = False
        #: whether Dynamo skipped a frame, so plain Python ran it
        self.has_skipped_frame = False
        #: whether Dynamo failed to compile a frame, and skips its code from now on
        self.gave_up = False
        #: a sentence that names the code which torch has marked to be skipped; "" for none
        self.marked_code_sentence = ""
        #: sentences that say why plain Python ran, the first reported in front
        self.reasons: list[str] = [STANCE_OFF] if callback is None else []


@dataclass(frozen=True)
class FrameReport:
    """One frame that Dynamo compiled, or tried to."""

    #: torch's `CompilationMetrics`
    metrics: object
    #: the code object. Where it is not known, `metrics` again, which have the same attributes
    #: `co_name`, `co_filename` and `co_firstlineno`
    code: object
    #: the frame's locals by name
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
    """Ignore a report: the default of `CompiledCalls`, for callers that want the counts only."""


class CompiledCalls:
    """Counts the calls of compiled functions in a block, in any thread, by what ran in them.

    `_start`, `_look_up`, `_compile`, `_refuse` and `_skip` receive what torch reports. They run in
    the middle of the user's call, so an error in them is not raised but kept in the `Bookkeeping`.
    """

    def __init__(
        self,
        book: Bookkeeping,
        on_report: Callable[[FrameReport], None] = _ignore_report,
    ):
        """Begin to count.

        `on_report` is called with each `FrameReport`, after the call that it belongs to is updated.
        """
        self.call_count = 0  # calls that have begun
        # The next four count calls that have ended. A call may be in the first and in the second.
        self.compiled_count = 0  # compiled code ran
        self.plain_count = 0  # plain Python ran all or a part
        self.failed_count = 0  # Dynamo raised
        self.unknown_count = 0  # plain Python may have run a part
        self.counts_by_reason: Counter[str] = Counter()  # why plain Python ran -> number of calls
        self.is_measured = False  # whether this torch reports if a cache entry accepts a frame

        self._book = book
        self._on_report = on_report
        # These two are weak, so that a user's function does not live longer because of them.
        self._call_counts = weakref.WeakKeyDictionary()  # compiled function -> calls begun
        self._earlier_reasons = weakref.WeakKeyDictionary()  # compiled function -> a reason
        # id of the frame of torch's wrapper around the compiled function -> the call in that frame
        self._running: dict[int, RunningCall] = {}
        self._given_up: list[CodeType] = []  # code that Dynamo failed to compile, and now skips
        # Names of functions that Dynamo skips without a report. A dict, to keep their order.
        self._not_reported: dict[str, None] = {}

    @contextmanager
    def recording(self) -> Iterator["CompiledCalls"]:
        """Record calls of compiled functions in the block, and count them when they end.

        A call that still runs at the end of the block is counted there.
        """
        errors = self._book.lost  # an error in a method that receives a report is added here
        self._given_up = self._book.attempt(find_given_up, default=[])
        with (
            dynamo_reports.report_compiled_calls(self._start, errors),
            dynamo_reports.report_skipped_frames(self._skip, errors),
            dynamo_reports.report_refused_recompiles(self._refuse, errors),
            dynamo_reports.report_compilations(self._compile, errors),
            dynamo_reports.report_cache_lookups(self._look_up, errors) as self.is_measured,
        ):
            try:
                yield self
            finally:
                for frame_id in list(self._running):
                    self._book.attempt(self._end, frame_id)

    def current(self) -> RunningCall | None:
        """Return the innermost recorded call of a compiled function in this thread, or None."""
        frame = compiled_calls_under_way.find_wrapper_frame()
        if frame is None:
            return None
        return self._running.get(id(frame))

    def _start(self, fn, frame: FrameType, callback) -> None:
        """Note that a call of `fn` begins, and count the calls that have ended meanwhile.

        Torch does not report the end of a call. A call has ended when its frame is no longer on the
        stack of its thread, or when a new frame has the same id.

        Parameters
        ----------
        fn : callable
            What was compiled.
        frame : frame
            The frame of torch's wrapper around `fn`.
        callback : callable, None or False
            What torch calls for each frame in this call, as in `RunningCall`.
        """
        frame_ids_on_stack = {
            id(wrapper_frame) for wrapper_frame in compiled_calls_under_way.list_wrapper_frames()
        }
        for frame_id, call in list(self._running.items()):
            # Only the stack of this thread can be seen, so only its calls are known to be over.
            is_of_this_thread = call.thread == threading.get_ident()
            is_over = is_of_this_thread and frame_id not in frame_ids_on_stack
            if is_over or frame_id == id(frame):
                self._end(frame_id)

        number = self._call_counts.get(fn, 0) + 1
        self._call_counts[fn] = number
        self.call_count += 1
        self._running[id(frame)] = RunningCall(fn, number, callback)

    def _look_up(self, is_hit: bool) -> None:
        """Note that torch has looked for a frame in the cache: `is_hit` if an entry accepts it."""
        call = self.current()
        if call is None:
            return
        # A new frame begins. If the frame before it still awaits a report, none will come.
        if call.awaits_report:
            call.has_unreported_frame = True
        call.awaits_report = not is_hit
        if is_hit:
            call.ran_compiled_code = True

    def _compile(self, metrics) -> None:
        """Note a frame that Dynamo compiled, or tried to; `metrics` is torch's record of that."""
        # The locals of torch's function that compiles: `code`, `locals` and `guarded_code`.
        compile_locals, caller = compiled_calls_under_way.find_frame_being_compiled()
        # Torch reports the recompile limit in one of two ways: by metrics without the name of a
        # function, or by the reason of a failure.
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
        """Note what Dynamo did with a frame in the call that the frame belongs to."""
        call = report.call
        metrics = report.metrics
        function = describe_frame(report.code, report.frame_locals)
        call.awaits_report = False

        if report.at_limit:
            call.was_refused = True
            limit = read_recompile_limit()
            call.reasons.append(f"{NO_MORE} (recompile_limit is {limit}): {function}")
        elif metrics.fail_type:  # Dynamo failed with an error
            call.was_refused = True
            call.gave_up = True
            call.reasons.append(f"Dynamo gave up {function}: {describe_failure(metrics)}")
        elif metrics.graph_op_count is not None:  # Dynamo made a graph, and its new code runs now
            call.ran_compiled_code = True
        else:
            call.reasons.append(f"{NOTHING_TO_COMPILE} {function}")

    def _refuse(self, code: CodeType) -> None:
        """Note that torch raises an error instead of compiling a frame of this code again.

        Torch does this under `set_stance("fail_on_recompile")`.
        """
        call = self.current()
        if call is None:
            return
        call.awaits_report = False
        call.was_refused = True
        call.reasons.append(f"{STANCE_RAISES}: {describe_code(code)}")

    def _skip(self, code: CodeType, reason: str, is_start: bool) -> None:
        """Note that Dynamo leaves a frame to Python, and torch's `reason` for it.

        `is_start` says whether the compiled call begins with this frame. For any other frame the
        reason is not noted. Its caller is not known, so the reason may have nothing to do with the
        compiled function.
        """
        call = self.current()
        if call is None:
            return
        call.awaits_report = False
        call.has_skipped_frame = True
        if is_start:
            reason = " ".join(clean_message(reason).split())
            call.reasons.append(f"Dynamo skipped {describe_code(code)}: {reason}")

    def _end(self, frame_id: int) -> None:
        """Count a call that is over by what ran in it; `frame_id` is its key in `_running`."""
        call = self._running.pop(frame_id)
        if call.awaits_report:  # the call is over, so no report will come
            call.has_unreported_frame = True
        if call.ran_compiled_code:
            self.compiled_count += 1

        # Torch refused to compile a frame, and no frame ran, in Python or compiled. So Dynamo
        # raised an error.
        has_run_nothing = not call.ran_compiled_code and not call.has_skipped_frame
        if call.was_refused and has_run_nothing:
            self.failed_count += 1
        elif self._ran_plain_python(call):
            self.plain_count += 1
            self.counts_by_reason[self._find_reason(call)] += 1
        else:
            # Plain Python runs code that Dynamo has given up, and torch reports nothing. A call
            # that may run such code is counted as unknown.
            unreported_codes = find_given_up_codes_named_by(call.fn, self._given_up)
            if unreported_codes:
                self.unknown_count += 1
                self._not_reported |= dict.fromkeys(map(describe_code, unreported_codes))

        if call.gave_up:  # the list of such code has grown
            self._given_up = find_given_up()

    def _ran_plain_python(self, call: RunningCall) -> bool:
        """Return whether plain Python ran all or a part of a call.

        Torch may have marked the function's code to be skipped, and then reports nothing of it. If
        such a mark is the only sign of plain Python, `call.marked_code_sentence` is set.
        """
        if call.has_unreported_frame or call.was_refused or not call.ran_compiled_code:
            return True
        call.marked_code_sentence = self._book.attempt(
            describe_marked_code, call.fn, True, default=""
        )
        return bool(call.marked_code_sentence)

    def _find_reason(self, call: RunningCall) -> str:
        """Return a sentence that says why plain Python ran in a call.

        There are three sources, in this order: what torch reported during the call, what torch's
        settings and marks show now, and that the reason is unknown. The last two are followed by
        the reason of an earlier call of the same function, if there was one.
        """
        # Where compiled code ran too, a reported reason may be that of another frame.
        explains_call = call.was_refused or call.marked_code_sentence or not call.ran_compiled_code
        if call.reasons and explains_call:
            self._earlier_reasons[call.fn] = call.reasons[0]
            return call.reasons[0]

        # No cache entry accepted a frame, and Dynamo did not try to compile that frame.
        if call.has_unreported_frame or call.awaits_report or call.was_refused:
            if call.may_not_compile:
                return STANCE_KEPT
            return f"{NO_MORE} (recompile_limit is {read_recompile_limit()})"

        marked_code_sentence = call.marked_code_sentence or self._book.attempt(
            describe_marked_code, call.fn
        )
        reason = marked_code_sentence or NOT_LOOKED_AT
        if compiled_functions.is_inline_wrapper(getattr(call.fn, "__code__", None)):
            reason += SHARED_WRAPPER

        earlier_reason = self._earlier_reasons.get(call.fn)
        if earlier_reason is None:
            return reason
        return EARLIER.format(reason, earlier_reason)

    def summary(self) -> str:
        """Return in words how many calls ran compiled code, how many plain Python, and why."""
        if not self.call_count:
            return NO_CALL
        subject = f"{format_count(self.call_count, 'call')} of compiled functions: "
        if not self.is_measured:
            return subject + "unknown which of them ran compiled code, as this torch does not say."

        compiled_count = f"{self.compiled_count:,}" if self.compiled_count else "none"
        clauses = [f"compiled code ran in {compiled_count}"]
        if self.plain_count:
            clauses.append(f"plain Python ran all or a part of {self.plain_count:,}")
        if self.failed_count:
            clauses.append(f"Dynamo raised an error in {self.failed_count:,}")
        if self.unknown_count:
            functions = format_names([*self._not_reported], MOST_REASONS)
            clauses.append(f"{NOT_REPORTED.format(functions)} {self.unknown_count:,}")

        sentence = f"{subject}{', '.join(clauses)}."
        reasons = [
            f"{reason} ({count:,}×)" for reason, count in self.counts_by_reason.most_common()
        ]
        if not reasons:
            return sentence
        return f"{sentence} Because: {format_names(reasons, MOST_REASONS)}."
