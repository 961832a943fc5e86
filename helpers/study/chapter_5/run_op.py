"""The files of an op -> what it computes in jobs: forward, and backward by its gradient rule.

Everything happens in a session of its own: what a learner registers for a trial is gone after it.
"""

from contextlib import contextmanager

import numpy as np

from helpers.capture.text.value import brief
from helpers.mini import oneflow as flow
from helpers.study.check import Unfit, tried
from helpers.study.op_folder import op_folder

STEP = 1e-6  # of the numerical derivative, in float64


def texts(answer, names: tuple[str, ...]) -> dict[str, str]:
    """Return the learner's files; Unfit says what is missing, Untried if one is `...`."""
    if not isinstance(answer, dict) or set(answer) != set(names):
        raise Unfit(f"the answer must be a dict with the keys {', '.join(names)}")
    for name in names:
        if not isinstance(tried(answer[name]), str):
            raise Unfit(f"{name} must hold the text of the file, in quotes")
    return answer


@contextmanager
def loading(name: str, files: dict[str, str], definition: str = "py_def", kernel: bool = True):
    """Load the folder of an op in a fresh session, and give its wrapper module. May raise OpError.

    `definition`: py_def or cpp_def. Without `kernel` the kernel file is left aside.
    """
    with flow.fresh_session():
        module = flow.experimental.custom_op_module(name, op_folder(name, files))
        getattr(module.py_api(), definition)()
        if kernel:
            module.py_kernel()
        yield module.build_load().api


def wrapper_of(api, name: str):
    """Return the wrapper of an op from the module of its api file; Unfit if it has none."""
    wrapper = getattr(api, f"{name}_forward", None)
    if not callable(wrapper):
        raise Unfit(f"{name}_py_api.py must define {name}_forward")
    return wrapper


def run_op(name: str, files: dict[str, str], x: np.ndarray) -> np.ndarray:
    """Load an op in a fresh session and return the first output for `x`. May raise OpError."""
    with loading(name, files) as api:
        return run(wrapper_of(api, name), x)[0]


def failing_stage(job, *arrays) -> str:
    """Call a job function; return the stage at which it fails, or "none"."""
    try:
        job(*arrays)
    except flow.OpError as error:
        return error.stage
    return "none"


def run(wrapper, x: np.ndarray, **options) -> tuple[np.ndarray, ...]:
    """Return the outputs of `wrapper(x, **options)` in a predict job."""

    @flow.global_function()
    def predict_job(x: flow.typing.Numpy.Placeholder(x.shape, dtype=x.dtype.name)):
        with flow.scope.placement("cpu", "0:0"):
            return _blobs(wrapper, x, options)

    return predict_job(x)


def written_job(wrapper) -> str:
    """Return the text of a train job through `wrapper(x)`: all ops, forward and backward."""
    job, _, _ = _train_job(wrapper, np.ones((2, 3), np.float32), {})
    return str(job.job)


def gradient(wrapper, x: np.ndarray, dys, **options) -> np.ndarray:
    """Return the gradient of the sum of all outputs times `dys`, by the op's own rule."""
    job, weights, seen = _train_job(wrapper, x, options)
    job.job  # noqa: B018  written down now, so that the weights are there
    flow.load_variables(dict(zip(weights, dys, strict=True)))
    job(x)
    return seen["dx"]


def _train_job(wrapper, x: np.ndarray, options):
    """Return a job, a list of the names of its weights when written, what it saw when run."""
    seen, weights = {}, []

    @flow.global_function(type="train")
    def train_job(x: flow.typing.Numpy.Placeholder(x.shape, dtype=x.dtype.name)):
        with flow.scope.placement("cpu", "0:0"):
            given = x + _zeros(x, trainable=True)
            flow.watch_diff(given, lambda array: seen.update(dx=array))
            outputs = _blobs(wrapper, given, options)
            held = [_zeros(y, trainable=False) for y in outputs]
            weights.extend(blob.name.removesuffix("/out_0") for blob in held)
            parts = [flow.math.reduce_sum(y * dy) for y, dy in zip(outputs, held, strict=True)]
            rate = flow.optimizer.PiecewiseConstantScheduler([], [0.0])
            flow.optimizer.SGD(rate).minimize(sum(parts[1:], parts[0]))

    return train_job, weights, seen


def _zeros(like, trainable: bool):
    name = f"variable_{len(flow.get_all_variables())}"
    zeros = flow.zeros_initializer()
    return flow.get_variable(name, like.shape, like.dtype, zeros, trainable=trainable)


def numerical(wrapper, x: np.ndarray, dys, **options) -> np.ndarray:
    """Return the same gradient by central differences; `x` should be float64."""

    def loss(at):
        return sum((y * dy).sum() for y, dy in zip(run(wrapper, at, **options), dys, strict=True))

    found = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[place] = STEP
        found[place] = (loss(x + step) - loss(x - step)) / (2 * STEP)
    return found


def _blobs(wrapper, x, options) -> tuple:
    """Return the blobs that a wrapper gives, in a tuple; Unfit if it gives something else."""
    result = wrapper(x, **options)
    blobs = tuple(result) if isinstance(result, (tuple, list)) else (result,)
    for blob in blobs or [()]:
        if type(blob) is not type(x):
            name = getattr(wrapper, "__name__", "the wrapper")
            raise Unfit(f"{name} returned {brief(blob)}; it must return a blob")
    return blobs
