"""A learner's op -> the first place where it parts from PyTorch: outputs, gradients, two calls."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from helpers.mini import oneflow as flow
from helpers.study.chapter_5.run_op import blobs_of, loading, there_and_back, wrapper_of
from helpers.study.engine import Case, Raised, find_difference, near_enough, parted

NEAR = {"float32": 4e-6, "float64": 4e-13}
SAMPLE = (-3.0, -1.0, -0.25, 0.5, 1.0, 2.0)
SPECIAL = (0.0, -0.0, 30.0, -30.0, 1000.0, -1000.0, np.inf, -np.inf, np.nan)
STAGES = {
    "load": "loading it fails",
    "define": "its definition fails",
    "build": "putting it into a job fails",
    "infer": "inferring its shapes fails",
    "run": "running it fails",
}


def judge_op(name: str, files: dict[str, str], truth: Callable, check=None, **kinds) -> str | None:
    """Return how an op parts from `truth(x, **options)`, which gives torch's outputs in a tuple.

    `kinds` are those of `_cases`; `check(wrapper)` says what else is wrong, if anything.
    """
    try:
        with loading(name, files) as api, np.errstate(all="ignore"):
            wrapper = wrapper_of(api, name)
            cases = _cases(len(truth(_tensor(np.ones(1)))), **kinds)
            answers = partial(_through_jobs, wrapper), partial(_through_torch, truth)
            because = find_difference(*answers, cases, "torch", _same)
            return because or (check(wrapper) if check else None)
    except flow.OpError as error:
        return f"loading it fails: {error}"


def _cases(outputs: int, options=({},), endless=True, endless_dys=True) -> Iterator[Case]:
    """Yield arrays, simple ones first, then other options, then two calls in one job.

    `outputs`: how many gradients come back. Without `endless` no infinity and no nan goes in;
    without `endless_dys` none comes back.
    """
    rng = np.random.default_rng(13)
    sample = np.array(SAMPLE, "float32")
    special = np.array(SPECIAL if endless else SPECIAL[:4])
    turned = rng.normal(0, 3, (3, 1, 2)).astype("float32").T
    for x, given in (
        *((x, {}) for x in (sample, special, turned, rng.normal(0, 3, ()))),
        *((sample, given) for given in options[1:]),
    ):
        dys = _gradients(x, outputs, endless_dys and x is turned)
        told = "".join(f", {name} = {value}" for name, value in given.items())
        yield _case(f"{_spec(x)}{told}", x, dys, (1, given), told=told)
    calls = (1, options[-1] | {"name": "first"}), (-2, {"name": "second"})
    dys = _gradients(sample, 2 * outputs, False)
    yield _case("two calls in one job, of x and of -2 * x, each with its name", sample, dys, *calls)


def _case(shows: str, x, dys, *calls, told="") -> Case:
    """Return a case: an op is called with each (factor, options), of factor * x."""

    def advice(mine, real):
        if isinstance(mine, Raised):
            error = mine.error
            if not isinstance(error, flow.OpError):
                return f"yours {mine}"
            return f"{STAGES.get(error.stage, 'appending its gradient fails')}: {error}"
        return next(filter(None, _differences(mine, real, x, dys, told)), None)

    return Case(f"with {shows}", lambda op: op(x, dys, *calls), advice)


def _gradients(x, outputs: int, endless: bool) -> list:
    """Return a gradient for each output: whole numbers, no two alike, of both signs, one zero."""
    counted = np.arange(1, x.size + 1).reshape(x.shape)
    signed = np.where(counted % 2, counted, -counted)
    dys = [np.where(counted == 3, 0, signed * (1 - 3 * n) + n) for n in range(outputs)]
    return [np.where(endless & (counted % 2 == 1), np.inf, dy).astype(x.dtype) for dy in dys]


def _through_jobs(wrapper, x, dys, *calls):
    def outputs(blob):
        blobs = ((blob if factor == 1 else blob * factor, given) for factor, given in calls)
        return [y for one, given in blobs for y in blobs_of(wrapper, one, given)]

    found, dx = there_and_back(outputs, x, dys)
    return found, _slope(x, dx)


def _through_torch(truth, x, dys, *calls):
    """Return outputs and gradient by torch's own derivatives, in float64."""
    given = _tensor(x)
    outputs = []
    for factor, options in calls:
        outputs += truth(given * factor, **{k: v for k, v in options.items() if k != "name"})
    sum((y * _tensor(dy).detach()).sum() for y, dy in zip(outputs, dys, strict=True)).backward()
    found = tuple(y.detach().numpy().astype(x.dtype) for y in outputs)
    return found, _slope(x, given.grad.numpy().astype(x.dtype))


def _slope(x, dx):
    """Return a gradient, without what it is for nan: that has no slope, and any will do."""
    return np.where(np.isnan(x), dx.dtype.type(0), dx) if dx.shape == x.shape else dx


def _tensor(x):
    import torch

    return torch.from_numpy(x.astype("float64")).requires_grad_()


def _same(mine, real) -> bool:
    if isinstance(mine, Raised):
        return False
    pairs = zip([*mine[0], mine[1]], [*real[0], real[1]], strict=False)
    return len(mine[0]) == len(real[0]) and all(_alike(*pair) for pair in pairs)


def _alike(mine, right) -> bool:
    same_kind = mine.shape == right.shape and mine.dtype == right.dtype
    return same_kind and near_enough(mine, right, NEAR[right.dtype.name])


def _differences(mine, real, x, dys, told: str) -> Iterator[str]:
    """Yield where the arrays of one case part, in words."""
    if len(mine[0]) != len(real[0]):
        yield f"the wrapper returns {len(mine[0])} blob(s), not {len(real[0])}"
    several = len(real[0]) > 1
    for n, (got, right) in enumerate(zip(mine[0], real[0], strict=False), 1):
        yield _difference(f"output {n}" if several else "forward", got, right, {"x": x}, told)
    given = {"x": x}
    given |= {f"dy of output {n}" if several else "dy": dy for n, dy in enumerate(dys, 1)}
    yield _difference("the gradient", mine[1], real[1], given, told)


def _difference(which: str, got, right, given, told: str) -> str | None:
    if got.shape != right.shape or got.dtype != right.dtype:
        return parted(f"{which}: ", f"gives {_spec(got)}", f"gives {_spec(right)}", "torch")
    for place in np.ndindex(right.shape):
        if not _alike(got[place], right[place]):
            at = ", ".join(f"{name} = {array[place]:g}" for name, array in given.items())
            pair = got[place], right[place]
            texts = ([f"gives {one:.{digits}g}" for one in pair] for digits in (6, 9, 17))
            gives = next(two for two in texts if two[0] != two[1])
            return parted(f"{which} at {at}{told} ({right.dtype}): ", *gives, "torch")
    return None


def _spec(array) -> str:
    return f"{array.dtype}[{', '.join(map(str, array.shape))}]"
