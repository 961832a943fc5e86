"""Each row of differences() is proved by a test of the same name."""

from contextlib import chdir, nullcontext

import numpy as np
import pytest

from helpers.mini import oneflow as flow
from helpers.mini.oneflow import differences
from helpers.mini.oneflow.cpp_program import find_compiler
from helpers.mini.oneflow.session import session
from tests.mini.oneflow import folders, test_cpp
from tests.mini.oneflow.folders import RELU, RELU_CPP, X, edited, load, predict, tp, write

pytestmark = pytest.mark.long

FORWARD = "    return np.maximum(x, 0)"


def with_kernel(folder, line):
    """Run a predict job whose kernel ends in another line."""
    write(folder, edited(RELU, "py_kernel.py", FORWARD, f"    {line}"))
    return predict(load(folder).api.relu)(X)


def refused(words, call, *args, **options):
    with pytest.raises(flow.OpError, match=words):
        call(*args, **options)


def shape(tmp):
    refused(r"shape \(1, 5\)", with_kernel, tmp, "return x.reshape(1, 5)")
    refused("dtype int32", with_kernel, tmp, "return x.astype('i4')")


def surplus(tmp):
    refused("2 value", with_kernel, tmp, "return [x, x]")


SPLIT = {
    "op_def.py": """\
import oneflow as flow


def infer(ctx):
    for name in ("low", "high"):
        ctx.SetOutputShape(name, 0, ctx.InputShape("in", 0))


op = flow.REGISTER_USER_OP("split_forward").Attr("device_sub_tag", "py").Attr("at", 0.0)
op.Input("in").Output("low").Output("high").SetTensorDescInferFn(infer)
""",
    "py_api.py": """\
import oneflow as flow


def split(x, at=0.0):
    op = flow.user_op_builder("cut").Op("split_forward").Input("in", [x]).Attr("at", at)
    return op.Output("low").Output("high").Build().InferAndTryRun().RemoteBlobList()
""",
}


def split(folder, kernel, **attrs):
    """Run a job of an op with two outputs."""
    op = load(write(folder, {**SPLIT, "py_kernel.py": kernel}, "split"), "split")

    @flow.global_function()
    def job(x: tp.Numpy.Placeholder((5,))):
        with flow.scope.placement("cpu", "0:0"):
            return op.api.split(x, **attrs)

    return job(X)


def missing(tmp):
    refused("1 value.*2 output", split, tmp, "def forward(args):\n    return args[0]\n")


def read_only(tmp):
    refused("read-only", with_kernel, tmp, "x[0] = 9; return x")


def arguments(tmp):
    with_kernel(tmp, "assert type(args) is tuple; return x")


def several(tmp):
    for kind in ("list", "tuple"):
        kernel = f"def forward(args):\n    return {kind}([args[0], -args[0]])\n"
        low, high = split(tmp, kernel)
        np.testing.assert_array_equal(low, -high)


def exception(tmp):
    words = r'user_relu_py_kernel.py\) of op "myrelu".*line 6: IndexError'
    refused(words, with_kernel, tmp, "return x[9]")


def attrs(tmp):
    kernel = "def forward(args, attrs):\n    return args[0], args[0] * 0 + attrs['at']\n"
    kernel = kernel.replace("attrs['at']", "args[0].dtype.type(attrs['at'])")
    assert split(tmp, kernel, at=1.5)[1].tolist() == [1.5] * 5
    refused("mappingproxy", split, tmp, "def forward(args, attrs):\n    attrs['at'] = 3\n")


def folder(tmp):
    here = tmp / "here"
    here.mkdir()
    write(tmp / "there")
    with chdir(here):
        predict(load(tmp / "there").api.relu)(X)
    assert list(here.iterdir()) == []
    assert len(list((tmp / "there" / "user_relu").iterdir())) == len(RELU)


def stale(tmp):
    files = edited(RELU_CPP, "cpp_def.cpp", "namespace {", "namespace {  // stale?")
    load(write(tmp, files), front_end="cpp_def")
    assert session().registry.ops["user_relu_backward"].inputs == ("y", "dy")
    files = edited(files, "cpp_def.cpp", '.Input("y")', '.Input("why")')
    load(write(tmp, files), front_end="cpp_def")
    assert session().registry.ops["user_relu_backward"].inputs == ("why", "dy")


