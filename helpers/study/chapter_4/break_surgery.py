"""Chapter 4: cure a function of its graph breaks, and keep its results and gradients."""

import io
import math
from collections.abc import Callable
from functools import partial
from types import FunctionType

from helpers.capture.text.value import short_repr
from helpers.capture.torch.dynamo_run import run_compiled
from helpers.internals import compiled_functions, dynamo_settings
from helpers.internals.compiled_apart import compiled_apart
from helpers.safety.standard_output import redirected
from helpers.study.answers import require_attempt
from helpers.study.check import exercise
from helpers.study.engine import JudgedCase, advise_by_part, find_difference, make_cases
from helpers.study.frameworks import np, torch
from helpers.study.sameness import is_same_result

INPUTS = (  # values of x; patient takes another branch, or gets nan, for some of them
    [1.0, -2.0, 4.0],
    [-1.0, -2.0, 0.5],
    [[2.0, 0.0], [-1.0, 3.0]],
    -3.0,
    [-math.inf, 1.0],
)
COMPILED_INPUTS = (  # values of x, and whether x needs a gradient
    ([1.0, -2.0, 4.0], True),
    ([-1.0, -2.0, 0.5], False),
)
NEAR = 1e-3
CHANGED = "it changes the caller's tensor. Return a new one"
PRODUCT = (
    "it gives nan where patient gives none. Zero times infinity is nan, which torch.where avoids"
)
NO_SLOPE = "no gradient leads from the result to x"


def patient(x):
    """Break the graph, as in the notebook."""
    y = x * 2
    print("halfway", tuple(y.shape))
    if y.sum() > 0:
        y = y - y.mean().item()
    scale = 1 / (1 + y.abs().max().item())
    return y * scale + y[y > 0].sum()


@exercise(
    "watch_breaks(patient, x) shows the line and the cause of each break. Cure the first one, "
    "then look again.",
    "You can drop the print. A mean or a maximum can stay a tensor, so why call .item()?",
    "torch.where(condition, a, b) computes both sides and selects from them. It can replace the "
    "if, because both sides have the same shape.",
    "y[y > 0] has as many elements as there are positive values. For a sum, zeros in the "
    "other places work as well: torch.where(y > 0, y, 0).sum().",
)
def break_surgery(operated: Callable):
    """One graph, no break, and the right results and gradients for every input tried."""
    near = partial(is_same_result, near=NEAR)
    with torch.enable_grad(), dynamo_settings.restore_config():
        answer = compiled_functions.find_original(operated)
        reason = find_difference(answer, patient, _make_eager_cases(), who="patient", same=near)
        if reason:
            return reason
        with compiled_apart():
            cases = _make_compiled_cases()
            return find_difference(answer, patient, cases, who="a correct answer", same=near)


def _make_eager_cases() -> list[JudgedCase]:
    """Return a case for each input and dtype, and one for the gradient, all without compiling."""
    tensors = []
    for values in INPUTS:
        for dtype in (torch.float, torch.double):
            tensors.append(torch.tensor(values, dtype=dtype))
    rows = [(f"for {x.tolist()}", x) for x in tensors]
    cases = make_cases(_run_eagerly, rows, _advise_on_result)
    cases.append(JudgedCase("the gradient for [0.5, 0, -1, -2]", _find_slope, _advise_on_slope))
    return cases


def _make_compiled_cases() -> list[JudgedCase]:
    """Return a case for each compiled call, with and without a gradient."""
    rows = [(f"compiled, for {x}", x, needs_slope) for x, needs_slope in COMPILED_INPUTS]
    return make_cases(_run_compiled, rows)


def _run_eagerly(x, fn: Callable) -> dict | str:
    """Return a result's dtype, shape and numbers, and the caller's tensor after the call.

    A result that is no tensor is returned as text.
    """
    own_x = x.clone()
    with redirected(io.StringIO()):
        result = require_attempt(fn(own_x))
    if not hasattr(result, "tolist"):
        return short_repr(result)
    kind = f"{result.dtype} of shape {tuple(result.shape)}"
    return {"kind": kind, "numbers": _round(result), "caller's tensor": own_x.tolist()}


def _advise_on_result(mine, real) -> str | None:
    """Return the two results, with the cause of the difference if they show one.

    None if the results are of different kinds, which says enough. `mine` and `real` are what
    `_run_eagerly` returned.
    """
    if type(mine) is not dict or mine["kind"] != real["kind"]:
        return None

    advice = ""
    if not is_same_result(mine["caller's tensor"], real["caller's tensor"]):
        advice = CHANGED
    elif np.any(np.isnan(mine["numbers"]) & ~np.isnan(real["numbers"])):
        advice = PRODUCT
    return advise_by_part(dict.fromkeys(mine, advice), "patient")(mine, real)


def _advise_on_slope(mine, real) -> str | None:
    """Return both gradients, and NO_SLOPE if the answer has none; None for an error."""
    is_cut = type(mine) is dict and mine["gradient"] is None
    advice = NO_SLOPE if is_cut else ""
    return advise_by_part({"gradient": advice}, "patient")(mine, real)


def _round(tensor) -> list:
    return tensor.detach().double().round(decimals=4).tolist()


def _find_slope(fn: Callable) -> dict:
    """Return the gradient of the result's sum for x, without its last item.

    That is the item with the largest magnitude. A cure that keeps the maximum a tensor has a
    gradient through it, and patient's `.item()` has none.
    """
    x = torch.tensor([0.5, 0.0, -1.0, -2.0], requires_grad=True)
    with redirected(io.StringIO()):
        result = fn(x)
    if not result.requires_grad:
        return {"gradient": None}
    [slope] = torch.autograd.grad(result.sum(), x)
    return {"gradient": _round(slope[:3])}


def _run_compiled(values: list, needs_slope: bool, fn: Callable) -> dict:
    """Compile and call a function; return its graphs and breaks, and if a gradient is recorded."""
    if fn is patient:  # patient itself breaks, so this is what a correct answer does
        return {"graphs": 1, "breaks": [], "gradient": needs_slope}

    # run_compiled needs a function of Python, and an answer may be any callable.
    traced = fn if type(fn) is FunctionType else lambda x: fn(x)
    x = torch.tensor(values, requires_grad=needs_slope)
    run, outcome = run_compiled(traced, (x,), None, "watch_breaks", steps=0)
    if outcome.error is not None:
        raise outcome.error
    return {
        "graphs": len(run.graphs),
        "breaks": [f"{found.code}: {found.cause}" for found in run.breaks],
        "gradient": outcome.value.requires_grad,
    }
