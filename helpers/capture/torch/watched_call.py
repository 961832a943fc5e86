"""One call of a watched function -> a row of the ledger, such as `float32 [3]`, `recompile`.

The call is recorded in two steps. `WatchedCall.begin` runs before the call and notes Dynamo's cache
entries and the guards that fail. `WatchedCall.end` runs after it and adds the row.
"""

import logging
from contextlib import contextmanager

from ...internals import dynamo_codes, dynamo_reports, dynamo_settings, torch_private
from ...mini import frame_hook
from ...model.compile_records import TONES, CompileEntry
from ...model.phrase import clip_text
from ...model.tables import Verdict
from ...safety.arguments import real_type_name
from ...safety.bookkeeping import Bookkeeping
from ..text import tensors
from ..text.error import describe_error
from ..text.value import short_repr
from .call_verdicts import UNKNOWN, CallJudge, CallVerdict
from .compiled_calls import CompiledCalls
from .compiled_function import add_bound_arguments
from .frame_arguments import bind_frame_locals
from .guard_failures import explain_recompile, find_entries_for, list_failures
from .guard_side_effects import would_run_users_code

LOGGER = logging.getLogger("torch._dynamo.convert_frame")
LONGEST = 120  # characters of the arguments in a row
RECORDING_FAILED = "unknown: noting what Dynamo did failed ({}), so something may be missing here"
FATAL_CALL = (
    "torch's guards crash the process on a nested tensor of this layout; use layout=torch.jagged"
)


class WatchedCall:
    """One call of a `WatchedFunction`, which calls `begin` before it and `end` after it.

    Neither method raises. An error of ours is kept in `book`, and the user's call goes on.
    """

    def __init__(self, watched):
        """Begin with nothing recorded; `watched` is the `WatchedFunction`."""
        self.watched = watched
        self.start = watched._start  # the Python function whose frame Dynamo compiles first
        self.code = self.start.__code__
        self.book = Bookkeeping()

        # What is recorded before the call. An entry is a compiled version of `code` in Dynamo's
        # cache, with guards that decide whether it accepts a call.
        self.is_fatal = False  # whether torch would crash the process in this call
        self.arguments_text = UNKNOWN
        self.entry_ids_before: set[str] | None = None  # compile ids; None where reading failed
        self.failures: list = []  # the guards that each entry failed, as `Failure`s
        self.backends: list = []  # for each entry, the backend that it was compiled with
        self.compilations_before: list = []  # torch's metrics of earlier compiles

        # What is recorded during the call.
        # (code object, reasons) of each frame that Dynamo compiled again
        self.recompiled: list = []
        # What torch reported of this call, and of calls of compiled functions inside it. It is None
        # where recording failed.
        self.inner_calls: CompiledCalls | None = None

    def begin(self, args: tuple, kwargs: dict) -> None:
        """Record what there is before the call, and begin to record what Dynamo does.

        `book.attempt(f, *args, default=…)` returns `f(*args)`, or the default if that raises.
        """
        book = self.book
        self.is_fatal = book.attempt(_has_fatal_tensor, args, kwargs, default=False)
        self.arguments_text = book.attempt(_format_call_arguments, args, kwargs, default=UNKNOWN)
        book.attempt(self._ask_guards, args, kwargs)
        self.compilations_before = book.attempt(_list_compilations, default=[])

        # `book.open` enters a block, which stays open during the call; `end` closes all of them.
        if self.watched._sizes is not None:  # `watched` is a copy with a record of sizes of its own
            book.open(dynamo_codes.use_own_sizes, self.code, self.watched._sizes)
            # A progress bar of torch would start a thread that outlives the call.
            book.open(dynamo_settings.start_no_bar_monitor)
        book.open(_without_log_of_limit)
        # In this block a deep recursion raises RecursionError. With torch's frame evaluator alone,
        # it would crash the process.
        book.open(frame_hook.check_c_stack)
        # `explain_recompile` is called for each frame that Dynamo compiles again.
        self.recompiled = book.open(
            dynamo_reports.collect_recompile_reasons, explain_recompile, book.lost, default=[]
        )
        self.inner_calls = book.attempt(CompiledCalls, book)
        if self.inner_calls is not None:
            book.open(self.inner_calls.recording)

    def end(self, error: BaseException | None = None) -> None:
        """Stop recording, and add a row to the ledger; `error` is what the call raised, or None."""
        book = self.book
        book.close()

        verdict = book.attempt(self._judge, error, default=CallVerdict(UNKNOWN, ""))
        word = verdict.word
        note = verdict.note
        if book.lost:  # errors of ours, so some record of this call may be missing
            first_error = book.lost[0]
            error_name = type(first_error).__name__
            message = book.attempt(describe_error, first_error, default=error_name)
            note = f"{note}\n{RECORDING_FAILED.format(message)}".strip()
            # If the call raised, the verdict is "error", which is true all the same.
            if error is None:
                word = UNKNOWN

        rows = self.watched._rows
        verdicts = Verdict(self.arguments_text), Verdict(word, TONES.get(word, "plain"))
        rows.append(CompileEntry(str(len(rows) + 1), verdicts, note))

    def _judge(self, error: BaseException | None) -> CallVerdict:
        """Return whether the call compiled, and why; `error` is what the call raised, or None."""
        return CallJudge(self).judge(error)

    def _ask_guards(self, args: tuple, kwargs: dict) -> None:
        """Record the cache entries before the call, and the guards of each that the call fails.

        `failures` stays empty in three cases: an entry accepts the call, the arguments do not fit
        the function, or a check of the guards would run a method of the user's.
        """
        entries = find_entries_for(self.start)
        self.entry_ids_before = {str(entry.compile_id) for entry in entries}
        if not entries:
            return

        try:
            # A method gets its object, and a partial adds what it supplies.
            frame_args, frame_kwargs = add_bound_arguments(
                self.watched.compiled_from, args, kwargs, self.start
            )
            frame_locals = bind_frame_locals(self.start, frame_args, frame_kwargs)
        except TypeError:  # the call itself will raise it
            return

        frame_globals = self.start.__globals__
        scope = {"L": frame_locals, "G": frame_globals}
        if any(would_run_users_code(entry, scope) for entry in entries):
            return

        # Every entry is asked in C++ first, because to read the guards in Python takes much longer.
        is_hit = any(
            entry.guard_manager.root.check_verbose(frame_locals).result for entry in entries
        )
        if not is_hit:
            self.failures = list_failures(entries, frame_globals, frame_locals)
        self.backends = [entry.backend for entry in entries]


