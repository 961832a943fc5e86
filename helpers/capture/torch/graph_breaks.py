"""Functions under `torch.compile` -> how many graphs each makes, where it breaks, and why.

A cure is held against the case that it cures: fewer breaks, the same results, the same gradient.
"""

import warnings

from helpers.capture.cpython.objects import LONGEST_NAME, named
from helpers.capture.cpython.settrace import UNRAISABLE, Printed
from helpers.capture.text import tensors
from helpers.capture.text.error import said
from helpers.capture.text.value import brief
from helpers.capture.torch import results
from helpers.capture.torch.dynamo_run import compilable, watched
from helpers.model.dynamo import BreakListing, DynamoRun
from helpers.model.ledger import Entry, Ledger, Verdict
from helpers.model.listing import Column
from helpers.model.phrase import counted
from helpers.safety import progress
from helpers.safety.arguments import is_exactly, printable, shown, table
from helpers.safety.restoring import redirected, theirs

COLUMNS = (
    Column("place", "where"),
    Column("code", "code", code=True),
    Column("cause", "cause"),
    Column("explanation", "what Dynamo says"),
    Column("given_up", "whole function left to Python"),
)
MOST_SHOWN, MOST_CASES = 8, 200
MARKS = ("changed", "fewer graph breaks than before"), ("failed", "not as without the cure")
NOT_KNOWN = "only the results' own code could say whether they are the same"
BEFORE, AFTER, RESULT = "graphs before", "graphs after", "result"
GRADIENT, OTHER_GRADIENT = "gradient", "the cure has another gradient"


def breaks_listing(fn, *args, **kwargs) -> BreakListing:
    """Return a row per graph break of one call of `fn(*args, **kwargs)`; errors as `dynamo_run`."""
    run, kept = watched(fn, args, kwargs, "watch_breaks", steps=0)
    inside = compilable(fn, "watch_breaks", args)
    advice = dict.fromkeys(f"\n{b.cause}: {b.hint} {b.page}" for b in run.breaks if b.page)
    graphs, resumed = len(run.graphs), len(run.resumed)
    went_on = f" It went on in {counted(resumed, 'resume function')}." if resumed else ""
    missed = kept.missed_breaks
    cut = f" {counted(missed, 'more graph break')} left out." if missed else ""
    return BreakListing(
        f"Graph breaks of {named(inside.function)}",
        COLUMNS,
        run.breaks,
        f"{'' if run.breaks else 'No graph break. '}{counted(graphs, 'graph')}."
        f"{went_on} {' '.join((run.outcome, *inside.sentences))}{cut}{''.join(advice)}",
        graphs=graphs,
        outcome=run.outcome,
    )


def cures_ledger(cases, *args) -> Ledger:
    """Return a ledger: each case and its cure compiled for fresh copies of `args`.

    `cases`: name -> (function, cured function). TypeError where a case is not such a pair; the note
    says what of `args` is not copied but shared by the runs.
    """
    found = table(cases, "watch_fixes", "name -> (function, cured function)", MOST_CASES)
    pairs = [(printable(name, LONGEST_NAME), _pair(name, pair)) for name, pair in found]
    entries = tuple(_entry(*pair, args) for pair in progress.counted("compiling case", pairs))
    headings = (BEFORE, AFTER, RESULT, GRADIENT)
    shared = results.copied(args)[1]
    note = f"Not copied for each run but shared: {', '.join(shared)}." if shared else ""
    title = "Graph breaks and their cures"
    return Ledger(title, "case", headings, entries, note, marks=MARKS)


def cured(before, after, *args) -> tuple[DynamoRun, DynamoRun, str]:
    """Return the runs of a case and of its cure on copies of `args`, and how their ends differ.

    The last is empty where plain Python and both compiled runs end alike, printing aside, and
    `NOT_KNOWN` where that cannot be told without code of the results' own. What they draw by
    chance is the same in each.
    """
    same_numbers = results.same_random_numbers()
    first, _ = watched(before, _copies(args), None, "watch_fixes", steps=0)
    same_numbers()
    second, kept = watched(after, _copies(args), None, "watch_fixes", steps=0)
    same_numbers()
    wanted = _ending(before, args)
    same_numbers()
    plain = _ending(after, args)
    compiled = kept.value if kept.error is None else said(kept.error)
    verdicts = [results.compared(wanted, plain), results.compared(wanted, compiled)]
    if verdicts[0] == results.OTHER:
        return first, second, f"the cure gives {_told(plain)}, and the case {_told(wanted)}"
    if verdicts[1] == results.OTHER:
        return (
            first,
            second,
            f"compiled, the cure gives {_told(compiled)}, and the case {_told(wanted)}",
        )
    return first, second, NOT_KNOWN if results.UNKNOWN in verdicts else ""


