"""Chapter 4: a function that breaks the graph in four places, cured until one graph is left.

Results and gradients are compared on many inputs; what Dynamo makes of it, on a few.
"""

from types import FunctionType

from helpers.capture.text.error import said
from helpers.capture.torch.dynamo_run import watched
from helpers.capture.torch.graph_breaks import tensor
from helpers.internals import torch_private
from helpers.model.dynamo import DynamoRun
from helpers.study.chapter_4 import surgery_trial as trial
from helpers.study.chapter_4.forms import function
from helpers.study.check import Exercise, tried

COMPILED = (
    ([1.0, -2.0, 4.0], True),
    ([-1.0, -2.0, 0.5], False),
    ([[2.0, 0.0], [-1.0, 3.0]], False),
)


def _judge_surgery(operated):
    import torch

    function(operated, "operated", "x")
    operated = torch_private.inner_function(operated)
    with torch.enable_grad(), torch_private.same_settings():
        tried(trial.silent(operated, tensor(COMPILED[0][0])))
        return trial.parted(operated) or _compiled(operated)


def _compiled(operated) -> str | None:
    """Return what is wrong with what Dynamo makes of the operated function, if anything."""
    traced = operated if type(operated) is FunctionType else lambda x: operated(x)
    for values, slopes in COMPILED:
        x = tensor(values).requires_grad_(slopes)
        run, kept = watched(traced, (x,), None, "watch_breaks", steps=0)
        if kept.error is not None:
            return f"for {trial.told(x)}, compiled, yours raised {said(kept.error)}"
        want = trial.silent(trial.patient, x)
        if because := trial.other(kept.value, want, x, "yours, compiled,") or _unwell(
            run, x, traced
        ):
            return because
        if slopes and not kept.value.requires_grad:
            return f"for {trial.told(x)} yours, compiled, gives a result without a gradient"
    return None


def _unwell(after: DynamoRun, x, traced) -> str | None:
    """Return what the graphs of the operated function still suffer from, if anything."""
    graphs, breaks = len(after.graphs), len(after.breaks)
    if any(found.given_up for found in after.breaks) or not graphs:
        if (stance := torch_private.stance()) != "default":
            return (
                f"torch.compiler.set_stance({stance!r}) is in force, and nothing is compiled; "
                'torch.compiler.set_stance("default") ends it'
            )
        cause = f" ({after.breaks[0].cause})" if breaks else ""
        return f"Dynamo gave the function up{cause}: fewer graphs, but nothing is compiled any more"
    if graphs > 1 or breaks:
        before, _ = watched(trial.patient, (x,), None, "watch_breaks", steps=0)
        fewer = f"{graphs} graphs, of {len(before.graphs)}; "
        if not breaks:
            return f"{fewer}one is wanted"
        first = after.breaks[0]
        place = f" at {first.code!r}" if first.code and not _is_ours(traced) else ""
        return f"{fewer}it still breaks{place}: {first.cause}"
    return None


def _is_ours(fn) -> bool:
    return fn.__module__ == __name__


BREAK_SURGERY = Exercise(
    "break_surgery",
    _judge_surgery,
    "One graph, no break, and the same results and gradients for every input.",
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
