"""Functions with graph breaks, and their cures -> a table of graphs, results and gradients.

Each case and its cure run compiled and plainly, from the same state. Where the results differ, the
note says whether the cure is wrong, or whether a function by itself varies from call to call.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from ...internals import dynamo_settings
from ...model.dynamo_records import DynamoRun
from ...model.phrase import describe_interruption
from ...model.tables import Entry, Ledger, Verdict
from ...safety import progress
from ...safety.arguments import quote_value, real_isinstance, require_dict
from ...safety.restoring import is_interrupted, note_interrupt, running_user_code
from ...safety.standard_output import redirected
from ..cpython.settrace import Printed
from ..cpython.wrapper_layers import COMPILED
from ..text import tensors
from ..text.error import describe_error
from ..text.value import short_repr
from .dynamo_messages import format_whole_message
from .dynamo_run import find_compilable, run_compiled
from .dynamo_sentences import TURNED_OFF
from .repeated_runs import (
    compare_values,
    copy_arguments,
    save_buffers,
    save_random_numbers,
)

MOST_CASES = 200
MOST_ELEMENTS = 8  # of a tensor whose elements are written out
NOT_WITH_YOURS = "Each graph ran as it is, as the backend eager runs it, and not with your backend."
MARKS = ("good", "fewer graph breaks than before"), ("failed", "changed by the cure")
HEADINGS = ("graphs before", "graphs after", "result", "gradient")


class CasePair(NamedTuple):
    """Something of the case, and the same of its cure."""

    case: object
    cure: object


@dataclass(frozen=True)
class CompiledRun:
    """One compiled run of a case or a cure."""

    #: the graphs and the breaks
    run: DynamoRun
    #: what it returned, or the exception that it raised
    result: object
    #: whether a backend of the user's would have been called
    has_own_backend: bool


@dataclass(frozen=True)
class Comparison:
    """What came of comparing results or gradients of a case and its cure."""

    verdict: Verdict
    #: why they differ or cannot be compared; "" if nothing is to be said
    reason: str = ""


def compare_cures(cases, /, *args) -> Ledger:
    """Compile each case and its cure for the same arguments, and show graphs before and after."""
    named_pairs = _require_cases(cases)
    entries = []
    notes = []
    has_own_backends = False

    for name, pair in progress.counted("compiling case", named_pairs):
        try:
            entry, has_own_backend = _compare_pair(name, CasePair(*pair), args)
        except KeyboardInterrupt as error:
            if not entries:
                raise
            note_interrupt(error)
            notes.append(describe_interruption(len(entries), "case"))
            break
        entries.append(entry)
        has_own_backends = has_own_backends or has_own_backend

    setting = dynamo_settings.find_setting_off()
    if setting:
        notes.insert(0, TURNED_OFF.format(setting))
    if has_own_backends:
        notes.append(NOT_WITH_YOURS)
    title = "Graph breaks and their cures"
    return Ledger(title, "case", HEADINGS, tuple(entries), " ".join(notes), marks=MARKS)


def _require_cases(cases) -> list[tuple]:
    """Return (name, (function, cured function)) of each case; TypeError for anything else."""
    named_pairs = require_dict(
        cases, "watch_fixes", "name -> (function, cured function)", MOST_CASES
    )
    for name, pair in named_pairs:
        if not real_isinstance(pair, tuple, list) or len(pair) != 2:
            raise TypeError(f"case {quote_value(name)} needs a pair: (function, cured function)")
        for fn in pair:
            find_compilable(fn, "watch_fixes")
    return named_pairs


class _Trials:
    """Runs of a case and its cure, each from the same random numbers and buffers of modules."""

    def __init__(self, pair: CasePair):
        """Keep the state of now, to which each run is set back."""
        self._pair = pair
        self._run_counts = [0, 0]  # of the case, of the cure
        self._undo = [save_random_numbers(), save_buffers(pair.case), save_buffers(pair.cure)]

    def set_back(self) -> None:
        """Set random numbers and buffers back to where they were at first."""
        for undo in self._undo:
            undo()

    def run_both(self, run: Callable[[Callable], object]) -> CasePair:
        """Return what `run(function)` returns for the case, and for the cure."""
        return CasePair(self._run_one(0, run), self._run_one(1, run))

    def _run_one(self, index: int, run: Callable[[Callable], object]):
        """Return what `run(function)` returns for the case (0) or for the cure (1)."""
        self.set_back()
        self._run_counts[index] += 1
        result = run(self._pair[index])
        if is_interrupted():  # the run has noted the interrupt in place of raising it
            raise KeyboardInterrupt
        return result

    def describe_varying(self, run: Callable, results: CasePair, what: str) -> str:
        """Return a sentence if the case or the cure, run again and again, varies by itself.

        Return "" if neither does. Then a difference between them is due to the cure. Each runs
        twice more, and the answers are compared with `results`, those of the first runs. `what` is
        how the sentence says that they vary, such as "returns other values".
        """
        more_results = [[self._run_one(index, run), self._run_one(index, run)] for index in (0, 1)]
        for index, who in enumerate(("the case", "the cure")):
            answers = [compare_values(results[index], other) for other in more_results[index]]
            if any(answer is False for answer in answers):  # None: it cannot be compared
                count = self._run_counts[index]
                times = f"it ran {count} times here, and what it changed stays changed"
                return f"{who} by itself {what} from call to call; {times}"
        return ""


def _compare_pair(name: str, pair: CasePair, args: tuple) -> tuple[Entry, bool]:
    """Return the row on a case and its cure, and whether backends of the user's were not called."""
    trials = _Trials(pair)
    try:
        runs = trials.run_both(lambda fn: _run_as_compiled(fn, args))
        results = _compare_results(trials, runs.cure.result, args)
        # Where the results differ, the gradients differ anyway.
        gradients = Comparison(Verdict("not compared"))
        if results.verdict.word == "same":
            gradients = _compare_gradients(trials, args)
        entry = _build_entry(name, runs, results, gradients)
        return entry, runs.case.has_own_backend or runs.cure.has_own_backend
    finally:
        trials.set_back()


