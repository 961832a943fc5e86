"""A mistake in an op's folder, in a job or around it ends in an OpError that says what is right."""

import numpy as np
import pytest

from helpers.mini import oneflow as flow
from tests.mini.oneflow.folders import RELU, X, caught, edited, load, predict, tp, train, write

FORWARD = "    return np.maximum(x, 0)"
CHAIN = 'builder.Input("in", [x]).Output("out")'

# id: (file, what is replaced, by what, stage, words of the message)
EDITS = {
    # the files themselves
    "syntax error in the kernel": (
        "py_kernel.py", "def forward(args):", "def forward(args)", "load",
        ["user_relu/user_relu_py_kernel.py", "line 4", "SyntaxError"]),
    # define
    "op type twice in a file": (
        "op_def.py", '"user_relu_backward").Attr', '"user_relu_forward").Attr', "define",
        ['op type "user_relu_forward"', "user_relu_op_def.py"]),
    "argument name used twice": (
        "op_def.py", 'Output("out")', 'Output("in")', "define",
        ['op type "user_relu_forward"', '"in"']),
    # build
    "unknown op type": ("py_api.py", "user_relu_forward", "user_relu", "build",
        ['op "myrelu"', 'op type "user_relu"', '"user_relu_forward", "user_relu_backward"']),
    "two blobs for one input": (
        "py_api.py", "[x]", "[x, x]", "build", ['input "in"', "2 given"]),
    "unknown attr": ("py_api.py", CHAIN, CHAIN + '.Attr("slope", 0.1)', "build",
        ['op "myrelu"', 'attr "slope"', '"device_sub_tag"']),
    # infer
    "wrong name in the inference": (
        "op_def.py", 'InputShape("in", 0)', 'InputShape("x", 0)', "infer",
        ['op "myrelu"', "user_relu_op_def.py", 'input ("x", 0)', '"in"']),
    "inference sets no dtype that there is": (
        "op_def.py", 'ctx.InputDType("in", 0)', '"bool"', "infer",
        ['output "out"', "'bool'", '"float32"']),
    # run
    "returns text": ("py_kernel.py", FORWARD, "    return 'y'", "run", ['op "myrelu"', "str"]),
}  # fmt: skip


# the same, for a train job
BACKWARD_EDITS = {
    "wrong names in the rule": (
        "op_def.py", '"out", 0))\n        builder', '"y", 0))\n        builder', "backward",
        ['op "myrelu"', "user_relu_op_def.py", 'output ("y", 0)', '"out"']),
    "no gradient bound": (
        "op_def.py", "    ctx.FwOp().InputGradBind", "    (lambda *_: 0)", "backward",
        ['op "myrelu"', 'input ("in", 0)']),
    "backward op lacks an input": (
        "op_def.py", 'builder.InputBind("y", ctx.FwOp().output("out", 0))', "pass", "backward",
        ['op "myrelu_grad"', 'input "y"']),
    "rule asks for what it never defined": (
        "op_def.py", "GetOp(name)", 'GetOp("other")', "backward",
        ['backward op "other"', '"myrelu_grad"']),
    "rule raises": (
        "op_def.py", 'name = ctx.FwOp().op_name() + "_grad"', "name = 1 / 0", "backward",
        ["user_relu_op_def.py, line 14", "ZeroDivisionError"]),
    "rule binds no blob": (
        "op_def.py", 'lambda: ctx.GetOp(name).output("dx", 0)', "lambda: 3", "backward",
        [" 3 ", 'input ("in", 0)']),
    "gradient of another shape": ("op_def.py", 'ctx.InputShape("dy", 0)', "(1,)", "backward",
        ["myrelu_grad/dx_0: float32[1]", "float32[5]"]),
}  # fmt: skip


@pytest.mark.parametrize("name", EDITS | BACKWARD_EDITS)
def test_edited_folder(name, tmp_path):
    file, old, new, stage, words = (EDITS | BACKWARD_EDITS)[name]
    run = train if name in BACKWARD_EDITS else predict
    write(tmp_path, edited(RELU, file, old, new))
    caught(lambda: run(load(tmp_path).api.relu)(X), stage, words)


@pytest.mark.parametrize("missing", RELU)
def test_missing_file(missing, tmp_path):
    write(tmp_path)
    (tmp_path / "user_relu" / f"user_relu_{missing}").unlink()
    caught(lambda: load(tmp_path), "load", [f"user_relu/user_relu_{missing}"])


def on_cpu(body, kind="predict", spec=((5,), "float32")):
    """Return a job whose function is body(x)."""

    @flow.global_function(type=kind)
    def job(x: tp.Numpy.Placeholder(*spec)):
        with flow.scope.placement("cpu", "0:0"):
            return body(x)

    return job


# What stands in a job, or around it: id: (body of a function of op and tmp_path, stage, words)
JOBS = {
    "folder missing": (lambda op, tmp: flow.experimental.custom_op_module("user_gelu", tmp), "load",
        ["'user_gelu'"]),
    "both front ends": (
        lambda op, tmp: flow.experimental.custom_op_module("user_relu", also_cpp(tmp))
        .py_def().cpp_def(), "load", [".py_def()", ".cpp_def()"]),
    "numpy on a blob": (lambda op, tmp: on_cpu(lambda x: np.maximum(x, 0))(X), "build",
        ["Blob(x/out_0: float32[5])"]),
    "blob and array": (lambda op, tmp: on_cpu(lambda x: x + X)(X), "build",
        ["Blob(x/out_0: float32[5])", "ndarray"]),
    "infinity in whole numbers": (
        lambda op, tmp: on_cpu(lambda x: x + float("inf"), spec=((5,), "int32"))(X), "infer",
        ["inf in int32"]),
    "job returns a number": (lambda op, tmp: on_cpu(lambda x: 3)(X), "build",
        ['job "job": return', "int"]),
    "job returns none for one": (
        lambda op, tmp: predict(lambda x: None)(X), "build", ['job "job"', "None"]),
    "no parentheses": (
        lambda op, tmp: flow.global_function(lambda: 0), None, ["@flow.global_function()"]),
    "job inside a job": (
        lambda op, tmp: on_cpu(lambda x: predict(op.relu)(X))(X), "build", ['job "job"']),
    "train job without a loss": (
        lambda op, tmp: on_cpu(op.relu, "train")(X), "build", ['job "job"', "minimize(loss)"]),
    "variable of another shape in another job": (
        lambda op, tmp: [on_cpu(lambda x, n=n: x * variable("w", (n,)))(X) for n in (5, 1)],
        "build", ['variable "w"', "float32[5]", "float32[1]"]),
    "op type without the ending": (
        lambda op, tmp: predict(load(write(tmp, renamed("user_relu")), name="user_relu")
        .api.relu)(X), "run", ['op type "user_relu"', "_forward", "_backward"]),
    # the call
    "array of another shape": (lambda op, tmp: predict(op.relu)(X[:3]), "run",
        ['job "job"', 'argument "x"', "float32[3]", "float32[5]"]),
    "list for an array": (
        lambda op, tmp: predict(op.relu)([1.0] * 5), "run", ['argument "x"', "list", "np.asarray"]),
    "two arrays": (lambda op, tmp: predict(op.relu)(X, X), "run", ['job "job"', "(x)"]),
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
