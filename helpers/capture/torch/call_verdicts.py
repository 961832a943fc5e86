"""What was recorded of one call of a watched function -> its verdict, and the reasons for it.

The verdict is `compile` if Dynamo compiled the function for the first time, `recompile` if it
compiled it again, `hit` if it used compiled code from its cache, and `eager` if plain Python ran.
"""

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
    """Whether one call was compiled, and why."""

    #: compile, recompile, hit, eager, error or unknown
    word: str
    #: the reasons, one a line; "" where nothing is to be said
    note: str


class CallJudge:
    """Decides the verdict on one call, from what a `WatchedCall` recorded."""

    def __init__(self, call):
        """Prepare to judge; `call` is a `WatchedCall` that has ended."""
        self._call = call
        self._watched = call.watched  # the `WatchedFunction`
        self._start = call.start  # the function that Dynamo starts with

    def judge(self, error: BaseException | None) -> CallVerdict:
        """Return the verdict; `error` is what the call raised, or None."""
        call = self._call
        if error is not None:
            if call.inner_calls is not None and call.inner_calls.counts_by_reason:
                # The result is not used. This stores the reason for later calls, which Dynamo may
                # skip for the same reason without saying so.
                self._find_eager_reason()
            return CallVerdict("error", describe_error(error))
        if call.entry_ids_before is None:  # the cache could not be read
            return CallVerdict(UNKNOWN, "")

        entries = find_entries_for(self._start)
        inner_reasons = self._list_inner_reasons()
        new_entries = [
            entry for entry in entries if str(entry.compile_id) not in call.entry_ids_before
        ]
        if new_entries:
            return self._judge_new_entry(new_entries[-1], inner_reasons)

        # The function has no new entry, but a resume function or a function that it called may.
        metrics_of_frames = self._list_compiled_frames()
        if metrics_of_frames:
            return self._judge_inner_frames(metrics_of_frames, inner_reasons)
        return self._judge_without_compile(inner_reasons)

    def _list_inner_reasons(self) -> list[str]:
        """Return lines that say why Dynamo compiled other frames of the call again.

        Other frames are those of resume functions, and of functions that the function called.
        """
        lines = []
        for code, reasons in self._call.recompiled:
            if code is self._call.code:  # the function itself, for which `_list_refusals` tells why
                continue
            frame_name = self._name_frame(code)
            lines += [f"{frame_name}: {reason}" for reason in reasons]
        return lines

    def _list_compiled_frames(self) -> list:
        """Return torch's metrics of each frame that Dynamo compiled to a graph in the call."""
        metrics_before = self._call.compilations_before
        return [
            metrics
            for metrics in torch_private.compilations()
            # by identity, because metrics of equal compiles are equal
            if all(metrics is not earlier for earlier in metrics_before)
            and metrics.graph_op_count is not None  # None: there was no op to compile
            and not metrics.fail_type
        ]

    def _judge_new_entry(self, entry, inner_reasons: list[str]) -> CallVerdict:
        """Return the verdict on a call for which Dynamo made a cache entry of the function itself.

        `entry` is the new entry. `inner_reasons` say why other frames were compiled again.
        """
        size_sentences = describe_dynamic_sizes(entry, self._start)
        if not self._call.entry_ids_before:
            return CallVerdict("compile", "\n".join((NO_ENTRY, *size_sentences)))

        # If no guard of the earlier entries refuses the call, only the backend is left as a reason.
        reasons = self._list_refusals(entry.backend) or [OTHER_BACKEND]
        return CallVerdict("recompile", "\n".join((*reasons, *inner_reasons, *size_sentences)))

    def _judge_inner_frames(self, metrics_of_frames: list, inner_reasons: list[str]) -> CallVerdict:
        """Return the verdict on a call in which Dynamo compiled only other frames.

        These are resume functions of the function, or functions that it called. Dynamo compiled the
        function itself in an earlier call, or leaves it to Python.

        Parameters
        ----------
        metrics_of_frames : list
            Torch's metrics of each compiled frame.
        inner_reasons : list of str
            Why those that have been compiled before were compiled again.
        """
        earlier_verdicts = [row.verdict for row in self._watched._rows]
        has_compiled = self._call.entry_ids_before or "compile" in earlier_verdicts
        if not has_compiled:
            # This function compiles for the first time. The earlier compiles of these frames came
            # from other callers, so they make no recompile of this function.
            inner_reasons = []

        first_compiles = [
            f"{self._name_frame(metrics)}: {NO_ENTRY}"
            for metrics in metrics_of_frames
            if not (has_compiled and metrics.recompile_reason)
        ]
        different_lines = [*dict.fromkeys(first_compiles)]
        note = "\n".join((*inner_reasons, *different_lines[:MOST_FRAMES]))
        return CallVerdict("recompile" if inner_reasons else "compile", note)

    def _judge_without_compile(self, inner_reasons: list[str]) -> CallVerdict:
        """Return the verdict on a call for which Dynamo compiled nothing: hit, eager or unknown.

        `inner_reasons` are lines on other frames of the call that no cache entry accepts.
        """
        calls = self._call.inner_calls
        if calls is None or not (calls.is_measured or calls.counts_by_reason):
            return CallVerdict(UNKNOWN, NOT_MEASURED)
        if calls.compiled_count and not calls.plain_count:
            return CallVerdict("hit", "")

        reason = self._find_eager_reason()
        refusals = self._list_refusals()
        if NO_MORE in reason:  # the recompile limit is reached
            # If the entries of the function itself accept the call, another frame is at the limit.
            plain_part = ""
            if not refusals and inner_reasons:
                plain_part = " what is called"
            elif not refusals and calls.compiled_count:
                plain_part = " a part of it"
            reason = f"recompile_limit is {read_recompile_limit()}: plain Python ran{plain_part}"
            refusals = refusals or inner_reasons
        elif calls.compiled_count:
            refusals = [OTHER_PART_RAN, *refusals]
        return CallVerdict("eager", "\n".join((reason, *refusals)))

    def _list_refusals(self, backend=MISSING) -> list[str]:
        """Return lines that say why each cache entry of the function refused the call.

        `backend` is the backend of the call, or MISSING if it is not known.
        """
        call = self._call
        reported_reasons = [reasons for code, reasons in call.recompiled if code is call.code]
        # If Dynamo starts with torch's own wrapper, the reasons are also about entries that belong
        # to other callables, because all wrappers share one cache. Then they are not used.
        is_wrapper = self._start is not self._watched.compiled_function
        if reported_reasons and not is_wrapper:
            return self._use_users_names(reported_reasons[-1])

        failures = call.failures
        if failures and backend is not MISSING:
            failures = add_backend_failures(failures, call.backends, backend)
        return self._use_users_names(explain_failures(failures))

    def _find_eager_reason(self) -> str:
        """Return a sentence that says why plain Python ran all or a part of the call.

        Dynamo says only once why it skips a code object. So the sentence is stored in
        `watched._skip_reason`, and later calls repeat it.
        """
        watched = self._watched
        calls = self._call.inner_calls
        if not calls.call_count:  # the call did not enter a compiled function
            return DISABLED if compiled_functions.is_disabled(watched._compiled) else NOT_ENTERED

        reason = next(iter(calls.counts_by_reason), "")
        # Such a sentence says that Dynamo did not look at the code, but not why.
        says_nothing_new = reason.startswith((UNKNOWN, MARKED.partition("{")[0]))
        if says_nothing_new:
            return f"{reason}. {watched._skip_reason}" if watched._skip_reason else reason
        if reason.startswith("Dynamo"):  # Dynamo's own words, which it will not repeat
            watched._skip_reason = f"In call {len(watched._rows) + 1}: {reason}"
        return reason

    def _use_users_names(self, reasons) -> list[str]:
        """Return the reasons with the user's names for arguments instead of `args[0]` and `fn`.

        Those are the names in torch's own wrapper. Without a wrapper, nothing changes.
        """
        return [use_users_names(reason, self._start) for reason in reasons]

    def _name_frame(self, frame) -> str:
        """Return a function's name and place, such as `step, resumed (train.py:12)`.

        A resume function and torch's own wrapper get the name of the user's function. `frame` is a
        code object, or torch's metrics of a frame, which have attributes of the same names.
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
