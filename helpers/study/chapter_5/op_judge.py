"""Find the first value or gradient in which a learner's op differs from PyTorch's formula."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from helpers.mini import oneflow as flow
from helpers.study.chapter_5 import op_jobs
from helpers.study.engine import JudgedCase, find_difference
from helpers.study.frameworks import torch
from helpers.study.observations import Raised
from helpers.study.sameness import is_same_result
from helpers.study.sentences import describe_difference

SLOPE = "the gradient"
NEAR = {"float32": 4e-6, "float64": 4e-13}
SAMPLE = (-3.0, -1.0, -0.25, 0.5, 1.0, 2.0)
SPECIAL = (0.0, -0.0, 30.0, -30.0, 1000.0, -1000.0, np.inf, -np.inf, np.nan)
MODERATE = 4  # of SPECIAL: the first are neither huge nor infinite
DIGITS = (6, 9, 17)  # of a number in a message: the fewest in which two results differ
STAGES = {
    "load": "loading it fails",
    "define": "its definition fails",
    "build": "putting it into a job fails",
    "infer": "inferring its shapes fails",
    "run": "running it fails",
}


@dataclass(frozen=True)
class OpCall:
    """One call of an op on a multiple of x."""

    #: What x is multiplied by.
    factor: int
    #: The keyword arguments of the wrapper.
    options: dict


def judge_op(
    name: str, files: dict[str, str], truth: Callable, has_extremes: bool = True
) -> str | None:
    """Return how a learner's op differs from torch in values or gradients, or None.

    Parameters
    ----------
    name, files
        The op's name, and the texts of its files by name.
    truth
        `truth(x)` computes the right output from a tensor of torch.
    has_extremes
        Whether the op is also run on huge and infinite numbers and nan.
    """
    try:
        with op_jobs.loading(name, files) as api, np.errstate(all="ignore"):
            wrapper = op_jobs.wrapper_of(api, name)
            return find_difference(
                partial(_run_in_jobs, wrapper),
                partial(_run_in_torch, truth),
                _make_op_cases(has_extremes),
                "torch",
                _are_near,
            )
    except flow.OpError as error:
        return f"loading it fails: {error}"


def _are_near(mine, real) -> bool:
    """Return whether two results agree as well as their dtype allows; `real` is torch's."""
    return is_same_result(mine, real, NEAR[real[SLOPE].dtype.name])


def _make_op_cases(has_extremes: bool) -> Iterator[JudgedCase]:
    """Yield cases with ordinary numbers, special ones, a number without axes, and two calls."""
    sample = np.array(SAMPLE, "float32")
    special = np.array(SPECIAL if has_extremes else SPECIAL[:MODERATE])
    for x in (sample, special, np.array(0.75)):
        shape = ", ".join(map(str, x.shape))
        yield _make_op_case(f"{x.dtype}[{shape}]", x, [OpCall(1, {})])

    calls = [OpCall(1, {"name": "first"}), OpCall(-2, {"name": "second"})]
    yield _make_op_case("two calls in one job, of x and of -2 * x", sample, calls)


def _make_op_case(shows: str, x, calls: list[OpCall]) -> JudgedCase:
    """Return a case that makes these calls of an op on x, and goes back through all of them.

    Its `run(op)` calls `op(x, dys, calls)`, which is `_run_in_jobs` or `_run_in_torch` with their
    first argument given. The gradients `dys` that come back to the outputs are whole numbers of
    both signs, all different, so that no two items can be confused.
    """
    numbers = np.arange(1, x.size + 1).reshape(x.shape)
    signed = np.where(numbers % 2, numbers, -numbers)
    dys = []
    for index in range(len(calls)):
        dy = signed * (1 - 3 * index) + index
        dys.append(np.asarray(dy, x.dtype))

    def run(op):
        return op(x, dys, calls)

    return JudgedCase(f"with {shows}", run, partial(_advise_on_item, x, dys))


def _run_in_jobs(wrapper, x, dys, calls: list[OpCall]) -> dict:
    """Return the outputs and the gradient that the learner's op and its rule compute."""

    def call_all(blob):
        """Return the outputs of all calls, which are made in one job."""
        outputs = []
        for call in calls:
            scaled = blob if call.factor == 1 else blob * call.factor
            outputs.extend(op_jobs.blobs_of(wrapper, scaled, call.options))
        return outputs

    outputs, dx = op_jobs.there_and_back(call_all, x, dys)
    return _name_arrays(outputs, dx, x)


def _run_in_torch(truth: Callable, x, dys, calls: list[OpCall]) -> dict:
    """Return the outputs and the gradient by torch's own derivatives, in float64."""
    tensor = _as_double(x).requires_grad_()
    outputs = []
    loss = 0
    for call, dy in zip(calls, dys, strict=True):
        y = truth(tensor * call.factor)
        outputs.append(y.detach().numpy().astype(x.dtype))
        loss = loss + (y * _as_double(dy)).sum()
    loss.backward()

    dx = tensor.grad.numpy().astype(x.dtype)
    return _name_arrays(outputs, dx, x)


def _as_double(array):
    """Return an array as torch's tensor of float64."""
    return torch.from_numpy(array.astype("float64"))


def _name_arrays(outputs, dx, x) -> dict:
    """Return the arrays by name; the gradient is set to 0 where x is nan, which has no slope."""
    if len(outputs) == 1:
        arrays = {"forward": outputs[0]}
    else:
        arrays = {f"output {number}": y for number, y in enumerate(outputs, 1)}

    if dx.shape == x.shape:
        dx = np.where(np.isnan(x), 0, dx)
    arrays[SLOPE] = dx
    return arrays


def _advise_on_item(x, dys, mine, real) -> str | None:
    """Return the first item in which two results differ, with the inputs at that place.

    `mine` and `real` are what `_name_arrays` returned; `mine` can be Raised. None if only shapes
    differ.
    """
    if isinstance(mine, Raised):
        return _describe_error(mine)

    for name, right in real.items():
        if mine[name].shape != right.shape:
            continue
        inputs = {"x": x}
        if name == SLOPE:
            inputs |= _name_gradients(dys)
        for place in np.ndindex(right.shape):
            own_item = mine[name][place]
            right_item = right[place]
            if is_same_result(own_item, right_item, NEAR[x.dtype.name]):
                continue
            values = [f"{key} = {array[place]:g}" for key, array in inputs.items()]
            before = f"{name} at {', '.join(values)} ({right.dtype}): "
            own_text, right_text = _write_apart(own_item, right_item)
            return describe_difference(before, own_text, right_text, "torch")
    return None


def _describe_error(raised: Raised) -> str:
    """Return the error of the learner's op in words, with the stage of the job that failed."""
    if not isinstance(raised.error, flow.OpError):
        return f"yours {raised}"
    # STAGES has no words for the stage "backward", at which gradients are appended to a job.
    stage = getattr(raised.error, "stage", None)
    return f"{STAGES.get(stage, 'appending its gradient fails')}: {raised.error}"


def _name_gradients(dys) -> dict:
    """Return the gradients that come back to the outputs, by their names in a message."""
    if len(dys) == 1:
        return {"dy": dys[0]}
    return {f"dy of output {number}": dy for number, dy in enumerate(dys, 1)}


def _write_apart(mine: float, real: float) -> tuple[str, str]:
    """Return both numbers with as many digits as tell them apart."""
    for digits in DIGITS:
        own = f"gives {mine:.{digits}g}"
        right = f"gives {real:.{digits}g}"
        if own != right:
            break
    return own, right
