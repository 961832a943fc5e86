"""A mistake in a job, or around it, ends in an OpError that says what would be right."""

import numpy as np
import pytest

from helpers.mini import oneflow as flow
from helpers.mini.oneflow.blobs import Blob
from helpers.mini.oneflow.job import Output
from helpers.mini.oneflow.job_builder import Writer
from helpers.mini.oneflow.session import session
from tests.mini.oneflow.folders import RELU, X, load, predict, sgd, tp, write
from tests.mini.oneflow.test_wrong_folders import BACKWARD_EDITS, EDITS
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
        ["no folder 'user_gelu'", "named like the op"],
    ),
    "folder name is no text": (
        lambda op, tmp: flow.experimental.custom_op_module(None, tmp), "load", ["None"],
    ),
    "path is none": (
        lambda op, tmp: flow.experimental.custom_op_module("user_relu", None), "load", ["None"],
    ),
    "api before build_load": (
        lambda op, tmp: flow.experimental.custom_op_module("user_relu", tmp).py_api().api, None,
        ['op "user_relu"', ".build_load()"],
    ),
    "api that was not asked for": (
        lambda op, tmp: flow.experimental.custom_op_module("user_relu", tmp).build_load().api,
        None, [".py_api()"],
    ),
    "both front ends": (
        lambda op, tmp: flow.experimental.custom_op_module("user_relu", also_cpp(tmp))
        .py_def().cpp_def(), "load", [".py_def() or .cpp_def()"],
    ),
    "definition outside a file": (
        lambda op, tmp: flow.REGISTER_USER_OP("a_forward"), None, ["_op_def.py", ".py_def()"],
    ),
    "op type of another folder": (
        lambda op, tmp: load(write(tmp / "other")), "define",
        ['"user_relu_forward" is already registered', "user_relu/user_relu_op_def.py"],
    ),
    "builder outside a job": (
        lambda op, tmp: op.relu(3), "build", ["inside a @flow.global_function"],
    ),
    "placed on the gpu": (
        lambda op, tmp: gpu(op)(X), "build",
        ['op "myrelu"', "user_relu_op_def.py", 'placed on "gpu"',
         "Cannot find the kernel matching Current OperatorConf.", 'placement("cpu", "0:0")'],
    ),
    "not placed": (
        lambda op, tmp: unplaced(op)(X), "build",
        ['no placement, which means "gpu"', 'placement("cpu"'],
    ),
    "unknown device": (
        lambda op, tmp: flow.scope.placement("tpu", "0:0").__enter__(), None, ['"cpu" or "gpu"'],
    ),
    "device without a machine": (
        lambda op, tmp: flow.scope.placement("cpu", 0).__enter__(), None, ['"0:0"'],
    ),
    "op name twice in a job": (
        lambda op, tmp: on_cpu(lambda x: op.relu(op.relu(x)))(X), "build",
        ['job "job" already has an op named "myrelu"', "user_op_builder(name)"],
    ),
    "blob of another job": (
        lambda op, tmp: on_cpu(lambda x: op.relu(stolen()))(X), "build",
        ["belongs to another job"],
    ),
    "decision on a blob": (
        lambda op, tmp: on_cpu(lambda x: x if x else op.relu(x))(X), "build",
        ["Blob(x/out_0: float32[5]) has no value while the job is being written"],
    ),
    "comparison of a blob": (lambda op, tmp: on_cpu(lambda x: x > 0)(X), "build", ["no value"]),
    "numpy on a blob": (
        lambda op, tmp: on_cpu(lambda x: np.maximum(x, 0))(X), "build", ["no value"],
    ),
    "array of a blob": (lambda op, tmp: on_cpu(np.asarray)(X), "build", ["no value"]),
    "loop over a blob": (lambda op, tmp: on_cpu(list)(X), "build", ["no value"]),
    "index into a blob": (lambda op, tmp: on_cpu(lambda x: x[0])(X), "build", ["no value"]),
    "blob and text": (lambda op, tmp: on_cpu(lambda x: x + "1")(X), "build", ["and str"]),
    "blob and array": (lambda op, tmp: on_cpu(lambda x: x + X)(X), "build", ["and ndarray"]),
    "shapes that do not fit": (
        lambda op, tmp: on_cpu(lambda x: x + variable("w", (4,)))(X), "infer",
        ['op "broadcast_add_0"', "cannot broadcast the shapes (5,) and (4,)"],
    ),
    "dtypes that do not fit": (
        lambda op, tmp: on_cpu(lambda x: x + variable("w", (5,), "float64"))(X), "infer",
        ["float32 and float64"],
    ),
    "no power": (lambda op, tmp: on_cpu(lambda x: x**2)(X), "build", ["** 2", "x * x"]),
    "text over a blob": (lambda op, tmp: on_cpu(lambda x: "1" / x)(X), "build", ["and str"]),
    "infinity in whole numbers": (
        lambda op, tmp: on_cpu(lambda x: x + float("inf"), spec=((5,), "int32"))(X), "infer",
        ["inf in int32"],
    ),
    "attr's name is no text": (
        lambda op, tmp: on_cpu(lambda x: flow.user_op_builder("a").Attr(["x"], 1))(X), "build",
        ["['x']"],
    ),
    "op type is no text": (
        lambda op, tmp: on_cpu(lambda x: flow.user_op_builder("a").Op(["x"]).Build())(X), "build",
        ["names are text"],
    ),
    "initializer that was not called": (
        lambda op, tmp: on_cpu(
            lambda x: flow.get_variable("w", (5,), initializer=flow.ones_initializer)
        )(X), "build", ['variable "w"', "function ones_initializer"],
    ),
    "initializer of text": (
        lambda op, tmp: flow.random_uniform_initializer("a", 1), None, ["takes numbers", "'a'"],
    ),
    "values in a list": (lambda op, tmp: flow.load_variables([X]), None, ["{name: array}"]),
    "matrices that do not fit": (
        lambda op, tmp: on_cpu(lambda x: flow.matmul(x, x))(X), "infer", ["two matrices"],
    ),
    "fraction of whole numbers": (
        lambda op, tmp: on_cpu(lambda x: x * 0.5, spec=((5,), "int32"))(X), "infer",
        ["0.5 in int32"],
    ),
    "job returns a number": (
        lambda op, tmp: on_cpu(lambda x: 3)(X), "build",
        ['job "job": return takes blobs', "not int"],
    ),
    "job returns two for one": (
        lambda op, tmp: two_for_one()(X), "build", ["tp.Numpy", "it returned 2"],
    ),
    "job returns none for one": (
        lambda op, tmp: predict(lambda x: None)(X), "build", ["it returned None"],
    ),
    "no placeholder": (
        lambda op, tmp: flow.global_function()(lambda x: x), None,
        ['parameter "x"', "tp.Numpy.Placeholder("],
    ),
    "placeholder without a tuple": (
        lambda op, tmp: tp.Numpy.Placeholder(5), None, ["Placeholder", "(5,)", "got 5"],
    ),
    "placeholder with a size of -1": (
        lambda op, tmp: tp.Numpy.Placeholder((-1,)), None, ["from 0 up"],
    ),
    "placeholder of no dtype": (
        lambda op, tmp: tp.Numpy.Placeholder((5,), dtype=bool), None, ["bool", '"float32"'],
    ),
    "no parentheses": (
        lambda op, tmp: flow.global_function(lambda: 0), None, ["@flow.global_function()"],
    ),
    "neither predict nor train": (
        lambda op, tmp: flow.global_function(type="eval"), None, ['"predict" or "train"'],
    ),
    "job of no function": (lambda op, tmp: flow.global_function()(3), None, ["Python function"]),
    "job inside a job": (
        lambda op, tmp: on_cpu(lambda x: predict(op.relu)(X))(X), "build", ["inside another job"],
    ),
    "minimize in a predict job": (
        lambda op, tmp: on_cpu(lambda x: sgd().minimize(x))(X), "build", ['type="train"'],
    ),
    "train job without a loss": (
        lambda op, tmp: on_cpu(op.relu, "train")(X), "build", ["no loss", "minimize(loss)"],
    ),
    "loss without a variable": (
        lambda op, tmp: on_cpu(lambda x: sgd().minimize(op.relu(x)), "train")(X), "backward",
        ["myrelu/out_0", "no trainable variable", "get_variable"],
    ),
    "two losses": (
        lambda op, tmp: on_cpu(lambda x: [sgd().minimize(x), sgd().minimize(x)], "train")(X),
        "build", ["twice"],
    ),
    "loss is no blob": (
        lambda op, tmp: on_cpu(lambda x: sgd().minimize(0.5), "train")(X), "build", ["not float"],
    ),
    "rate for a scheduler": (
        lambda op, tmp: flow.optimizer.SGD(0.1), None, ["PiecewiseConstantScheduler([], [0.1])"],
    ),
    "scheduler of a number": (
        lambda op, tmp: flow.optimizer.PiecewiseConstantScheduler([], 0.1), None, ["two lists"],
    ),
    "scheduler without values": (
        lambda op, tmp: flow.optimizer.PiecewiseConstantScheduler([], []), None, ["([], [0.1])"],
    ),
    "rate that is no number": (
        lambda op, tmp: flow.optimizer.PiecewiseConstantScheduler([], [float("nan")]), None,
        ["finite number"],
    ),
    "variable without a shape": (
        lambda op, tmp: on_cpu(lambda x: flow.get_variable("w"))(X), "build", ["no shape"],
    ),
    "variable without an initializer": (
        lambda op, tmp: on_cpu(lambda x: flow.get_variable("w", (5,)))(X), "build",
        ['variable "w"', "flow.ones_initializer()"],
    ),
    "variable of another shape in another job": (
        lambda op, tmp: [on_cpu(lambda x, n=n: x * variable("w", (n,)))(X) for n in (5, 1)],
        "build", ['variable "w" is float32[5]', "float32[1]"],
    ),
    "variable of whole numbers": (
        lambda op, tmp: on_cpu(lambda x: variable("w", (5,), "int32"))(X), "build",
        ["trainable=False"],
    ),
    "variable outside a job": (
        lambda op, tmp: variable("w", (5,)), None, ["inside a @flow.global_function"],
    ),
    "value for an unknown variable": (
        lambda op, tmp: flow.load_variables({"w": X}), None, ['no variable "w"'],
    ),
    "gradient of what has none": (
        lambda op, tmp: on_cpu(lambda x: flow.watch_diff(x, print))(X), "build",
        ["watch_diff", "has no gradient"],
    ),
    "watch without a function": (
        lambda op, tmp: on_cpu(lambda x: flow.watch(x, "x"))(X), "build", ["handler"],
    ),
    "watch that raises": (
        lambda op, tmp: on_cpu(lambda x: flow.watch(x, lambda a: 1 / 0))(X), "run",
        ['blob "x/out_0"', "ZeroDivisionError"],
    ),
    "kernel not loaded": (
        lambda op, tmp: forget_kernel(op)(X), "run",
        ['op "myrelu"', 'no kernel file "user_relu"', ".py_kernel()"],
    ),
    "op type without the ending": (
        lambda op, tmp: predict(load(write(tmp, renamed("user_relu")), name="user_relu")
                                .api.relu)(X), "run", ["_forward or _backward"],
    ),
    "op type of another name than the folder": (
        lambda op, tmp: predict(load(write(tmp, renamed("my_relu_forward"))).api.relu)(X),
        "run", ['no kernel file "my_relu"', 'loaded: "user_relu"'],
    ),
    # the call
    "array of another shape": (
        lambda op, tmp: predict(op.relu)(X[:3]), "run",
        ['job "job"', 'argument "x" is float32[3]', "placeholder is float32[5]"],
    ),
    "array of another dtype": (
        lambda op, tmp: predict(op.relu)(X.astype(float)), "run", ["float64[5]", "float32[5]"],
    ),
    "array of another byte order": (
        lambda op, tmp: predict(op.relu)(X.astype(">f4")), "run", ['argument "x"'],
    ),
    "list for an array": (
        lambda op, tmp: predict(op.relu)([1.0] * 5), "run", ["a list", "np.asarray"],
    ),
    "no array": (lambda op, tmp: predict(op.relu)(), "run", ["takes 1 array(s) (x)"]),
    "two arrays": (lambda op, tmp: predict(op.relu)(X, X), "run", ["takes 1 array(s) (x)"]),
    "array of another name": (lambda op, tmp: predict(op.relu)(y=X), "run", ["takes 1 array"]),
}  # fmt: skip