def _list_compilations() -> list:
    """Return torch's metrics of the latest compiles."""
    return [*torch_private.compilations()]


def _has_fatal_tensor(args: tuple, kwargs: dict) -> bool:
    """Return whether an argument is a tensor on which torch's guards crash the process.

    This is a nested tensor of the strided layout: reading its strides raises an error in C++.
    """
    values = (*args, *kwargs.values())
    return any(
        tensors.is_torch_tensor(value) and tensors.has_throwing_strides(value) for value in values
    )


def _format_call_arguments(args: tuple, kwargs: dict) -> str:
    """Return the arguments of a call in brief, such as `float32 [3], n=2`."""
    texts = [_format_call_argument(value) for value in args]
    texts += [f"{name}={_format_call_argument(value)}" for name, value in kwargs.items()]
    return clip_text(", ".join(texts) or "(none)", LONGEST)


def _format_call_argument(value) -> str:
    """Return a value in brief: `2`, or a tensor as `float32 [3]` or `float32 [3], requires_grad`.

    `requires_grad` is shown because a change of it makes Dynamo compile again.
    """
    text = short_repr(value)
    # The text of a subclass, such as Parameter, begins with the name of that class instead.
    is_plain_tensor = tensors.is_torch_tensor(value) and real_type_name(value) == "Tensor"
    if is_plain_tensor and tensors.read_field(value, "requires_grad"):
        return f"{text}, requires_grad"
    return text


@contextmanager
def _without_log_of_limit():
    """Keep torch from logging that the recompile limit is reached, because the ledger says so."""
    LOGGER.addFilter(_is_no_log_of_limit)
    try:
        yield
    finally:
        LOGGER.removeFilter(_is_no_log_of_limit)


def _is_no_log_of_limit(record: logging.LogRecord) -> bool:
    """Return False for torch's log record that the recompile limit is reached, else True.

    `logging` calls this filter for each record of torch's logger.
    """
    return not str(record.msg).startswith("torch._dynamo hit config.")
