"""Find the first value or gradient in which a learner's op differs from the same formula in torch.
Both run on the same *cases*: inputs `x`, with one or two calls of the op. `dys` are the gradients
that come back to the outputs of the calls, and `dx` is the gradient for x.
"""

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

SLOPE = "the gradient"  # the name of dx in a message
NEAR = {"float32": 4e-6, "float64": 4e-13}  # dtype -> largest difference, relative
SAMPLE = (-3.0, -1.0, -0.25, 0.5, 1.0, 2.0)
SPECIAL = (0.0, -0.0, 30.0, -30.0, 1000.0, -1000.0, np.inf, -np.inf, np.nan)
MODERATE = 4  # of SPECIAL: the first four are neither huge nor infinite
DIGITS = (6, 9, 17)  # of a number in a message; the fewest that show a difference are used
# Stage of a job at which an op fails -> how a message begins.
STAGES = {
    "load": "loading it fails",
    "define": "its definition fails",
    "build": "putting it into a job fails",
    "infer": "inferring its shapes fails",
    "run": "running it fails",
}


@dataclass(frozen=True)
class OpCall:
    """One call of an op, on x times a factor."""

    #: The number by which x is multiplied.
    factor: int
    #: The keyword arguments of the call, such as {"name": "first"}.
    options: dict


def judge_op(
    name: str, files: dict[str, str], truth: Callable, has_extremes: bool = True
) -> str | None:
    """Return how a learner's op differs from torch in values or gradients; None if it does not.

    Parameters
    ----------
    name : str
        The name of the op.
    files : dict of str to str
        Name -> text of each file of the op.
    truth : Callable
        `truth(x)` computes the right output from a tensor of torch.
    has_extremes : bool
        Whether the op is also run on huge and infinite numbers and nan.
    """
    try:
        with op_jobs.load_op_in_fresh_session(name, files) as api, np.errstate(all="ignore"):
            wrapper = op_jobs.find_wrapper(api, name)
            # Each case is run with the learner's op and with torch. The first difference is
            # returned as a sentence, None if there is none.
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
    """Return whether two results are equal, up to rounding errors of their dtype.

    Both are dicts as `_name_arrays` returns them. `mine` is the learner's, `real` is torch's.
    """
    return is_same_result(mine, real, NEAR[real[SLOPE].dtype.name])


def _make_op_cases(has_extremes: bool) -> Iterator[JudgedCase]:
    """Yield cases with ordinary numbers, special ones, an array without axes, and two calls."""
    sample = np.array(SAMPLE, "float32")
    special = np.array(SPECIAL if has_extremes else SPECIAL[:MODERATE])
    for x in (sample, special, np.array(0.75)):
        shape = ", ".join(map(str, x.shape))
        yield _make_op_case(f"{x.dtype}[{shape}]", x, [OpCall(1, {})])

    calls = [OpCall(1, {"name": "first"}), OpCall(-2, {"name": "second"})]
    yield _make_op_case("two calls in one job, of x and of -2 * x", sample, calls)


def _make_op_case(shows: str, x, calls: list[OpCall]) -> JudgedCase:
    """Return a case that makes these calls of an op on x, and computes the gradient for x.

    A case has a text for messages, a function that runs the op, and a function that describes a
    difference.

    Parameters
    ----------
    shows : str
        What a message says of the case, such as "float32[6]".
    x : numpy.ndarray
        The input.
    calls : list of OpCall
        The calls of the op, all in one job.
    """
    # The gradients that come back to the outputs are whole numbers of both signs: 1, -2, 3, -4 for
    # the first call, and -1, 5, -5, 9 for the second. No number occurs twice in a call, so an op
    # that exchanges two of them is noticed.
    numbers = np.arange(1, x.size + 1).reshape(x.shape)
    alternating = np.where(numbers % 2, numbers, -numbers)
    dys = []
    for index in range(len(calls)):
        dy = alternating * (1 - 3 * index) + index
        dys.append(np.asarray(dy, x.dtype))

    def run(run_calls):
        """Run the case with the learner's op (`_run_in_jobs`) or with torch (`_run_in_torch`)."""
        return run_calls(x, dys, calls)

    return JudgedCase(f"with {shows}", run, partial(_advise_on_item, x, dys))


