"""Judge an exercise: a function that breaks Dynamo's graph, rewritten so that nothing breaks it.

The learner rewrites `patient`. The check compares results and gradients with those of `patient`,
first without compiling. Then it compiles the learner's function, and looks for graph breaks.
"""

import io
import math
from collections.abc import Callable
from functools import partial
from types import FunctionType

from helpers.capture.text.value import short_repr
from helpers.capture.torch.dynamo_run import run_compiled
from helpers.internals import compiled_functions, dynamo_settings
from helpers.internals.compiled_apart import compiled_apart
from helpers.safety.standard_output import redirect_prints
from helpers.study.answers import require_no_stub
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
NO_SLOPE = "no gradient leads from the result to x"  # slope: the gradient with respect to x


def patient(x):
    """Break Dynamo's graph in several places; the notebook has the same function."""
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
    near = partial(is_same_result, near=NEAR)  # numbers that differ by rounding count as the same
    with torch.enable_grad(), dynamo_settings.restore_config():
        answer = compiled_functions.find_original(operated)  # an answer may be compiled already
        # `find_difference` runs each case with the answer and with `patient`. It returns why the
        # answer is refused, or None.
        reason = find_difference(answer, patient, _make_eager_cases(), who="patient", same=near)
        if reason:
            return reason
        with compiled_apart():  # what Dynamo compiled before, such as in a cell, does not count
            cases = _make_compiled_cases()
            return find_difference(answer, patient, cases, who="a correct answer", same=near)


def _make_eager_cases() -> list[JudgedCase]:
    """Return the cases that run without compiling: each input and dtype, and the gradient.

    A JudgedCase has a text for the learner, a function that runs an answer, and one that gives
    advice on a difference.
    """
    tensors = []
    for values in INPUTS:
        for dtype in (torch.float, torch.double):
            tensors.append(torch.tensor(values, dtype=dtype))
    rows = [(f"for {x.tolist()}", x) for x in tensors]  # (text, argument of `_run_eagerly`)
    cases = make_cases(_run_eagerly, rows, _advise_on_result)
    cases.append(JudgedCase("the gradient for [0.5, 0, -1, -2]", _find_slope, _advise_on_slope))
    return cases


def _make_compiled_cases() -> list[JudgedCase]:
    """Return a case for each compiled call, with and without a gradient."""
    rows = [(f"compiled, for {x}", x, needs_slope) for x, needs_slope in COMPILED_INPUTS]
    return make_cases(_run_compiled, rows)


def _run_eagerly(x, fn: Callable) -> dict | str:
    """Call a function with a copy of x, and return what is compared.

    The keys are "kind" (dtype and shape as text), "numbers", and "caller's tensor", which is the
    copy after the call: the function must not change it. A result that is no tensor is returned as
    text instead.
    """
    own_x = x.clone()
    with redirect_prints(io.StringIO()):
        result = require_no_stub(fn(own_x))
    if not hasattr(result, "tolist"):
        return short_repr(result)
    kind = f"{result.dtype} of shape {tuple(result.shape)}"
    return {"kind": kind, "numbers": _round(result), "caller's tensor": own_x.tolist()}


def _advise_on_result(mine, real) -> str | None:
    """Return advice on two different results: the parts that differ, and the cause if it is known.

    None if the results differ in dtype or shape, or one is no tensor, because the results then say
    enough. `mine` and `real` are what `_run_eagerly` returned for the learner's function and for
    `patient`.
    """
    if type(mine) is not dict or mine["kind"] != real["kind"]:
        return None

    advice = ""
    has_changed_input = not is_same_result(mine["caller's tensor"], real["caller's tensor"])
    has_new_nan = np.any(np.isnan(mine["numbers"]) & ~np.isnan(real["numbers"]))
    if has_changed_input:
        advice = CHANGED
    elif has_new_nan:
        advice = PRODUCT
    # Whichever part differs, the advice is the same.
    return advise_by_part(dict.fromkeys(mine, advice), "patient")(mine, real)


def _advise_on_slope(mine, real) -> str | None:
    """Return advice on two different gradients: both of them, and NO_SLOPE if the answer has none.

    `mine` and `real` are what `_find_slope` returned. None if the learner's function raised.
    """
    has_no_gradient = type(mine) is dict and mine["gradient"] is None
    advice = NO_SLOPE if has_no_gradient else ""
    return advise_by_part({"gradient": advice}, "patient")(mine, real)


def _round(tensor) -> list:
    return tensor.detach().double().round(decimals=4).tolist()


def _find_slope(fn: Callable) -> dict:
    """Return {"gradient": …}: the gradient of the result's sum with respect to x, or None.

    The last item of the gradient is left out. It belongs to the item of x with the largest
    magnitude, for which right answers differ: some compute the maximum as a tensor, and the
    gradient leads through the tensor. `patient` calls `.item()`, through which no gradient leads.
    """
    x = torch.tensor([0.5, 0.0, -1.0, -2.0], requires_grad=True)
    with redirect_prints(io.StringIO()):
        result = fn(x)
    if not result.requires_grad:
        return {"gradient": None}
    [slope] = torch.autograd.grad(result.sum(), x)
    return {"gradient": _round(slope[:3])}


def _run_compiled(values: list, needs_slope: bool, fn: Callable) -> dict:
    """Compile and call a function, and return what Dynamo made of it.

    The keys are "graphs" (how many), "breaks" (a text for each graph break), and "gradient"
    (whether the result requires a gradient). `values` are those of x, and `needs_slope` says
    whether x requires a gradient.
    """
    if fn is patient:  # `patient` breaks the graph, so return what a correct answer would get
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
