"""Functions with graph breaks, and rewritten ones without -> a table that compares them.

The first function of a pair is called the *case*, the rewritten one the *cure*. Each runs under
torch.compile and in plain Python, from the same random numbers and buffers. The table has the
number of graphs of both, and whether results and gradients are the same. If they differ, it says
whether the cure is wrong, or whether one of the functions varies by itself from call to call.
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
from ...safety.standard_output import redirect_prints
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
NO_BREAK = "it does not break"
HEADINGS = ("graphs before", "graphs after", "result", "gradient")


class CasePair(NamedTuple):
    """Two values of the same kind: the first for the case, the second for its cure."""

    case: object
    cure: object


@dataclass(frozen=True)
class CompiledRun:
    """One compiled run of a case or a cure."""

    #: the model of the run, with its graphs and its breaks
    run: DynamoRun
    #: what it returned, or the exception that it raised
    result: object
    #: whether a backend of the user's would be called in the user's own program
    has_own_backend: bool


@dataclass(frozen=True)
class Comparison:
    """The outcome of a comparison of a case and its cure, by their results or their gradients."""

    #: "same", "differs", "none" or "not compared"
    verdict: Verdict
    #: why they differ or cannot be compared; "" if nothing is to be said
    reason: str = ""


def compare_cures(cases, /, *args) -> Ledger:
    """Compile each case and its cure for the same arguments, and return a table of the pairs.

    `cases` is a dict of name -> (case, cure), and `args` are the arguments of each call.
    """
    named_pairs = _require_cases(cases)
    entries = []
    notes = []
    has_own_backends = False

    # While this loop runs, the user sees a text such as `compiling case 2 of 5`.
    for name, pair in progress.report_each("compiling case", named_pairs):
        try:
            entry, has_own_backend = _compare_pair(name, CasePair(*pair), args)
        except KeyboardInterrupt as error:
            if not entries:  # there is nothing to show
                raise
            note_interrupt(error)
            notes.append(describe_interruption(len(entries), "case"))
            break
        entries.append(entry)
        has_own_backends = has_own_backends or has_own_backend

    setting = dynamo_settings.find_setting_off()  # one that turns Dynamo off, or ""
    if setting:
        notes.insert(0, TURNED_OFF.format(setting))
    if has_own_backends:
        notes.append(NOT_WITH_YOURS)
    title = "Graph breaks and their cures"
    return Ledger(title, "case", HEADINGS, tuple(entries), " ".join(notes), marks=MARKS)


def _require_cases(cases) -> list[tuple]:
    """Return a list of (name, (case, cure)); TypeError if `cases` is no dict of such pairs."""
    named_pairs = require_dict(
        cases, "watch_fixes", "name -> (function, cured function)", MOST_CASES
    )
    for name, pair in named_pairs:
        if not real_isinstance(pair, tuple, list) or len(pair) != 2:
            raise TypeError(f"case {quote_value(name)} needs a pair: (function, cured function)")
        for fn in pair:  # raises TypeError if no Python function is inside
            find_compilable(fn, "watch_fixes")
    return named_pairs


class _PairRunner:
    """Runs a case and its cure, each time from the same random numbers and module buffers."""

    def __init__(self, pair: CasePair):
        """Save the present state, which is restored before each run."""
        self._pair = pair
        self._run_counts = [0, 0]  # of the case, of the cure
        self._restorers = [
            save_random_numbers(),
            save_buffers(pair.case),
            save_buffers(pair.cure),
        ]

    def restore_state(self) -> None:
        """Restore the random numbers and the buffers that were saved at first."""
        for restore in self._restorers:
            restore()

    def run_both(self, run: Callable[[Callable], object]) -> CasePair:
        """Return what `run(function)` returns for the case, and for the cure."""
        return CasePair(self._run_one(0, run), self._run_one(1, run))

    def _run_one(self, index: int, run: Callable[[Callable], object]):
        """Return what `run(function)` returns for the case (0) or for the cure (1)."""
        self.restore_state()
        self._run_counts[index] += 1
        result = run(self._pair[index])
        # A run under Dynamo records an interrupt instead of raising it.
        if is_interrupted():
            raise KeyboardInterrupt
        return result

    def describe_variation(self, run: Callable, results: CasePair, what: str) -> str:
        """Return a sentence if the case or the cure varies by itself from run to run, else "".

        If neither varies, a difference between them is due to the cure.

        Parameters
        ----------
        run : callable
            `run(function)` returns the result of one run. It is called twice more for each.
        results : CasePair
            The results of the first runs, with which the further ones are compared.
        what : str
            The middle of the sentence, such as "returns other values".
        """
        more_results = [[self._run_one(index, run), self._run_one(index, run)] for index in (0, 1)]
        for index, subject in enumerate(("the case", "the cure")):
            answers = [compare_values(results[index], other) for other in more_results[index]]
            # An answer is None where the values cannot be compared. That counts as no variation.
            if any(answer is False for answer in answers):
                count = self._run_counts[index]
                times = f"it ran {count} times here, and what it changed stays changed"
                return f"{subject} by itself {what} from call to call; {times}"
        return ""


def _compare_pair(name: str, pair: CasePair, args: tuple) -> tuple[Entry, bool]:
    """Return the row on a case and its cure, and whether a backend of the user's was replaced.

    Random numbers and buffers are as before afterwards.
    """
    runner = _PairRunner(pair)
    try:
        runs = runner.run_both(lambda fn: _run_as_compiled(fn, args))
        results = _compare_results(runner, runs.cure.result, args)
        # If the results differ, the gradients differ as well. So they are not compared then.
        gradients = Comparison(Verdict("not compared"))
        if results.verdict.word == "same":
            gradients = _compare_gradients(runner, args)
        entry = _build_entry(name, runs, results, gradients)
        return entry, runs.case.has_own_backend or runs.cure.has_own_backend
    finally:
        runner.restore_state()


def _run_as_compiled(fn, args: tuple) -> CompiledRun:
    """Run a function under torch.compile with copies of `args`.

    No backend of the user's is called. Each graph runs as it is.
    """
    run, recorder = run_compiled(
        fn,
        copy_arguments(args),
        verb="watch_fixes",
        steps=0,
        own_backends=False,
    )
    # If `fn` itself is compiled, the function inside was run, so the user's backend was not called.
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
    if not note:  # then the note names the causes of the breaks, each once
        clauses = [*dict.fromkeys(graph_break.cause for graph_break in before.breaks)]
        if not clauses:
            clauses.append(NO_BREAK)
        if gradients.verdict.word == "differs":
            clauses.append("the cure has a different gradient")
        note = "; ".join(clauses)
    return Entry(name, verdicts, note)


def _format_graph_count(run: DynamoRun) -> str:
    """Return the number of graphs, such as `2`, or `0, given up` if Dynamo gave a function up."""
    is_given_up = any(graph_break.given_up for graph_break in run.breaks)
    return f"{len(run.graphs)}, given up" if is_given_up else f"{len(run.graphs)}"


def _compare_results(runner: _PairRunner, compiled_cure_result, args: tuple) -> Comparison:
    """Compare the result of the case in plain Python with two results of the cure.

    The cure is run in plain Python, too. Its result under torch.compile is `compiled_cure_result`.
    """

    def run_plainly(fn):
        """Return the result of a function in plain Python, or the exception that it raised."""
        return _run_in_plain_python(_find_plain_callable(fn), args)

    plain_results = runner.run_both(run_plainly)
    cure_results = {"the cure": plain_results.cure, "compiled, the cure": compiled_cure_result}
    # how a sentence calls the run of the cure -> whether its result is that of the case, or None
    answers = {
        subject: compare_values(plain_results.case, result)
        for subject, result in cure_results.items()
    }

    for subject, answer in answers.items():
        if answer is False:
            variation = runner.describe_variation(
                run_plainly, plain_results, "returns other values"
            )
            if variation:  # then the difference may not be due to the cure
                return Comparison(Verdict("not compared"), variation)
            cure_text = _format_result(cure_results[subject])
            case_text = _format_result(plain_results.case)
            reason = f"{subject} returns {cure_text}, the case {case_text}"
            return Comparison(Verdict("differs", "failed"), reason)

    if None in answers.values():
        reason = "only the results' own code can compare them"
        return Comparison(Verdict("not compared"), reason)
    return Comparison(Verdict("same"))


def _compare_gradients(runner: _PairRunner, args: tuple) -> Comparison:
    """Compare the gradients of the case and of the cure with respect to the arguments.

    The verdict is "none" if no argument has a gradient, and "not compared" if a run raised.
    """

    def find_gradients(fn):
        """Return a tuple with a gradient for each argument, or the exception that `fn` raised."""
        plain_callable = _find_plain_callable(fn)
        return _run_in_plain_python(
            lambda *copies: _compute_gradients(plain_callable, copies), args
        )

    gradients = runner.run_both(find_gradients)
    if any(real_isinstance(outcome, BaseException) for outcome in gradients):
        return Comparison(Verdict("not compared"))
    if all(gradient is None for outcome in gradients for gradient in outcome):
        return Comparison(Verdict("none"))
    if compare_values(gradients.case, gradients.cure):
        return Comparison(Verdict("same"))

    variation = runner.describe_variation(find_gradients, gradients, "has another gradient")
    if variation:  # then the difference may not be due to the cure
        return Comparison(Verdict("not compared"), variation)
    return Comparison(Verdict("differs", "failed"))


def _find_plain_callable(fn) -> Callable:
    """Return the callable inside a compiled function, whose call runs no backend; else `fn`."""
    return find_compilable(fn, "watch_fixes").call


def _compute_gradients(fn, args: tuple) -> tuple:
    """Return the gradient of `fn(*args)` for each plain floating-point tensor of the arguments.

    A gradient is None if the result does not depend on the argument. `args` are changed: their
    tensors require a gradient afterwards.
    """
    import torch

    # Tensors of a subclass are left out, because a subclass may run code of its own for each op.
    plain_tensors = [
        value for value in args if type(value) is torch.Tensor and value.is_floating_point()
    ]
    inputs = [tensor.requires_grad_() for tensor in plain_tensors]
    with torch.enable_grad():
        result = fn(*args)
        if not inputs or type(result) is not torch.Tensor or not result.requires_grad:
            return (None,) * len(inputs)
        # Each element of the result has another weight. With equal weights, two functions that
        # differ only in the order of elements would have the same gradient.
        weights = torch.arange(1, result.numel() + 1).reshape(result.shape).to(result)
        return torch.autograd.grad(result, inputs, weights, allow_unused=True)


def _run_in_plain_python(fn, args: tuple):
    """Return what `fn` returns for copies of `args`, or the exception that it raised.

    Compiled functions that `fn` calls run in plain Python, too. What `fn` prints and its warnings
    are not shown.
    """
    plain_python = dynamo_settings.run_compiled_functions_eagerly()
    with redirect_prints(Printed()), warnings.catch_warnings(), plain_python:
        warnings.simplefilter("ignore")
        try:
            with running_user_code():
                return fn(*copy_arguments(args))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return error


def _format_result(value) -> str:
    """Return a result as text, such as `[1.0, 2.5]` for a tensor or `ValueError: no data`.

    An exception has its whole message, and a tensor of few elements has these elements.
    """
    if real_isinstance(value, BaseException):
        message = " ".join(format_whole_message(value).split())
        return f"{type(value).__name__}: {message}" if message else describe_error(value)

    is_readable = tensors.is_torch_tensor(value) and tensors.has_readable_elements(value)
    if is_readable and value.numel() <= MOST_ELEMENTS:
        if value.is_floating_point():  # without digits that come from rounding
            value = value.double().round(decimals=3)
        return short_repr(value.tolist())
    return short_repr(value)
