"""Run the files of an op in jobs: forward, and backward by its gradient rule.

Each trial has its own session, so what a learner registers is gone afterwards.
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
    """Return the learner's files; InvalidAnswer for a missing one, NotAttempted for `...`."""
    files = require_named_values(answer, file_names(op), "the answer")
    for name, text in files.items():
        if not isinstance(text, str):
            raise InvalidAnswer(f"{name} must contain the text of the file, not {short_repr(text)}")
    return files


@contextmanager
def loading(name: str, files: dict[str, str], kernel: bool = True):
    """Load an op's folder in a fresh session and yield the module of its api file.

    `files`: name -> text. Without `kernel`, the kernel file is not loaded. May raise OpError.
    """
    with flow.fresh_session():
        module = flow.experimental.custom_op_module(name, op_folder(name, files))
        module = module.py_def().py_api()
        if kernel:
            module = module.py_kernel()
        yield module.build_load().api


def wrapper_of(api, name: str):
    """Return the wrapper of an op from the module of its api file; InvalidAnswer if it has none."""
    wrapper = getattr(api, f"{name}_forward", None)
    if not callable(wrapper):
        raise InvalidAnswer(f"{name}_py_api.py must define {name}_forward")
    return wrapper


def run_op(name: str, files: dict[str, str], x: np.ndarray) -> np.ndarray:
    """Load an op in a fresh session and return the first output for `x`. May raise OpError."""
    with loading(name, files) as api:
        return run_forward(wrapper_of(api, name), x)[0]


def run_forward(wrapper, x: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the outputs of `wrapper(x)` in a predict job."""

    @flow.global_function()
    def predict_job(x: flow.typing.Numpy.Placeholder(x.shape, dtype=x.dtype.name)):
        with flow.scope.placement("cpu", "0:0"):
            return blobs_of(wrapper, x)

    return predict_job(x)


def failing_stage(job, *arrays) -> str:
    """Call a job function; return the stage at which it fails, or "none"."""
    try:
        job(*arrays)
    except flow.OpError as error:
        return error.stage
    return "none"


def gradient(wrapper, x: np.ndarray, dys) -> np.ndarray:
    """Return the gradient of the sum of all outputs times `dys`, by the op's own rule."""
    _, dx = there_and_back(lambda x: blobs_of(wrapper, x), x, dys)
    return dx


def there_and_back(function: Callable, x: np.ndarray, dys) -> tuple[tuple, np.ndarray]:
    """Run `function(blob)` in a train job; return its outputs, and the gradient for x.

    `dys` has an array for each output. The gradient is that of the sum of all outputs times `dys`.
    """
    weighted = weighted_job(function, x)
    # Reading the attribute records the job, and only then do the weights exist.
    weighted.job.job  # noqa: B018
    names = weighted.weight_names
    if len(names) != len(dys):
        raise InvalidAnswer(f"the wrapper returns {len(names)} blob(s), not {len(dys)}")

    # The gradient of sum(y * dy) for y is dy, so these weights are what comes back to each output.
    flow.load_variables(dict(zip(names, dys, strict=True)))
    outputs = weighted.job(x)
    return outputs, weighted.gradients["dx"]


@dataclass(frozen=True)
class WeightedJob:
    """A train job whose loss is the sum of each output times a weight."""

    #: The job function.
    job: Callable
    #: The names of the weights, once the job is recorded.
    weight_names: list[str]
    #: "dx" -> the gradient for the input in the last run.
    gradients: dict[str, np.ndarray]


def weighted_job(function: Callable, x: np.ndarray) -> WeightedJob:
    """Return a train job of `function(blob)`, for an input of the shape and dtype of `x`.

    The function returns several blobs. When the job is recorded, the names of the weights are
    filled in; when it runs, the gradient is.
    """
    weight_names = []
    gradients = {}

    @flow.global_function(type="train")
    def train_job(x: flow.typing.Numpy.Placeholder(x.shape, dtype=x.dtype.name)):
        with flow.scope.placement("cpu", "0:0"):
            # Only what depends on a variable has a gradient, so add one that is zero.
            blob = x + _make_zeros(x, trainable=True)
            # Each run calls this with the gradient of the loss for the blob.
            flow.watch_diff(blob, lambda array: gradients.update(dx=array))
            outputs = tuple(function(blob))
            weights = [_make_zeros(y, trainable=False) for y in outputs]
            # A blob is named after its op and the op's output: variable_1/out_0.
            weight_names.extend(weight.name.removesuffix("/out_0") for weight in weights)
            _minimize(outputs, weights)
        return outputs

    return WeightedJob(train_job, weight_names, gradients)


def _make_zeros(like, trainable: bool):
    """Return a new variable of zeros, in the shape and the dtype of a blob."""
    name = f"variable_{len(flow.get_all_variables())}"
    start = flow.zeros_initializer()
    return flow.get_variable(name, like.shape, like.dtype, start, trainable=trainable)


def _minimize(outputs: tuple, weights: list) -> None:
    """Append the loss to the job, and an optimizer that changes nothing."""
    parts = [flow.math.reduce_sum(y * dy) for y, dy in zip(outputs, weights, strict=True)]
    loss = sum(parts[1:], parts[0])  # started with a blob, because sum starts with the int 0
    rate = flow.optimizer.PiecewiseConstantScheduler([], [0.0])
    flow.optimizer.SGD(rate).minimize(loss)


def blobs_of(wrapper, x, options=None) -> tuple:
    """Call `wrapper(x, **options)`; return its blobs. InvalidAnswer for anything else."""
    result = wrapper(x, **(options or {}))
    blobs = tuple(result) if isinstance(result, (tuple, list)) else (result,)
    if not blobs:
        _refuse_result(wrapper, ())
    for blob in blobs:
        if type(blob) is not type(x):
            _refuse_result(wrapper, blob)
    return blobs


def _refuse_result(wrapper, value) -> None:
    """Raise InvalidAnswer for what a wrapper has returned."""
    name = getattr(wrapper, "__name__", "the wrapper")
    raise InvalidAnswer(f"{name} returned {short_repr(value)}; it must return a blob")