def _run_in_jobs(wrapper, x, dys, calls: list[OpCall]) -> dict:
    """Return the outputs and the gradient that the learner's op and its gradient rule compute.

    `wrapper` is the learner's function that calls the op. The result is that of `_name_arrays`.
    """

    def call_all(blob):
        """Return the outputs of all calls. This function is recorded as one job."""
        outputs = []
        for call in calls:
            # For 1 the op gets the input of the job itself, without a multiplication before it.
            scaled = blob if call.factor == 1 else blob * call.factor
            outputs.extend(op_jobs.call_for_blobs(wrapper, scaled, call.options))
        return outputs

    outputs, dx = op_jobs.run_forward_and_backward(call_all, x, dys)
    return _name_arrays(outputs, dx, x)


def _run_in_torch(truth: Callable, x, dys, calls: list[OpCall]) -> dict:
    """Return the right outputs and gradient, computed by torch in float64.

    `truth` is the formula of the op in torch. The result is that of `_name_arrays`.
    """
    tensor = _as_double(x).requires_grad_()
    outputs = []
    loss = 0  # the sum of all outputs times their dy, whose gradient for x is dx
    for call, dy in zip(calls, dys, strict=True):
        y = truth(tensor * call.factor)
        outputs.append(y.detach().numpy().astype(x.dtype))
        loss = loss + (y * _as_double(dy)).sum()
    loss.backward()

    dx = tensor.grad.numpy().astype(x.dtype)
    return _name_arrays(outputs, dx, x)


def _as_double(array):
    """Return an array as a tensor of torch, in float64."""
    return torch.from_numpy(array.astype("float64"))


def _name_arrays(outputs, dx, x) -> dict:
    """Return name in a message -> array: "forward" or "output 1", "output 2", and `SLOPE`.

    Where x is nan, no gradient is right or wrong, so it is set to 0.
    """
    if len(outputs) == 1:
        arrays = {"forward": outputs[0]}
    else:
        arrays = {f"output {number}": y for number, y in enumerate(outputs, 1)}

    if dx.shape == x.shape:  # a learner's gradient may have a wrong shape
        dx = np.where(np.isnan(x), 0, dx)
    arrays[SLOPE] = dx
    return arrays


def _advise_on_item(x, dys, mine, real) -> str | None:
    """Return a sentence on the first item in which two results differ, with the inputs there.

    Return None if the results differ only in their shapes.

    Parameters
    ----------
    x, dys
        The input of the case, and the gradients that come back to the outputs.
    mine : dict or Raised
        The learner's result, as `_name_arrays` returns it, or the error that was raised.
    real : dict
        The right result.
    """
    if isinstance(mine, Raised):
        return _describe_error(mine)

    for name, right_array in real.items():
        own_array = mine[name]
        if own_array.shape != right_array.shape:
            continue
        inputs = {"x": x}  # name in the sentence -> array
        if name == SLOPE:
            inputs |= _name_gradients(dys)
        for index in np.ndindex(right_array.shape):
            own_item = own_array[index]
            right_item = right_array[index]
            if is_same_result(own_item, right_item, NEAR[x.dtype.name]):
                continue
            values = [f"{key} = {array[index]:g}" for key, array in inputs.items()]
            before = f"{name} at {', '.join(values)} ({right_array.dtype}): "
            own_text, right_text = _format_apart(own_item, right_item)
            return describe_difference(before, own_text, right_text, "torch")
    return None


def _describe_error(raised: Raised) -> str:
    """Return a sentence on the error of the learner's op, with the stage of the job that failed."""
    if not isinstance(raised.error, flow.OpError):
        return f"yours {raised}"
    # STAGES has no words for the stage "backward", at which gradients are appended to a job.
    stage = getattr(raised.error, "stage", None)
    return f"{STAGES.get(stage, 'appending its gradient fails')}: {raised.error}"


def _name_gradients(dys) -> dict:
    """Return name in a message -> gradient that comes back to an output."""
    if len(dys) == 1:
        return {"dy": dys[0]}
    return {f"dy of output {number}": dy for number, dy in enumerate(dys, 1)}


def _format_apart(mine: float, real: float) -> tuple[str, str]:
    """Return two numbers as text, with so many digits that the texts differ."""
    for digits in DIGITS:
        own_text = f"gives {mine:.{digits}g}"
        right_text = f"gives {real:.{digits}g}"
        if own_text != right_text:
            break
    return own_text, right_text