def _run_as_compiled(fn, args: tuple) -> CompiledRun:
    """Run a function under torch.compile without any backend of the user's."""
    run, recorder = run_compiled(
        fn,
        copy_arguments(args),
        verb="watch_fixes",
        steps=0,
        own_backends=False,
    )
    # a compiled function is unwrapped before the run, so its backend is not called either
    is_compiled = COMPILED in find_compilable(fn, "watch_fixes").sentences
    return CompiledRun(
        run,
        recorder.value if recorder.error is None else recorder.error,
        is_compiled or recorder.without_own_backend,
    )


def _build_entry(name: str, runs: CasePair, results: Comparison, gradients: Comparison) -> Entry:
    """Return the row on a case and its cure, from their compiled runs and two comparisons."""
    before = runs.case.run
    after = runs.cure.run
    has_fewer_breaks = len(after.breaks) < len(before.breaks)
    verdicts = (
        Verdict(_format_graph_count(before), "plain"),
        Verdict(_format_graph_count(after), "good" if has_fewer_breaks else "plain"),
        results.verdict,
        gradients.verdict,
    )

    note = results.reason or gradients.reason
    if not note:
        causes = [*dict.fromkeys(found.cause for found in before.breaks)]
        if not causes:
            causes.append("it does not break")
        if gradients.verdict.word == "differs":
            causes.append("the cure has a different gradient")
        note = "; ".join(causes)
    return Entry(name, verdicts, note)


def _format_graph_count(run: DynamoRun) -> str:
    """Return the number of graphs, and whether Dynamo gave a function up."""
    is_given_up = any(found.given_up for found in run.breaks)
    return f"{len(run.graphs)}, given up" if is_given_up else f"{len(run.graphs)}"