def _gradient(before, after, args) -> Verdict:
    """Say whether plain Python finds the same gradient of each argument through both."""
    same_numbers = results.same_random_numbers()
    first = _gradients(before, args)
    same_numbers()
    second = _gradients(after, args)
    if first is None or second is None:
        return Verdict("not compared")
    if not any(found is not None for found in (*first, *second)):
        return Verdict("none")
    alike = results.compared(first, second) == results.SAME
    return Verdict("same") if alike else Verdict("differs", "failed")


def _gradients(fn, args) -> tuple | None:
    """Return a gradient, or None, per plain floating tensor of `args`; None if that fails.

    The weights of the result's elements differ, so that no gradient is lost in their sum.
    """
    import torch

    copies = _copies(args)
    plain = [c for c, v in zip(copies, args, strict=True) if type(c) is torch.Tensor and c is not v]
    asked = [tensor.requires_grad_() for tensor in plain if tensor.is_floating_point()]
    with redirected(Printed()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with theirs(), torch.enable_grad():
                value = fn(*copies)
                if not asked or type(value) is not torch.Tensor or not value.requires_grad:
                    return (None,) * len(asked)
                weights = torch.arange(1, value.numel() + 1).reshape(value.shape).to(value)
                return torch.autograd.grad(value, asked, weights, allow_unused=True)
        except UNRAISABLE:
            raise
        except BaseException:
            return None


def _copies(args) -> tuple:
    return results.copied(args)[0]


def tensor(values):
    """Return a tensor of a number or of (nested) lists of numbers."""
    import torch

    return torch.tensor(values)


def _ending(fn, args):
    """Return what plain Python returns, or the words of what it raises; nothing is printed."""
    with redirected(Printed()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with theirs():
                return fn(*_copies(args))
        except UNRAISABLE:
            raise
        except BaseException as error:
            return said(error)


def _told(value) -> str:
    if tensors.is_tensor(value):
        if not tensors.has_its_elements(value) or value.numel() > MOST_SHOWN:
            return tensors.words(value)
        return _numbers(value.tolist())
    return value if type(value) is str else brief(value)


def _numbers(value) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_numbers, value))}]"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _pair(name, pair):
    """Return the pair, known to be two functions that can be compiled; nothing has run yet."""
    if not _is_pair(pair):
        raise TypeError(f"case {shown(name)} needs a pair: (function, cured function)")
    for fn in pair:
        compilable(fn, "watch_fixes")
    return tuple(pair)


def _is_pair(pair) -> bool:
    return is_exactly(pair, tuple, list) and len(pair) == 2


def _entry(name, pair, args) -> Entry:
    before, after, differs = cured(*pair, *args)
    gradient = Verdict("not compared") if differs else _gradient(*pair, args)
    fewer = len(after.breaks) < len(before.breaks)
    verdicts = (
        _graphs(before, "plain"),
        _graphs(after, "changed" if fewer else "plain"),
        _result(differs),
        gradient,
    )
    causes = [*dict.fromkeys(found.cause for found in before.breaks)] or ["it does not break"]
    causes += [OTHER_GRADIENT] * (gradient.word == "differs")
    return Entry(name, verdicts, differs or "; ".join(causes))


def _result(differs: str) -> Verdict:
    if differs == NOT_KNOWN:
        return Verdict("not compared")
    return Verdict("differs", "failed") if differs else Verdict("same")


def _graphs(run: DynamoRun, tone: str) -> Verdict:
    given_up = any(found.given_up for found in run.breaks)
    return Verdict(f"{len(run.graphs)}{', given up' if given_up else ''}", tone)
