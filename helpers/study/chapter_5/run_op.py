"""The files of an op -> what it computes in jobs: forward, and backward by its gradient rule.

Everything happens in a session of its own: what a learner registers for a trial is gone after it.
"""

from contextlib import contextmanager

import numpy as np

from helpers.capture.oneflow.oneflow_records import job_graph
from helpers.capture.text.value import brief
from helpers.mini import oneflow as flow
from helpers.model.job import JobGraph
from helpers.safety.arguments import is_a, kind_of
from helpers.study.answers import by_name
from helpers.study.chapter_5.trial_jobs import blobs_of, predict_job_of, weighted_job
from helpers.study.check import Unfit
from helpers.study.op_folder import op_folder

STEP = 1e-6  # of the numerical derivative, in float64


def texts(answer, names: tuple[str, ...]) -> dict[str, str]:
    """Return the learner's files; Unfit says what is missing, Untried if one is `...`."""
    files = by_name(answer, names, "the answer")
    for name, text in files.items():
        if not isinstance(text, str):
            raise Unfit(f"{name} must hold the text of the file, in quotes, not {brief(text)}")
    return files


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


def plain_array(name: str, x) -> np.ndarray:
    """Return an array without the ways of a subclass; TypeError, by its name, for what is none."""
    if not is_a(x, np.ndarray):
        raise TypeError(f"{name} must be a NumPy array, not {kind_of(x)}")
    return np.ndarray.view(x, np.ndarray)


def run_op(name: str, files: dict[str, str], x: np.ndarray) -> np.ndarray:
    """Load an op in a fresh session and return the first output for `x`. May raise OpError.

    TypeError where `x` is no NumPy array.
    """
    x = plain_array("x", x)
    with loading(name, files) as api:
        return run(wrapper_of(api, name), x)[0]


def failing_stage(job, *arrays) -> str:
    """Call a job function; return the stage at which it fails, or "none".

    TypeError for what cannot be called.
    """
    if not callable(job):
        raise TypeError(f"failing_stage needs a job function, not {kind_of(job)}")
    try:
        job(*arrays)
    except flow.OpError as error:
        return error.stage
    return "none"


def run(wrapper, x: np.ndarray, **options) -> tuple[np.ndarray, ...]:
    """Return the outputs of `wrapper(x, **options)` in a predict job."""
    return predict_job_of(wrapper, x, options)(x)


def written_job(wrapper) -> str:
    """Return the text of a train job through `wrapper(x)`: all ops, forward and backward."""
    job, _, _ = weighted_job(lambda x: blobs_of(wrapper, x, {}), np.ones((2, 3), np.float32))
    return str(job.job)


def train_job_of(name: str, files: dict[str, str]) -> JobGraph:
    """Return the op list of a train job through an op of one input: its picture."""
    with loading(name, files) as api:
        wrapper = wrapper_of(api, name)
        x = np.ones((2, 3), np.float32)
        job, _, _ = weighted_job(lambda x: blobs_of(wrapper, x, {}), x)
        return job_graph(job)


def gradient(wrapper, x: np.ndarray, dys, **options) -> np.ndarray:
    """Return the gradient of the sum of all outputs times `dys`, by the op's own rule.

    TypeError where `x`, or one of the tuple or list `dys`, is no NumPy array, or the wrapper
    cannot be called; ValueError where one of `dys` has not the shape and dtype of its output.
    """
    if not callable(wrapper):
        raise TypeError(f"the wrapper must be a function of blobs, not {kind_of(wrapper)}")
    x = plain_array("x", x)
    if not is_a(dys, tuple, list):
        raise TypeError(f"dys must be a tuple of NumPy arrays, not {kind_of(dys)}")
    dys = [plain_array(f"dys[{at}]", dy) for at, dy in enumerate(dys)]
    return there_and_back(wrapper, x, dys, **options)[1]


def there_and_back(wrapper, x: np.ndarray, dys, **options) -> tuple[tuple, np.ndarray]:
    """Return the outputs in a train job, and the gradient of their sum times `dys`."""
    job, load, seen = weighted_job(lambda x: blobs_of(wrapper, x, options), x)
    load(dys)
    return job(x), seen["dx"]


def numerical(wrapper, x: np.ndarray, dys, **options) -> np.ndarray:
    """Return the same gradient by central differences; `x` should be float64."""

    job = predict_job_of(wrapper, x, options)

    def loss(at):
        return sum((y * dy).sum() for y, dy in zip(job(at), dys, strict=True))

    found = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[place] = STEP
        found[place] = (loss(x + step) - loss(x - step)) / (2 * STEP)
    return found