def _compare_results(trials: _Trials, compiled_cure, args: tuple) -> Comparison:
    """Compare the result of the case in plain Python with two results of the cure.

    These are its result in plain Python, and `compiled_cure`, that of its compiled run.
    """

    def run_plainly(fn):
        """Return the result of a function in plain Python."""
        return _run_quietly(_find_plain(fn), args)

    plain = trials.run_both(run_plainly)
    cure_results = {"the cure": plain.cure, "compiled, the cure": compiled_cure}
    answers = {who: compare_values(plain.case, value) for who, value in cure_results.items()}

    for who, answer in answers.items():
        if answer is False:
            varying = trials.describe_varying(run_plainly, plain, "returns other values")
            if varying:
                return Comparison(Verdict("not compared"), varying)
            cure_text = _format_trial_result(cure_results[who])
            reason = f"{who} returns {cure_text}, the case {_format_trial_result(plain.case)}"
            return Comparison(Verdict("differs", "failed"), reason)

    if None in answers.values():
        reason = "only the results' own code can compare them"
        return Comparison(Verdict("not compared"), reason)
    return Comparison(Verdict("same"))


def _compare_gradients(trials: _Trials, args: tuple) -> Comparison:
    """Compare the gradients of the case and of the cure for the arguments."""

    def find_gradients(fn):
        """Return the gradients of a function, or what it raised."""
        return _run_quietly(lambda *copies: _compute_gradients(_find_plain(fn), copies), args)

    gradients = trials.run_both(find_gradients)
    if any(real_isinstance(found, BaseException) for found in gradients):
        return Comparison(Verdict("not compared"))
    if all(gradient is None for found in gradients for gradient in found):
        return Comparison(Verdict("none"))
    if compare_values(gradients.case, gradients.cure):
        return Comparison(Verdict("same"))

    varying = trials.describe_varying(find_gradients, gradients, "has another gradient")
    if varying:
        return Comparison(Verdict("not compared"), varying)
    return Comparison(Verdict("differs", "failed"))


def _find_plain(fn) -> Callable:
    """Return what a compiled function was made of: its plain run calls no backend."""
    return find_compilable(fn, "watch_fixes").call


def _compute_gradients(fn, copies: tuple) -> tuple:
    """Return for each plain floating tensor of the arguments its gradient, or None."""
    import torch

    # a tensor of a subclass runs code of its own for each op
    plain = [value for value in copies if type(value) is torch.Tensor and value.is_floating_point()]
    inputs = [tensor.requires_grad_() for tensor in plain]
    with torch.enable_grad():
        value = fn(*copies)
        if not inputs or type(value) is not torch.Tensor or not value.requires_grad:
            return (None,) * len(inputs)
        # a different weight for each element, so that gradients which only swap elements differ
        weights = torch.arange(1, value.numel() + 1).reshape(value.shape).to(value)
        return torch.autograd.grad(value, inputs, weights, allow_unused=True)


def _run_quietly(fn, args: tuple):
    """Return what plain Python returns, or raises, for copies of `args`; nothing is printed."""
    eagerly = dynamo_settings.run_compiled_functions_eagerly()
    with redirected(Printed()), warnings.catch_warnings(), eagerly:
        warnings.simplefilter("ignore")
        try:
            with running_user_code():
                return fn(*copy_arguments(args))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return error


def _format_trial_result(value) -> str:
    """Return a result in words: an error with its whole message, a small tensor as its elements."""
    if real_isinstance(value, BaseException):
        message = " ".join(format_whole_message(value).split())
        return f"{type(value).__name__}: {message}" if message else describe_error(value)

    is_readable = tensors.is_torch_tensor(value) and tensors.has_readable_elements(value)
    if is_readable and value.numel() <= MOST_ELEMENTS:
        if value.is_floating_point():
            value = value.double().round(decimals=3)
        return short_repr(value.tolist())
    return short_repr(value)
