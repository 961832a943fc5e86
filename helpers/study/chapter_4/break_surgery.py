"""Chapter 4: a function that breaks the graph in four places, cured until one graph is left."""

import contextlib
import io

from helpers.capture.torch.dynamo.graph_breaks import cured, tensor
from helpers.model.dynamo import DynamoRun
from helpers.study.check import Exercise, tried

INPUTS = (
    [1.0, -2.0, 4.0],
    [-1.0, -2.0, 0.5],
    [[2.0, 0.0], [-1.0, 3.0]],
    [-3.0],
)


def _patient(x):
    y = x * 2
    print("halfway", tuple(y.shape))
    if y.sum() > 0:
        y = y - y.mean().item()
    scale = 1 / (1 + y.abs().max().item())
    return y * scale + y[y > 0].sum()


def _judge_surgery(operated):
    for values in INPUTS:
        x = tensor(values)
        with contextlib.redirect_stdout(io.StringIO()):
            tried(operated(x))
        if x.tolist() != values:
            return f"for {values} it changed the caller's tensor; make a new one"
        before, after, differs = cured(_patient, operated, x)
        if differs:
            return f"for {values}, {differs}"
        if because := _unwell(before, after):
            return because
    return None


def _unwell(before: DynamoRun, after: DynamoRun) -> str | None:
    """Return what the graphs of the operated function still suffer from, if anything."""
    graphs, breaks = len(after.graphs), len(after.breaks)
    if any(found.given_up for found in after.breaks) or not graphs:
        cause = f" ({after.breaks[0].cause})" if breaks else ""
        return f"Dynamo gave the function up{cause}: fewer graphs, but nothing is compiled any more"
    if graphs > 1 or breaks:
        first = after.breaks[0]
        place = f" at {first.code!r}" if first.code else ""
        fewer = f"{graphs} graphs, of {len(before.graphs)}; "
        return f"{fewer}it still breaks{place}: {first.cause}"
    return None


BREAK_SURGERY = Exercise(
    "break_surgery",
    _judge_surgery,
    "One graph, no break, and the same results for every input.",
    (
        "watch_breaks(patient, x) names the line and the cause of each break. Take the first, cure "
        "it, and look again.",
        "Nobody needs the print. A mean or a maximum can stay a tensor: what does .item() buy?",
        "torch.where(condition, a, b) computes both sides and picks. That replaces the if, as both "
        "sides have the same shape.",
        "y[y > 0] has as many elements as there are positive values. For a sum, zeros in the "
        "other places do as well: torch.where(y > 0, y, 0).sum().",
    ),
)
