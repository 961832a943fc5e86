"""A learner's op -> the first place where it parts from numpy and torch, in words; or None."""

from collections.abc import Callable

import numpy as np

from helpers.mini import oneflow as flow
from helpers.study.chapter_5.run_op import gradient, loading, numerical, run, wrapper_of
from helpers.study.chapter_5.torch_oracle import torch_truth

EXACT, CLOSE = {"float32": 2e-6, "float64": 1e-13}, 1e-6
SAMPLE = (-3.0, -1.0, -0.25, 0.5, 1.0, 2.0)  # no kinks: a numerical slope exists at each


def judged(name: str, files: dict[str, str], judge: Callable) -> str | None:
    """Return what `judge(wrapper)` says of an op, or why its files cannot be loaded."""
    try:
        with loading(name, files) as api:
            return judge(wrapper_of(api, name))
    except flow.OpError as error:
        return f"loading it fails: {error}"


def compared(wrapper, formula: str, expected, **options) -> str | None:
    """Return how an op parts from the truth; None if it does not.

    `expected(x, **options)` gives the outputs as numpy computes them, in a tuple; `formula` names
    the same for torch. `options` go to the wrapper, too.
    """
    try:
        for dtype, shape in (("float32", (6,)), ("float64", (2, 3))):
            x = np.array(SAMPLE, dtype).reshape(shape)
            because = _forward(wrapper, expected, x, options)
            because = because or _backward(wrapper, formula, x, options)
            if because:
                return because
    except flow.OpError as error:
        return f"{_stage(error)}: {error}"
    return None


def _stage(error: flow.OpError) -> str:
    said = {"load": "loading it fails", "define": "its definition fails", "run": "running it fails"}
    said |= {"build": "putting it into a job fails", "infer": "inferring its shapes fails"}
    return said.get(error.stage, "appending its gradient fails")


def _forward(wrapper, expected, x, options) -> str | None:
    got, wanted = run(wrapper, x, **options), expected(x, **options)
    if len(got) != len(wanted):
        return f"the wrapper returns {len(got)} blob(s), and the op has {len(wanted)} outputs"
    for number, (mine, truth) in enumerate(zip(got, wanted, strict=True), 1):
        which = f"output {number} is" if len(wanted) > 1 else "forward gives"
        if because := _parted(which, "numpy gives", mine, truth, x, EXACT[x.dtype.name], options):
            return because
    return None


def _backward(wrapper, formula, x, options) -> str | None:
    truth, _ = torch_truth(formula, x, **options)
    dys = [
        np.arange(1, x.size + 1, dtype=x.dtype).reshape(x.shape) * (n + 1)
        for n in range(len(truth))
    ]
    mine = gradient(wrapper, x, dys, **options)
    _, dx = torch_truth(formula, x, dys, **options)
    because = _parted("the gradient is", "torch gives", mine, dx, x, CLOSE, options)
    if because or x.dtype != np.float64:
        return because
    slope = numerical(wrapper, x, dys, **options)
    return _parted("the gradient is", "the numerical slope is", mine, slope, x, CLOSE, options)


def _parted(which, who, mine, truth, x, near, options) -> str | None:
    """Return the first place where two arrays differ by more than `near` of the truth."""
    if mine.shape != truth.shape or mine.dtype != truth.dtype:
        return f"{which} {mine.dtype}{list(mine.shape)}, {who} {truth.dtype}{list(truth.shape)}"
    with np.errstate(invalid="ignore"):
        wrong = ~(np.abs(mine - truth) <= near * (1 + np.abs(truth)))
    for place in zip(*np.nonzero(wrong), strict=True):
        given = "".join(f", {name} = {value}" for name, value in options.items())
        return f"at x = {x[place]}{given} {which} {mine[place]:.6g}, and {who} {truth[place]:.6g}"
    return None
