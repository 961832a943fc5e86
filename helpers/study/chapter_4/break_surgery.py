"""Chapter 4: a function that breaks the graph in four places, cured until one graph is left.

Results and gradients are compared on many inputs; what Dynamo makes of it, on a few.
"""

import io
import math
from collections.abc import Callable
from itertools import product
from types import FunctionType

from helpers.capture.text.error import said
from helpers.capture.text.value import brief
from helpers.capture.torch.dynamo_run import watched
from helpers.capture.torch.graph_breaks import tensor
from helpers.internals import torch_private
from helpers.safety.restoring import redirected
from helpers.study.engine import Exercise, tried

COMPILED = (
    ([1.0, -2.0, 4.0], True),
    ([-1.0, -2.0, 0.5], False),
    ([[2.0, 0.0], [-1.0, 3.0]], False),
)
INPUTS = (
    *([1.0, -2.0, 4.0], [-1.0, -2.0, 0.5], [[2.0, 0.0], [-1.0, 3.0]], [-3.0], [0.25], 3.0, -3.0),
    [0.0, -1.0, -2.0],  # at 0 clamp and maximum have other gradients
    *([0.3, -0.1], [1.5, -1.0, -0.5], [[[0.4, -1.7]], [[2.2, 0.9]], [[-0.6, 3.1]]]),
    *([-math.inf, 1.0], [1.0, math.inf], [math.nan, 1.0]),
)
AT_INFINITY = ". Zero times infinity is nan: torch.where picks, and multiplies nothing"
NO_SLOPE = (
    "gives a result that has none, and patient's has one. Neither detach nor no_grad is a cure "
    "for the whole: what depends on x lets its gradient through"
)


def patient(x):
    """Break the graph in four places; the same lines stand in the notebook."""
    y = x * 2
    print("halfway", tuple(y.shape))
    if y.sum() > 0:
        y = y - y.mean().item()
    scale = 1 / (1 + y.abs().max().item())
    return y * scale + y[y > 0].sum()


def _let_through(x, of_mean: bool, of_top: bool):
    """Return what the patient returns; a gradient flows through the mean, the maximum, or not."""
    y = x * 2
    if y.sum() > 0:
        y = y - (y.mean() if of_mean else y.mean().detach())
    top = y.abs().max()
    return y / (1 + (top if of_top else top.detach())) + y[y > 0].sum()


def _judge(operated: Callable):
    import torch

    operated = torch_private.inner_function(operated)
    with torch.enable_grad(), torch_private.same_settings():
        return _compare_eager(operated) or _compare_compiled(operated)


def _compare_eager(operated: Callable) -> str | None:
    import torch

    for values, dtype in product(INPUTS, (torch.float32, torch.float64)):
        x = tensor(values).to(dtype)
        before = x.clone()
        got = tried(_call(operated, x))
        if not _near(x, before):
            return f"for {_tell(before)} it changed the caller's tensor; make a new one"
        because = _compare(got, _call(patient, x), x, "yours")
        if because := because or _compare_slopes(operated, x):
            return because
    return None


def _call(fn: Callable, x):
    """Return what a call gives, and let it print nothing."""
    with redirected(io.StringIO()):
        return fn(x)


def _compare(got, want, x, who: str) -> str | None:
    """Return how a result differs from the patient's, if it does."""
    import torch

    if not isinstance(got, torch.Tensor):
        return f"for {_tell(x)} {who} gives {brief(got)}, and patient gives a tensor"
    if (got.dtype, got.shape) != (want.dtype, want.shape):
        mine, real = (f"{t.dtype} of shape {tuple(t.shape)}" for t in (got, want))
    elif _near(got, want):
        return None
    else:
        mine, real = _tell(got), _tell(want)
    words = f"for {_tell(x)} {who} gives {mine}, and patient gives {real}"
    return words + ("" if x.isfinite().all() else AT_INFINITY)


def _compare_slopes(operated: Callable, x) -> str | None:
    """Return how the gradient differs from each that will do, if it does.

    None is asked for where it hangs on rounding: near 0, at two maxima, at infinity.
    """
    y = x * 2
    y = y - y.mean() if y.sum() > 0 else y
    one_top = (y.abs() > y.abs().max() * 0.999).sum() == 1
    if not (y.isfinite().all() and one_top and ((y.abs() > 1e-3) | (y == 0)).all()):
        return None
    mine = _slope(operated, x)
    wanted = [
        _slope(lambda x, m=mean, t=top: _let_through(x, m, t), x)
        for mean, top in product((False, True), repeat=2)
    ]
    where = f"for {_tell(x)}, which requires a gradient, yours"
    if mine is None:
        return f"{where} {NO_SLOPE}"
    if any(_near(mine, want) for want in wanted):
        return None
    return f"{where} has the gradient {_tell(mine)}, and patient has {_tell(wanted[0])}"


def _slope(fn: Callable, values):
    """Return the gradient of a weighted sum of the results; None if there is none."""
    import torch

    x = values.clone().requires_grad_()
    result = _call(fn, x)
    if not isinstance(result, torch.Tensor) or not result.requires_grad:
        return None
    weights = torch.arange(1.0, result.numel() + 1, dtype=result.dtype).reshape(result.shape)
    return torch.autograd.grad((result * weights).sum(), x, allow_unused=True)[0]


def _compare_compiled(operated: Callable) -> str | None:
    """Return what is wrong with what Dynamo makes of the operated function, if anything."""
    traced = operated if type(operated) is FunctionType else lambda x: operated(x)
    for values, slopes in COMPILED:
        x = tensor(values).requires_grad_(slopes)
        run, kept = watched(traced, (x,), None, "watch_breaks", steps=0)
        if kept.error is not None:
            return f"for {_tell(x)}, compiled, yours raised {said(kept.error)}"
        because = _compare(kept.value, _call(patient, x), x, "yours, compiled,")
        if because := because or _say_breaks(run):
            return because
        if slopes and not kept.value.requires_grad:
            return f"for {_tell(x)} yours, compiled, gives a result without a gradient"
    return None


def _say_breaks(run) -> str | None:
    """Return what the graphs of the operated function still suffer from, if anything."""
    if any(found.given_up for found in run.breaks) or not run.graphs:
        if (stance := torch_private.stance()) != "default":
            return (
                f"torch.compiler.set_stance({stance!r}) is in force, and nothing is compiled; "
                'torch.compiler.set_stance("default") ends it'
            )
        cause = f" ({run.breaks[0].cause})" if run.breaks else ""
        return f"Dynamo gave the function up{cause}: fewer graphs, but nothing is compiled any more"
    if run.breaks:
        first = run.breaks[0]
        place = f" at {first.code!r}" if first.code else ""
        return f"{len(run.graphs)} graphs; it still breaks{place}: {first.cause}"
    return f"{len(run.graphs)} graphs; one is wanted" if len(run.graphs) > 1 else None


def _near(one, other) -> bool:
    import torch

    return torch.allclose(one, other, equal_nan=True)


def _tell(value) -> str:
    """Return a tensor's numbers, the beginning of each."""
    kind = "" if str(value.dtype) == "torch.float32" else f" ({value.dtype})"
    return f"{_round(value.tolist())}{kind}"


def _round(value) -> str:
    return f"[{', '.join(map(_round, value))}]" if isinstance(value, list) else f"{value:.4g}"


BREAK_SURGERY = Exercise(
    "break_surgery",
    _judge,
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
