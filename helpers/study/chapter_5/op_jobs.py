"""Run a learner's op in jobs of the small OneFlow: forward, and backward by its gradient rule.
An op has three files: its definition with the gradient rule, its *wrapper*, and its kernel. The
wrapper is the function that a user calls; it adds the op to the job that is being recorded. A *job*
is a recorded graph of ops, which then runs on arrays. A *blob* is a tensor in a job. Each trial has
a session of its own, so what a learner registers is gone afterwards.
"""

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from helpers.capture.text.value import short_repr
from helpers.mini import oneflow as flow
from helpers.study.answers import InvalidAnswer, require_named_values
from helpers.study.chapter_5.op_texts import file_names
from helpers.study.op_folder import op_folder


def require_files(answer, op: str) -> dict[str, str]:
    """Return the learner's answer for the exercise on `op`: name of a file -> text.

    Raise InvalidAnswer if a file is missing or is no text, NotAttempted if the answer is `...`.
    """
    files = require_named_values(answer, file_names(op), "the answer")
    for name, text in files.items():
        if not isinstance(text, str):
            raise InvalidAnswer(f"{name} must contain the text of the file, not {short_repr(text)}")
    return files


@contextmanager
def load_op_in_fresh_session(name: str, files: dict[str, str], kernel: bool = True):
    """Load an op in a fresh session; yield the module of its api file, which has the wrapper.

    The session ends with the `with` block. OpError is raised if a file of the op is wrong.

    Parameters
    ----------
    name : str
        The name of the op.
    files : dict of str to str
        Name -> text of each file.
    kernel : bool
        Whether to load the kernel file.
    """
    with flow.fresh_session():
        # `op_folder` writes the files. The calls choose which of them to load, as in OneFlow.
        module = flow.experimental.custom_op_module(name, op_folder(name, files))
        module = module.py_def().py_api()
        if kernel:
            module = module.py_kernel()
        yield module.build_load().api


def find_wrapper(api, name: str):
    """Return the function `{name}_forward` of an op's api module; InvalidAnswer if it has none."""
    wrapper = getattr(api, f"{name}_forward", None)
    if not callable(wrapper):
        raise InvalidAnswer(f"{name}_py_api.py must define {name}_forward")
    return wrapper


def run_op(name: str, files: dict[str, str], x: np.ndarray) -> np.ndarray:
    """Load an op in a fresh session and return the first output for `x`. May raise OpError.

    `files` maps the name of each file of the op to its text.
    """
    with load_op_in_fresh_session(name, files) as api:
        return run_forward(find_wrapper(api, name), x)[0]


def run_forward(wrapper, x: np.ndarray) -> tuple[np.ndarray, ...]:
    """Run `wrapper(x)` in a new job without training, and return its outputs as arrays."""

    @flow.global_function()
    def predict_job(x: flow.typing.Numpy.Placeholder(x.shape, dtype=x.dtype.name)):
        with flow.scope.placement("cpu", "0:0"):
            return call_for_blobs(wrapper, x)

    return predict_job(x)


def failing_stage(job, *arrays) -> str:
    """Call a job with arrays; return the stage at which it fails, such as "infer", or "none"."""
    try:
        job(*arrays)
    except flow.OpError as error:
        return error.stage
    return "none"


def gradient(wrapper, x: np.ndarray, dys) -> np.ndarray:
    """Return the gradient for x of the sum of each output times its item of `dys`.

    The op's own gradient rule computes it.
    """
    _, dx = run_forward_and_backward(lambda x: call_for_blobs(wrapper, x), x, dys)
    return dx


