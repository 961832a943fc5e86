"""What was recorded of one call of a watched function -> its verdict, and the reasons for it."""

from typing import NamedTuple

from ...internals import compiled_functions, torch_private
from ...model.guard_failures import explain_failures
from ..text.error import describe_error
from .backend_failures import add_backend_failures
from .compiled_call_reasons import MARKED, NO_MORE, read_recompile_limit
from .dynamic_sizes import describe_dynamic_sizes
from .dynamo_messages import format_file_line, split_resume_name
from .frame_words import name_wrapped_callable, use_users_names
from .guard_failures import find_entries_for
from .lookup import MISSING

UNKNOWN = "unknown"
MOST_FRAMES = 3  # compiled for the first time in one call, named
NO_ENTRY = "there was no entry"
OTHER_BACKEND = "the guards hold, but the backend is different"
DISABLED = "torch.compiler.disable made this: Dynamo never compiles it"
NOT_ENTERED = "unknown: the call did not pass through what torch.compile made"
NOT_MEASURED = "unknown: this torch does not say whether compiled code ran"
OTHER_PART_RAN = "compiled code ran another part of this call"
WRAPPER_FILE = "external_utils.py"  # where torch wraps what it cannot start with


class CallVerdict(NamedTuple):
    """What became of a call."""

    #: compile, recompile, hit, eager, error or unknown
    word: str
    #: the reasons, in lines
    note: str


