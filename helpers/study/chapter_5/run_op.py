"""Run the files of an op in jobs: forward, and backward by its gradient rule.

Each trial has its own session, so what a learner registers is gone afterwards.
"""

from contextlib import contextmanager

import numpy as np

from helpers.capture.text.value import short_repr
from helpers.mini import oneflow as flow
from helpers.study.chapter_5.op_texts import file_names
from helpers.study.check import InvalidAnswer
from helpers.study.engine import by_name
from helpers.study.op_folder import op_folder


def require_files(answer, op: str) -> dict[str, str]:
    """Return the learner's files; InvalidAnswer for a missing one, NotAttempted for `...`."""
    files = by_name(answer, file_names(op), "the answer")
    for name, text in files.items():
        if not isinstance(text, str):
            raise InvalidAnswer(f"{name} must contain the text of the file, not {short_repr(text)}")
    return files


@contextmanager
def loading(name: str, files: dict[str, str], kernel: bool = True):
    """Load an op's folder in a fresh session and yield its wrapper module. May raise OpError."""
    with flow.fresh_session():
        module = flow.experimental.custom_op_module(name, op_folder(name, files))
        module = module.py_def().py_api()
        yield (module.py_kernel() if kernel else module).build_load().api


def wrapper_of(api, name: str):
    """Return the wrapper of an op from the module of its api file; InvalidAnswer if it has none."""
    wrapper = getattr(api, f"{name}_forward", None)
    if not callable(wrapper):
        raise InvalidAnswer(f"{name}_py_api.py must define {name}_forward")
    return wrapper


def run_op(name: str, files: dict[str, str], x: np.ndarray) -> np.ndarray:
    """Load an op in a fresh session and return the first output for `x`. May raise OpError."""
    with loading(name, files) as api:
        return run(wrapper_of(api, name), x)[0]


def run(wrapper, x: np.ndarray) -> tuple[np.ndarray, ...]:
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
    return there_and_back(lambda x: blobs_of(wrapper, x), x, dys)[1]


def there_and_back(function, x: np.ndarray, dys) -> tuple[tuple, np.ndarray]:
    """Return the outputs of `function(blob)` in a train job, and the gradient of their sum."""
    job, weights, seen = weighted_job(function, x)
    job.job  # noqa: B018  recorded now, so that the weights exist
    if len(weights) != len(dys):
        raise InvalidAnswer(f"the wrapper returns {len(weights)} blob(s), not {len(dys)}")
    flow.load_variables(dict(zip(weights, dys, strict=True)))
    return job(x), seen["dx"]


def weighted_job(function, x: np.ndarray):
    """Return a train job, its weights' names once it is recorded, and what a run saw."""
    weights, seen = [], {}

    def zeros(like, trainable: bool):
        name = f"variable_{len(flow.get_all_variables())}"
        start = flow.zeros_initializer()
        return flow.get_variable(name, like.shape, like.dtype, start, trainable=trainable)

    @flow.global_function(type="train")
    def train_job(x: flow.typing.Numpy.Placeholder(x.shape, dtype=x.dtype.name)):
        with flow.scope.placement("cpu", "0:0"):
            given = x + zeros(x, trainable=True)
            flow.watch_diff(given, lambda array: seen.update(dx=array))
            found = tuple(function(given))
            held = [zeros(y, trainable=False) for y in found]
            weights.extend(blob.name.removesuffix("/out_0") for blob in held)
            parts = [flow.math.reduce_sum(y * dy) for y, dy in zip(found, held, strict=True)]
            rate = flow.optimizer.PiecewiseConstantScheduler([], [0.0])
            flow.optimizer.SGD(rate).minimize(sum(parts[1:], parts[0]))
        return found

    return train_job, weights, seen


def blobs_of(wrapper, x, options=None) -> tuple:
    """Return the blobs that a wrapper returns, as a tuple; InvalidAnswer for anything else."""
    result = wrapper(x, **(options or {}))
    blobs = tuple(result) if isinstance(result, (tuple, list)) else (result,)
    for blob in blobs or [()]:
        if type(blob) is not type(x):
            name = getattr(wrapper, "__name__", "the wrapper")
            raise InvalidAnswer(f"{name} returned {short_repr(blob)}; it must return a blob")
    return blobs