def run_forward_and_backward(function: Callable, x: np.ndarray, dys) -> tuple[tuple, np.ndarray]:
    """Run `function(blob)` in a train job; return its outputs, and the gradient for x.

    `dys` has an array for each output: the gradient that comes back to this output. The result is
    the gradient for x of the sum of each output times its item of `dys`. Raise InvalidAnswer if the
    function returns another number of outputs.
    """
    weighted_job = make_weighted_job(function, x)
    # Reading this attribute records the job. Before that, the job has no weights.
    weighted_job.job.job  # noqa: B018
    weight_names = weighted_job.weight_names
    if len(weight_names) != len(dys):
        raise InvalidAnswer(f"the wrapper returns {len(weight_names)} blob(s), not {len(dys)}")

    # The loss is the sum of y * weight, so the gradient that comes back to y is the weight.
    flow.load_variables(dict(zip(weight_names, dys, strict=True)))
    outputs = weighted_job.job(x)
    return outputs, weighted_job.gradients["dx"]


@dataclass(frozen=True)
class WeightedJob:
    """A train job whose loss is the sum of each output times a weight, a variable of the job."""

    #: The job: a call with an array runs it.
    job: Callable
    #: The names of the weights, one for each output. Empty until the job is recorded.
    weight_names: list[str]
    #: "dx" -> the gradient for the input in the last run. Empty until the job has run.
    gradients: dict[str, np.ndarray]


def make_weighted_job(function: Callable, x: np.ndarray) -> WeightedJob:
    """Return a train job that calls `function(blob)`, which returns several blobs.

    The loss of the job is the sum of each blob times a weight, which is a variable of the job. The
    input has the shape and the dtype of `x`. The returned record is filled later: with the names of
    the weights when the job is recorded, with the gradient when the job runs.
    """
    weight_names = []
    gradients = {}

    @flow.global_function(type="train")
    def train_job(x: flow.typing.Numpy.Placeholder(x.shape, dtype=x.dtype.name)):
        with flow.scope.placement("cpu", "0:0"):
            # OneFlow computes gradients only for what depends on a variable. So a variable that is
            # zero is added to the input.
            blob = x + _make_zeros(x, trainable=True)
            # Each run calls the lambda with the gradient of the loss for the blob.
            flow.watch_diff(blob, lambda array: gradients.update(dx=array))
            outputs = tuple(function(blob))
            weights = [_make_zeros(y, trainable=False) for y in outputs]
            # The blob of the variable `variable_1` has the name `variable_1/out_0`.
            weight_names.extend(weight.name.removesuffix("/out_0") for weight in weights)
            _minimize(outputs, weights)
        return outputs

    return WeightedJob(train_job, weight_names, gradients)


def _make_zeros(like, trainable: bool):
    """Add a variable of zeros to the job, with the shape and the dtype of the blob `like`."""
    name = f"variable_{len(flow.get_all_variables())}"
    initializer = flow.zeros_initializer()
    return flow.get_variable(name, like.shape, like.dtype, initializer, trainable=trainable)


def _minimize(outputs: tuple, weights: list) -> None:
    """Add the loss to the job, the sum of each output times its weight, and an optimizer.

    The optimizer is needed for a backward pass. Its learning rate is 0, so it changes no variable.
    """
    terms = [flow.math.reduce_sum(y * weight) for y, weight in zip(outputs, weights, strict=True)]
    loss = sum(terms[1:], start=terms[0])  # by default, `sum` would add a blob to the int 0
    learning_rate = flow.optimizer.PiecewiseConstantScheduler([], [0.0])
    flow.optimizer.SGD(learning_rate).minimize(loss)


def call_for_blobs(wrapper, x, options=None) -> tuple:
    """Return the blobs that `wrapper(x, **options)` returns, as a tuple.

    `x` is a blob. Raise InvalidAnswer if the wrapper returns nothing, or anything but blobs.
    """
    result = wrapper(x, **(options or {}))
    blobs = tuple(result) if isinstance(result, (tuple, list)) else (result,)
    if not blobs:
        _refuse_result(wrapper, ())
    for blob in blobs:
        if type(blob) is not type(x):  # not a blob
            _refuse_result(wrapper, blob)
    return blobs


def _refuse_result(wrapper, value) -> None:
    """Raise InvalidAnswer: a wrapper has returned this value, which is no blob."""
    name = getattr(wrapper, "__name__", "the wrapper")
    raise InvalidAnswer(f"{name} returned {short_repr(value)}; it must return a blob")