@pytest.mark.parametrize("name", JOBS)
def test_wrong_job(name, tmp_path):
    run, stage, words = JOBS[name]
    op = load(write(tmp_path)).api
    caught(lambda: run(op, tmp_path), stage, words)


def test_there_are_many_wrong_uses():
    assert len(EDITS) + len(BACKWARD_EDITS) + len(JOBS) >= 140


TWO_OUTPUTS = """\
import oneflow as flow


def infer(ctx):
    for name in ("low", "high"):
        ctx.SetOutputShape(name, 0, ctx.InputShape("in", 0))


op = flow.REGISTER_USER_OP("split_forward").Attr("device_sub_tag", "py").Attr("at", type="double")
op.Input("in").Output("low").Output("high").SetTensorDescInferFn(infer)
"""
TWO_API = """\
import oneflow as flow


def split(x, take="RemoteBlobList", **attrs):
    op = flow.user_op_builder("cut").Op("split_forward").Input("in", [x])
    for name, value in attrs.items():
        op.Attr(name, value)
    return getattr(op.Output("low").Output("high").Build().InferAndTryRun(), take)()
"""
TWO_KERNEL = """\
def forward(args):
    return args[0]
"""


@pytest.mark.parametrize(
    ("call", "stage", "words"),
    [
        ({"at": 1.0, "take": "SoleOutputBlob"}, "build", ['"cut" has 2 outputs', "RemoteBlobL"]),
        ({}, "build", ['op "cut"', 'attr "at" must be set']),
        ({"at": "1"}, "build", ["attr \"at\" is a double, got '1'"]),
        ({"at": True}, "build", ['attr "at" is a double, got True']),
        ({"at": 1}, "run", ["returned 1 value(s)", "2 output(s)", "cut/low_0", "cut/high_0"]),
    ],
)
def test_two_outputs_and_a_required_attr(call, stage, words, tmp_path):
    files = {"op_def.py": TWO_OUTPUTS, "py_api.py": TWO_API, "py_kernel.py": TWO_KERNEL}
    op = load(write(tmp_path, files, "split"), "split").api
    caught(lambda: on_cpu(lambda x: op.split(x, **call))(X), stage, words)


def test_the_check_can_fail(tmp_path):
    op = load(write(tmp_path)).api
    with pytest.raises(pytest.fail.Exception):
        caught(lambda: predict(op.relu)(X), "run", [])


def also_cpp(folder):
    return write(folder, {"cpp_def.cpp": ""})


def gpu(op):
    def body(x):
        with flow.scope.placement("gpu", "0:0"):
            return op.relu(x)

    return on_cpu(body)


def unplaced(op):
    @flow.global_function()
    def job(x: tp.Numpy.Placeholder((5,))):
        return op.relu(x)

    return job


def stolen():
    """Return a blob of another job."""
    output = Output("out", "x/out_0", (5,), "float32")
    return Blob(Writer("other", "predict", None), output)


def variable(name, shape, dtype="float32"):
    return flow.get_variable(name, shape, dtype, flow.ones_initializer())


def two_for_one():
    return predict(lambda x: (x, x))


def forget_kernel(op):
    session().registry.kernel_files.clear()
    return predict(op.relu)


def renamed(name):
    """Return the files with the forward op type under another name."""
    return {e: text.replace('"user_relu_forward"', f'"{name}"') for e, text in RELU.items()}