class CallJudge:
    """Decides what became of one call, from what a `WatchedCall` recorded."""

    def __init__(self, call):
        """Prepare to judge; `call` is a `WatchedCall` that has ended."""
        self._call = call
        self._watched = call.watched
        self._start = call.start

    def judge(self, error: BaseException | None) -> CallVerdict:
        """Return the verdict; `error` is what the call raised."""
        call = self._call
        if error is not None:
            if call.inner_calls is not None and call.inner_calls.why:
                # Called only because it stores the reason: the next call may be skipped for it.
                self._find_eager_reason()
            return CallVerdict("error", describe_error(error))
        if call.entry_ids_before is None:
            return CallVerdict(UNKNOWN, "")

        entries = find_entries_for(self._start)
        inner_reasons = self._list_inner_reasons()
        new = [entry for entry in entries if str(entry.compile_id) not in call.entry_ids_before]
        if new:
            return self._judge_new_entry(new[-1], inner_reasons)

        inner_frames = self._find_compiled_frames()
        if inner_frames:
            return self._judge_inner_frames(inner_frames, inner_reasons)
        return self._judge_without_compile(inner_reasons)

    def _list_inner_reasons(self) -> list[str]:
        """Return why other frames of the call were compiled again, such as resume functions."""
        return [
            f"{self._name_frame(code)}: {reason}"
            for code, reasons in self._call.recompiled
            for reason in reasons
            if code is not self._call.code
        ]

    def _find_compiled_frames(self) -> list:
        """Return torch's metrics of the frames that it compiled in the call."""
        before = self._call.compilations_before
        return [
            metrics
            for metrics in torch_private.compilations()
            # by identity, because metrics of equal compiles are equal
            if all(metrics is not earlier for earlier in before)
            and metrics.graph_op_count is not None
            and not metrics.fail_type
        ]

    def _judge_new_entry(self, entry, inner_reasons: list[str]) -> CallVerdict:
        """Return the verdict on a call for which Dynamo made an entry of the function itself."""
        dynamic = describe_dynamic_sizes(entry, self._start)
        if not self._call.entry_ids_before:
            return CallVerdict("compile", "\n".join((NO_ENTRY, *dynamic)))

        reasons = self._list_refusals(entry.backend) or [OTHER_BACKEND]
        return CallVerdict("recompile", "\n".join((*reasons, *inner_reasons, *dynamic)))

    def _judge_inner_frames(self, frames: list, inner_reasons: list[str]) -> CallVerdict:
        """Return the verdict on a call that compiled only resume functions, or functions called.

        The function itself has compiled earlier, or Dynamo leaves it to Python.
        """
        earlier = [row.verdict for row in self._watched._rows]
        has_compiled = self._call.entry_ids_before or "compile" in earlier
        if not has_compiled:  # other calls have compiled these frames: for this function it is new
            inner_reasons = []

        first_compiles = [
            f"{self._name_frame(metrics)}: {NO_ENTRY}"
            for metrics in frames
            if not (has_compiled and metrics.recompile_reason)
        ]
        different = [*dict.fromkeys(first_compiles)]
        note = "\n".join((*inner_reasons, *different[:MOST_FRAMES]))
        return CallVerdict("recompile" if inner_reasons else "compile", note)

    def _judge_without_compile(self, inner_reasons: list[str]) -> CallVerdict:
        """Return the verdict on a call for which Dynamo compiled nothing."""
        calls = self._call.inner_calls
        if calls is None or not (calls.measured or calls.why):
            return CallVerdict(UNKNOWN, NOT_MEASURED)
        if calls.ran and not calls.eager:
            return CallVerdict("hit", "")

        reason = self._find_eager_reason()
        refusals = self._list_refusals()
        if NO_MORE in reason:
            part = ""
            if not refusals and inner_reasons:
                part = " what is called"
            elif not refusals and calls.ran:
                part = " a part of it"
            reason = f"recompile_limit is {read_recompile_limit()}: plain Python ran{part}"
            refusals = refusals or inner_reasons
        elif calls.ran:
            refusals = [OTHER_PART_RAN, *refusals]
        return CallVerdict("eager", "\n".join((reason, *refusals)))

    def _list_refusals(self, backend=MISSING) -> list[str]:
        """Return in lines why each entry refused the call; `backend`: the call's, if known."""
        call = self._call
        reported = [reasons for code, reasons in call.recompiled if code is call.code]
        # Those of torch's own wrapper are about the entries of other modules, too.
        is_wrapper = self._start is not self._watched.compiled_function
        if reported and not is_wrapper:
            return self._use_users_names(reported[-1])

        failures = call.failures
        if failures and backend is not MISSING:
            failures = add_backend_failures(failures, call.backends, backend)
        return self._use_users_names(explain_failures(failures))

    def _find_eager_reason(self) -> str:
        """Return why plain Python ran: as Dynamo says it now, or said it in an earlier call.

        Dynamo says only once why it skips a code object, so the reason is kept for later calls.
        """
        watched = self._watched
        calls = self._call.inner_calls
        if not calls.total:
            return DISABLED if compiled_functions.is_disabled(watched._compiled) else NOT_ENTERED

        reason = next(iter(calls.why), "")
        says_nothing_new = reason.startswith((UNKNOWN, MARKED.partition("{")[0]))
        if says_nothing_new:
            return f"{reason}. {watched._skip_reason}" if watched._skip_reason else reason
        if reason.startswith("Dynamo"):
            watched._skip_reason = f"In call {len(watched._rows) + 1}: {reason}"
        return reason

    def _use_users_names(self, reasons) -> list[str]:
        """Return reasons in the names of what the user called, where torch put a wrapper around."""
        return [use_users_names(reason, self._start) for reason in reasons]

    def _name_frame(self, frame) -> str:
        """Return a function's name and place; `frame` is a code object, or torch's metrics of one.

        A resume function and torch's wrapper are named after the user's function.
        """
        users_code = self._watched.compiled_function.__code__
        users_place = (users_code.co_filename, users_code.co_firstlineno)
        name, resume_line = split_resume_name(frame.co_name)
        place = (frame.co_filename, resume_line or frame.co_firstlineno)

        if frame.co_filename.endswith(WRAPPER_FILE) or place == users_place:
            name = name_wrapped_callable(self._start) or users_code.co_name
            place = users_place
        if resume_line:
            name += ", resumed"
        return name + format_file_line(*place)
