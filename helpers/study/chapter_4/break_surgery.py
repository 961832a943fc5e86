"""Chapter 4: a function that breaks the graph in four places, cured until one graph is left."""

import io
import math
from collections.abc import Callable
from functools import partial
from types import FunctionType

from helpers.capture.text.value import short_repr
from helpers.capture.torch.dynamo_run import watched
from helpers.internals import torch_private
from helpers.safety.restoring import redirected
from helpers.study.engine import Case, Exercise, find_difference, same_result, tried

COMPILED = ([1.0, -2.0, 4.0], True), ([-1.0, -2.0, 0.5], False)
INPUTS = [1.0, -2.0, 4.0], [-1.0, -2.0, 0.5], [[2.0, 0.0], [-1.0, 3.0]], -3.0, [-math.inf, 1.0]
RESULT = "make a new tensor; torch.where picks and multiplies nothing: zero times infinity is nan"
NO_SLOPE = (
    "neither detach nor no_grad around the whole: what depends on x lets its gradient through"
)


def patient(x):
    """Break the graph in four places; the same lines stand in the notebook."""
    y = x * 2
    print("halfway", tuple(y.shape))
    if y.sum() > 0:
        y = y - y.mean().item()
    scale = 1 / (1 + y.abs().max().item())
    return y * scale + y[y > 0].sum()


def _judge(operated: Callable):
    import torch

    tensors = [torch.tensor(x, dtype=kind) for x in INPUTS for kind in (torch.float, torch.double)]
    cases = [Case(f"for {short_repr(x.tolist())}", partial(_call, x), RESULT) for x in tensors]
    cases.append(Case("for [0.5, 0, -1, -2], whose gradient is asked for", _find_slope, NO_SLOPE))
    compiled = [Case(f"compiled, for {x}", partial(_compile, x, slopes)) for x, slopes in COMPILED]
    near = partial(same_result, near=1e-3)
    with torch.enable_grad(), torch_private.same_settings():
        operated = torch_private.inner_function(operated)
        because = find_difference(operated, patient, cases, "patient", near)
        return because or find_difference(operated, patient, compiled, "the aim", near)


def _call(x, fn: Callable) -> dict:
    """Return what a call gives, and let it print nothing."""
    given = x.clone()
    with redirected(io.StringIO()):
        result = tried(fn(given))
    if not hasattr(result, "tolist"):
        return short_repr(result)
    kind = f"{result.dtype} of shape {tuple(result.shape)}"
    return {"kind": kind, "numbers": _round(result), "the caller's tensor": given.tolist()}


def _round(tensor) -> list:
    return tensor.detach().double().round(decimals=4).tolist()


def _find_slope(fn: Callable) -> dict:
    """Return the gradient where it is the same, whether one flows through the maximum or not.

    That is not at the maximum, which stands last; at 0 clamp and maximum have other gradients.
    """
    import torch

    x = torch.tensor([0.5, 0.0, -1.0, -2.0], requires_grad=True)
    with redirected(io.StringIO()):
        result = fn(x)
    slope = torch.autograd.grad(result.sum(), x)[0][:3] if result.requires_grad else None
    return {"gradient": None if slope is None else _round(slope)}


def _compile(values: list, slopes: bool, fn: Callable) -> dict:
    """Return what Dynamo makes of a function."""
    import torch

    if fn is patient:
        return {"graphs": 1, "breaks": [], "gradient": slopes}
    traced = fn if type(fn) is FunctionType else lambda x: fn(x)
    x = torch.tensor(values, requires_grad=slopes)
    run, kept = watched(traced, (x,), None, "watch_breaks", steps=0)
    if kept.error is not None:
        raise kept.error
    return {
        "graphs": len(run.graphs),
        "breaks": [f"{found.code}: {found.cause}" for found in run.breaks],
        "gradient": kept.value.requires_grad,
    }


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
