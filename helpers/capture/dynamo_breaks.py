"""Functions under `torch.compile` -> how many graphs each makes, where it breaks, and why.

A cure is held against the case that it cures: fewer breaks, and the same results.
"""

import contextlib
import copy
import warnings

from helpers.capture.brief import brief
from helpers.capture.dynamo_run import compilable, watched
from helpers.capture.said import said
from helpers.capture.tracing import Printed
from helpers.model.dynamo import BreakListing, DynamoRun
from helpers.model.ledger import Entry, Ledger, Verdict
from helpers.model.listing import Column

COLUMNS = (
    Column("place", "where"),
    Column("code", "code", code=True),
    Column("cause", "cause"),
    Column("explanation", "what Dynamo says"),
    Column("given_up", "whole function left to Python"),
)
MOST_SHOWN = 8
BEFORE, AFTER, RESULT = "graphs before", "graphs after", "result"


def breaks_listing(fn, *args, **kwargs) -> BreakListing:
    """Return a row per graph break of one call of `fn(*args, **kwargs)`; errors as `dynamo_run`."""
    run, _ = watched(fn, args, kwargs, "watch_breaks", steps=0)
    name = compilable(fn, "watch_breaks")[1].__name__
    graphs, resumed = len(run.graphs), len(run.resumed)
    went_on = f" It went on in {resumed} resume function{'s' * (resumed != 1)}." if resumed else ""
    return BreakListing(
        f"Graph breaks of {name}",
        COLUMNS,
        run.breaks,
        f"{'' if run.breaks else 'No graph break. '}{graphs} graph{'s' * (graphs != 1)}."
        f"{went_on} {run.outcome}",
        graphs=graphs,
        outcome=run.outcome,
    )


def cures_ledger(cases, *args) -> Ledger:
    """Return a ledger: each case and its cure compiled for fresh copies of `args`.

    `cases`: name -> (function, cured function). TypeError where a case is not such a pair.
    """
    entries = tuple(_entry(name, _pair(name, pair), args) for name, pair in dict(cases).items())
    headings = (BEFORE, AFTER, RESULT)
    return Ledger("Graph breaks and their cures", "case", headings, entries)


def cured(before, after, *args) -> tuple[DynamoRun, DynamoRun, str]:
    """Return the runs of a case and of its cure on copies of `args`, and how their ends differ.

    The last is empty where plain Python and both compiled runs end alike, printing aside.
    """
    first, _ = watched(before, copy.deepcopy(args), None, "watch_cures", steps=0)
    second, kept = watched(after, copy.deepcopy(args), None, "watch_cures", steps=0)
    wanted, plain = _ending(before, args), _ending(after, args)
    if not equal(wanted, plain):
        return first, second, f"plain Python gives {_told(plain)}, not {_told(wanted)}"
    compiled = kept.value if kept.error is None else said(kept.error)
    if not equal(wanted, compiled):
        return first, second, f"compiled, it gives {_told(compiled)}, not {_told(wanted)}"
    return first, second, ""


def tensor(values):
    """Return a tensor of a number or of (nested) lists of numbers."""
    import torch

    return torch.tensor(values)


def equal(one, other) -> bool:
    """Return whether two results are the same: tensors by dtype, shape and nearly by value."""
    import torch

    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        alike = one.dtype == other.dtype and one.shape == other.shape
        return alike and torch.allclose(one, other, equal_nan=True)
    if type(one) is type(other) and isinstance(one, (tuple, list)):
        pairs = zip(one, other, strict=False)
        return len(one) == len(other) and all(equal(*pair) for pair in pairs)
    return type(one) is type(other) and bool(one == other)


def _ending(fn, args):
    """Return what plain Python returns, or the words of what it raises; nothing is printed."""
    with contextlib.redirect_stdout(Printed()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return fn(*copy.deepcopy(args))
        except Exception as error:
            return said(error)


def _told(value) -> str:
    if hasattr(value, "tolist") and hasattr(value, "numel") and value.numel() <= MOST_SHOWN:
        return _numbers(value.tolist())
    return value if isinstance(value, str) else brief(value)


def _numbers(value) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_numbers, value))}]"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _pair(name, pair):
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise TypeError(f"case {name!r} needs a pair: (function, cured function)")
    return pair


def _entry(name, pair, args) -> Entry:
    before, after, differs = cured(*pair, *args)
    fewer = len(after.breaks) < len(before.breaks)
    verdicts = (
        _graphs(before, "plain"),
        _graphs(after, "changed" if fewer else "plain"),
        Verdict("differs", "failed") if differs else Verdict("same"),
    )
    causes = "; ".join(dict.fromkeys(found.cause for found in before.breaks))
    return Entry(str(name), verdicts, differs or causes or "it does not break")


def _graphs(run: DynamoRun, tone: str) -> Verdict:
    given_up = any(found.given_up for found in run.breaks)
    return Verdict(f"{len(run.graphs)}{', given up' if given_up else ''}", tone)
