"""A mistake in a job, or around it, ends in an OpError that says what would be right."""

import numpy as np
import pytest

from helpers.mini import oneflow as flow
from tests.mini.oneflow.folders import RELU, X, load, predict, tp, write
from tests.mini.oneflow.wrong import caught


def on_cpu(body, kind="predict", spec=((5,), "float32")):
    """Return a job whose function is body(x)."""

    @flow.global_function(type=kind)
    def job(x: tp.Numpy.Placeholder(*spec)):
        with flow.scope.placement("cpu", "0:0"):
            return body(x)

    return job


# What stands in a job, or around it: id: (body of a function of op and tmp_path, stage, words)
JOBS = {
    "folder missing": (
        lambda op, tmp: flow.experimental.custom_op_module("user_gelu", tmp), "load",
        ["no folder 'user_gelu'", "with the op's name"],
    ),
    "both front ends": (
        lambda op, tmp: flow.experimental.custom_op_module("user_relu", also_cpp(tmp))
        .py_def().cpp_def(), "load", [".py_def() or .cpp_def()"],
    ),
    "numpy on a blob": (
        lambda op, tmp: on_cpu(lambda x: np.maximum(x, 0))(X), "build",
        ["Blob(x/out_0: float32[5]) has no value while the job is being written"],
    ),
    "blob and array": (lambda op, tmp: on_cpu(lambda x: x + X)(X), "build", ["and ndarray"]),
    "infinity in whole numbers": (
        lambda op, tmp: on_cpu(lambda x: x + float("inf"), spec=((5,), "int32"))(X), "infer",
        ["inf in int32"],
    ),
    "job returns a number": (
        lambda op, tmp: on_cpu(lambda x: 3)(X), "build",
        ['job "job": return takes blobs', "not int"],
    ),
    "job returns none for one": (
        lambda op, tmp: predict(lambda x: None)(X), "build", ["it returned None"],
    ),
    "no parentheses": (
        lambda op, tmp: flow.global_function(lambda: 0), None, ["@flow.global_function()"],
    ),
    "job inside a job": (
        lambda op, tmp: on_cpu(lambda x: predict(op.relu)(X))(X), "build", ["inside another job"],
    ),
    "train job without a loss": (
        lambda op, tmp: on_cpu(op.relu, "train")(X), "build", ["no loss", "minimize(loss)"],
    ),
    "variable of another shape in another job": (
        lambda op, tmp: [on_cpu(lambda x, n=n: x * variable("w", (n,)))(X) for n in (5, 1)],
        "build", ['variable "w" is float32[5]', "float32[1]"],
    ),
    "op type without the ending": (
        lambda op, tmp: predict(load(write(tmp, renamed("user_relu")), name="user_relu")
                                .api.relu)(X), "run", ["_forward or _backward"],
    ),
    # the call
    "array of another shape": (
        lambda op, tmp: predict(op.relu)(X[:3]), "run",
        ['job "job"', 'argument "x" is float32[3]', "placeholder is float32[5]"],
    ),
    "list for an array": (
        lambda op, tmp: predict(op.relu)([1.0] * 5), "run", ["a list", "np.asarray"],
    ),
    "two arrays": (lambda op, tmp: predict(op.relu)(X, X), "run", ["takes 1 array(s) (x)"]),
}  # fmt: skip


@pytest.mark.parametrize("name", JOBS)
def test_wrong_job(name, tmp_path):
    run, stage, words = JOBS[name]
    op = load(write(tmp_path)).api
    caught(lambda: run(op, tmp_path), stage, words)


def also_cpp(folder):
    return write(folder, {"cpp_def.cpp": ""})


def variable(name, shape, dtype="float32"):
    return flow.get_variable(name, shape, dtype, flow.ones_initializer())


def renamed(name):
    """Return the files with the forward op type under another name."""
    return {e: text.replace('"user_relu_forward"', f'"{name}"') for e, text in RELU.items()}
