"""An operated function beside its patient, as plain Python: results and gradients on many inputs.

Torch is imported when a function is tried.
"""

import io
import math
from itertools import product

from helpers.capture.text.error import said
from helpers.capture.text.value import brief
from helpers.capture.torch.graph_breaks import tensor
from helpers.safety.output import redirected
from helpers.study.check import tried

SHAPES = ((), (1,), (2,), (5,), (2, 3), (3, 1, 2))
AT_INFINITY = ". Zero times infinity is nan: torch.where picks, and multiplies nothing"


def patient(x):
    """Break the graph in four places; the same lines stand in the notebook."""
    y = x * 2
    print("halfway", tuple(y.shape))
    if y.sum() > 0:
        y = y - y.mean().item()
    scale = 1 / (1 + y.abs().max().item())
    return y * scale + y[y > 0].sum()


def _letting(x, through_mean: bool, through_top: bool):
    """Return what the patient returns; a gradient flows through the mean, the maximum, or not."""
    y = x * 2
    if y.sum() > 0:
        mean = y.mean()
        y = y - (mean if through_mean else mean.detach())
    top = y.abs().max()
    scale = 1 / (1 + (top if through_top else top.detach()))
    return y * scale + y[y > 0].sum()


def inputs():
    """Return the values that are tried, the simple ones first."""
    import torch

    yield from ([1.0, -2.0, 4.0], [-1.0, -2.0, 0.5], [[2.0, 0.0], [-1.0, 3.0]], [-3.0])
    yield [0.0, -1.0, -2.0]  # at 0 clamp and maximum have other gradients
    yield from ([0.25], [-0.25], [0.3, -0.1], [0.1, -0.3], [1.5, -1.0, -0.5], 3.0, -3.0)
    draw = torch.Generator().manual_seed(4)
    for shape in SHAPES:
        yield (torch.randn(shape, generator=draw) * 3).tolist()
    yield from ([-math.inf, 1.0], [1.0, math.inf], [math.nan, 1.0], [0.0, -0.0])


def silent(fn, *args):
    """Return what a call gives, and let it print nothing."""
    with redirected(io.StringIO()):
        return fn(*args)


def parted(operated) -> str | None:
    """Return for which input the operated function gives something else, if for any."""
    import torch

    for values in inputs():
        for dtype in (torch.float32, torch.float64):
            x = tensor(values).to(dtype)
            before = x.clone()
            got = tried(silent(operated, x))
            if not _alike(x, before):
                return f"for {told(before)} it changed the caller's tensor; make a new one"
            if because := other(got, silent(patient, x), before):
                return because
        if because := slope_parted(operated, x):
            return because
    return None


def other(got, want, x, how: str = "yours") -> str | None:
    """Return how a result differs from the patient's, if it does."""
    import torch

    if not isinstance(got, torch.Tensor):
        return f"for {told(x)} {how} gives {brief(got)}, and patient gives a tensor"
    if got.dtype != want.dtype or got.shape != want.shape:
        mine, real = (f"{t.dtype} of shape {tuple(t.shape)}" for t in (got, want))
        return f"for {told(x)} {how} gives {mine}, and patient gives {real}"
    if _alike(got, want):
        return None
    digits = 4 if told(got) != told(want) else 9
    words = f"for {told(x)} {how} gives {told(got, digits)}, and patient gives {told(want, digits)}"
    return words + ("" if x.isfinite().all() else AT_INFINITY)


def slope_parted(fn, values, how: str = "yours") -> str | None:
    """Return how the gradient differs from each that will do, if it does.

    None is asked for where it hangs on rounding: near 0, at two maxima, at infinity.
    """
    if not _is_smooth(values):
        return None
    mine = _slope(fn, values)
    wanted = [
        _slope(lambda x, m=mean, t=top: _letting(x, m, t), values)
        for mean, top in product((False, True), repeat=2)
    ]
    where = f"for {told(values)}, which requires a gradient,"
    if mine is None:
        return (
            f"{where} {how} gives a result that has none, and patient's has one. Neither detach "
            "nor no_grad is a cure for the whole: what depends on x lets its gradient through"
        )
    if isinstance(mine, str):
        return f"{where} {how} raised {mine}"
    if any(_alike(mine, want) for want in wanted):
        return None
    return f"{where} {how} has the gradient {told(mine)}, and patient has {told(wanted[0])}"


def _is_smooth(x) -> bool:
    y = x * 2
    y = y - y.mean() if y.sum() > 0 else y
    sizes = y.abs()
    one_top = (sizes > sizes.max() * 0.999).sum() == 1
    return bool(y.isfinite().all() and one_top and ((sizes > 1e-3) | (y == 0)).all())


def _slope(fn, values):
    """Return the gradient of a weighted sum of the results; None if there is none, or words."""
    import torch

    x = values.clone().requires_grad_()
    try:
        result = silent(fn, x)
        if not isinstance(result, torch.Tensor) or not result.requires_grad:
            return None
        weights = torch.arange(1.0, result.numel() + 1, dtype=result.dtype).reshape(result.shape)
        (slope,) = torch.autograd.grad((result * weights).sum(), x, allow_unused=True)
    except Exception as error:
        return said(error)
    return slope


def _alike(one, other) -> bool:
    import torch

    return torch.allclose(one, other, equal_nan=True)


def told(value, digits: int = 4) -> str:
    """Return a tensor's numbers, the beginning of each."""
    kind = "" if str(value.dtype) == "torch.float32" else f" ({value.dtype})"
    return f"{_numbers(value.tolist(), digits)}{kind}"


def _numbers(value, digits: int) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_numbers(item, digits) for item in value)}]"
    return f"{value:.{digits}g}"