def reload(tmp):
    job = predict(load(write(tmp)).api.relu)
    assert job(X).sum() == 3
    load(write(tmp, edited(RELU, "py_kernel.py", FORWARD, "    return x * 2")))
    assert job(X).sum() == 0


def crash(tmp):
    files = edited(RELU_CPP, "cpp_def.cpp", "{\n  *ctx", "{\n  std::abort();\n  *ctx")
    refused("SIGABRT", predict(load(write(tmp, files), front_end="cpp_def").api.relu), X)


def placed(tmp, where):
    """Read a job that is placed there."""
    op = load(write(tmp)).api

    @flow.global_function()
    def job(x: tp.Numpy.Placeholder((5,))):
        with where:
            return op.relu(x)

    return job.job


def device(tmp):
    words = "Cannot find the kernel matching Current OperatorConf"
    refused(words, placed, tmp, flow.scope.placement("gpu", "0:0"))


def placement(tmp):
    refused('"gpu"', placed, tmp, nullcontext())


def attr_types(tmp):
    for kind in ("bool", "int32", "int64", "float", "double", "string"):
        attr = f'Attr("a", type="{kind}").Input("in")'
        load(write(tmp, edited(RELU, "op_def.py", 'Input("in")', attr)))
    write(tmp, edited(RELU, "op_def.py", 'Input("in")', 'Attr("a", (1, 2)).Input("in")'))
    refused('attr "a"', load, tmp)


def api_early(tmp):
    module = flow.experimental.custom_op_module("user_relu", write(tmp)).py_api()
    refused("build_load", getattr, module, "api")


def by_dtype(tmp):
    lines = (
        "import oneflow as flow",
        'kernel = flow.REGISTER_USER_KERNEL("user_relu_forward").SetCreateFn(forward)',
        'kernel.SetIsMatchedHob(flow.HobDataType("in", 0) == "int8")',
    )
    op = load(write(tmp, {**RELU, "py_kernel.py": "\n".join([folders.KERNEL, *lines])}))
    assert predict(op.api.relu, ((5,), "int8"))(X.astype("int8")).tolist() == [0, 0, 0, 1, 2]
    refused("Cannot find the kernel", predict(op.api.relu), X)


PROOFS = {
    "shape": shape, "surplus": surplus, "missing": missing, "read-only": read_only,
    "arguments": arguments, "several": several, "exception": exception, "attrs": attrs,
    "folder": folder, "stale": stale, "reload": reload, "crash": crash,
    "front-end": test_cpp.test_both_front_ends_append_the_same_backward_ops,
    "device": device, "placement": placement, "attr-types": attr_types, "by-dtype": by_dtype,
    "api-early": api_early,
}  # fmt: skip


@pytest.mark.parametrize("name", PROOFS)
def test_difference(name, tmp_path):
    if name in ("stale", "crash", "front-end") and find_compiler() is None:
        pytest.skip("no C++ compiler on this machine")
    PROOFS[name](tmp_path)


def test_every_row_has_a_proof():
    assert [row.name for row in differences()] == list(PROOFS)
    assert all(row.about and row.original and row.here for row in differences())


@pytest.mark.parametrize(
    "line",
    [
        "    KEPT.append(x + 1)\n    return KEPT[-1]",
        "    KEPT.append(x + 1)\n    return KEPT[-1][:]",
        "    KEPT[:] = KEPT or [x + 1]\n    KEPT[0][:] = x + 1\n    return KEPT[0]",
    ],
)
def test_what_a_kernel_keeps_is_not_what_a_job_gives(line, tmp_path):
    kernel = f"KEPT = []\n\n\ndef forward(args):\n    (x,) = args\n{line}\n"
    job = predict(load(write(tmp_path, {**RELU, "py_kernel.py": kernel})).api.relu)
    first = job(X)
    job(X * 0)
    np.testing.assert_array_equal(first, X + 1)
    first[:] = 7
    np.testing.assert_array_equal(job(X), X + 1)
