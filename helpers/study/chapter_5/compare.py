"""A learner's op -> the first place where it parts from numpy and torch, in words; or None."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from helpers.mini import oneflow as flow
from helpers.study.chapter_5.differ import parted
from helpers.study.chapter_5.inputs import Case, cases, plain
from helpers.study.chapter_5.named_calls import named
from helpers.study.chapter_5.run_op import loading, numerical, run, there_and_back, wrapper_of
from helpers.study.chapter_5.torch_oracle import torch_truth


class Truth(NamedTuple):
    """What an op should compute.

    Attributes:
        formula: torch's name of it, for the gradients.
        expected: `expected(x, **options)` gives the outputs as numpy computes them, in a tuple.
        outputs: how many there are.
        absolute: rounding errors are those of numbers of size 1, not of the size of `x`.
        endless, endless_dys, half: whether infinities and nan go in, come back; and float16.
        calls: the options of two calls in one job.
    """

    formula: str
    expected: Callable
    outputs: int = 1
    absolute: bool = False
    endless: bool = True
    endless_dys: bool = True
    half: bool = True
    calls: tuple[dict, dict] = ({}, {})


def judged(name: str, files: dict[str, str], judge: Callable) -> str | None:
    """Return what `judge(wrapper)` says of an op, or why its files cannot be loaded."""
    try:
        with loading(name, files) as api, np.errstate(all="ignore"):
            return judge(wrapper_of(api, name))
    except flow.OpError as error:
        return f"loading it fails: {error}"


def whole(wrapper, name: str, truth: Truth, few: bool = False) -> str | None:
    """Return how an op parts from the truth, or what is wrong with two calls; None if nothing."""
    return compared(wrapper, truth, few) or called_twice(wrapper, name, truth)


def compared(wrapper, truth: Truth, few: bool = False, **options) -> str | None:
    """Return how an op parts from the truth; None if it does not.

    `options` go to the wrapper, too. With `few` only two arrays are tried, on the way back alone.
    """
    first, *others = cases(truth.outputs, truth.endless, truth.endless_dys, truth.half)
    arrays = [first, others[0]] if few else [first, _PLAIN[truth.outputs], *others]
    steps = [] if few else [(case, _there) for case in arrays[:2]]
    for case, step in [*steps, *((case, _back) for case in arrays)]:
        if because := _tried(case, lambda: step(wrapper, case, options, truth)):  # noqa: B023
            return because
    return None


def called_twice(wrapper, name: str, truth: Truth) -> str | None:
    """Return what is wrong with two calls in one job, each with a name; None if nothing is."""
    first = cases(truth.outputs)[0]
    return _tried(first, lambda: named(wrapper, name, truth, first))


def _tried(case: Case, step: Callable) -> str | None:
    """Return what a step says, or at which array and which stage the op fails."""
    try:
        return step()
    except flow.OpError as error:
        return f"with {case}, {_stage(error)}: {error}"


def _stage(error: flow.OpError) -> str:
    said = {"load": "loading it fails", "define": "its definition fails", "run": "running it fails"}
    said |= {"build": "putting it into a job fails", "infer": "inferring its shapes fails"}
    return said.get(error.stage, "appending its gradient fails")


def _forward(got, case: Case, options, truth: Truth) -> str | None:
    wanted = truth.expected(case.x, **options)
    if len(got) != len(wanted):
        return f"the wrapper returns {len(got)} blob(s), and the op has {len(wanted)} output(s)"
    size = np.ones_like(case.x) if truth.absolute else case.x
    for number, (mine, right) in enumerate(zip(got, wanted, strict=True), 1):
        which = f"output {number}" if len(wanted) > 1 else "forward"
        right = np.asarray(right, case.x.dtype)
        if because := parted(which, "numpy", mine, right, {"x": case.x}, size, options):
            return because
    return None


def _there(wrapper, case: Case, options, truth: Truth) -> str | None:
    return _forward(run(wrapper, case.x, **options), case, options, truth)


def _back(wrapper, case: Case, options, truth: Truth) -> str | None:
    outputs, dx = there_and_back(wrapper, case.x, case.dys, **options)
    return _forward(outputs, case, options, truth) or _backward(wrapper, dx, case, options, truth)


def _backward(wrapper, dx, case: Case, options, truth: Truth) -> str | None:
    x, dys = case
    given = {"x": x, "dy": dys[0]} if len(dys) == 1 else {"x": x, "dy of output 1": dys[0]}
    given |= {f"dy of output {n}": dy for n, dy in enumerate(dys[1:], 2)}
    precise = [dy.astype(np.float64) for dy in dys]
    _, right = torch_truth(truth.formula, x.astype(np.float64), precise, **options)
    size = np.max([np.abs(dy) for dy in dys], axis=0)
    what, right = "the gradient", right.astype(x.dtype)
    # What is no number has no slope, either: any gradient will do there.
    dx, right = (np.where(np.isnan(x), x.dtype.type(0), array) for array in (dx, right))
    because = parted(what, "torch", dx, right, given, size, options)
    if because or case is not _PLAIN[truth.outputs]:
        return because
    slope = numerical(wrapper, x, dys, **options)
    return parted(what, "the numerical slope", dx, slope, given, size, options, near=1e-6)


_PLAIN = {1: plain(1), 2: plain(2)}
