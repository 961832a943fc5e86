"""Gradients by appended ops are those of numerical differentiation."""

from types import SimpleNamespace

import numpy as np
import pytest

from helpers.mini import oneflow as flow
from tests.mini.oneflow.folders import RELU, edited, load, sgd, tp, write

SQUARE_DEF = """\
import oneflow as flow


def like(argument, *outputs):
    def infer(ctx):
        for name in outputs:
            ctx.SetOutputShape(name, 0, ctx.InputShape(argument, 0))

    return infer


def gradient(ctx):
    op = ctx.FwOp()

    def build(builder):
        builder.OpTypeName("parts_backward").InputBind("x", op.input("in", 0))
        for name in ("low", "high"):
            builder.InputBind(f"d{name}", op.output_grad(name, 0))
        return builder.Output("dx").Attr("slope", op.attr("slope")).Build()

    ctx.DefineOp("parts_grad_of_" + op.op_name(), build)
    op.InputGradBind(
        flow.OpArg("in", 0), lambda: ctx.GetOp("parts_grad_of_" + op.op_name()).output("dx", 0)
    )


op = flow.REGISTER_USER_OP("parts_forward").Attr("device_sub_tag", "py").Attr("slope", 0.5)
op.Input("in").Output("low").Output("high").SetTensorDescInferFn(like("in", "low", "high"))
op = flow.REGISTER_USER_OP("parts_backward").Attr("device_sub_tag", "py").Attr("slope", 0.5)
op.Input("x").Input("dlow").Input("dhigh").Output("dx").SetTensorDescInferFn(like("x", "dx"))
flow.REGISTER_USER_OP_GRAD("parts_forward").SetBackwardOpConfGenFn(gradient)
"""
PARTS = {
    "op_def.py": SQUARE_DEF,
    "py_api.py": """\
import oneflow as flow


def parts(x, slope, name="cut"):
    op = flow.user_op_builder(name).Op("parts_forward").Input("in", [x]).Output("low")
    return op.Output("high").Attr("slope", slope).Build().InferAndTryRun().RemoteBlobList()
""",
    "py_kernel.py": """\
import numpy as np


def forward(args, attrs):
    (x,) = args
    return attrs["slope"] * np.minimum(x, 0), np.maximum(x, 0) ** 2


def backward(args, attrs):
    x, dlow, dhigh = args
    return attrs["slope"] * (x < 0) * dlow + 2 * np.maximum(x, 0) * dhigh
""",
}

SUM = flow.math.reduce_sum
LOSSES = {
    "relu": lambda op, w, v: op.relu(w) * v,
    "relu twice": lambda op, w, v: op.relu(op.relu(w, "a") - 0.2 * v, "b") * w,
    "two outputs": lambda op, w, v: sum_of(op.parts(w * v, 0.3)),
    "one output of two": lambda op, w, v: op.parts(w, 0.3)[1] * v,
    "both factors": lambda op, w, v: w * w * v,
    "numbers": lambda op, w, v: 2 - (w - 1) * 3 + v,
    "matmul": lambda op, w, v: flow.matmul(flow.matmul(w, rows(4)), w * rows(4)),
    "row spread over a matrix": lambda op, w, v: w * rows(1) - rows(1) * (w * w + 2) + rows(1),
}  # fmt: skip


def sum_of(blobs):
    low, high = blobs
    return low * 2 + high


def rows(count):
    return flow.get_variable("rows", (count, 4), "float64", flow.random_uniform_initializer(1, 2))


def both_gradients(folder, body_of, relu_files=RELU):
    """Return the gradient of a loss by w: by appended ops, and by central differences."""
    write(folder, relu_files)
    write(folder, PARTS, "parts")
    op = SimpleNamespace(relu=load(folder).api.relu, parts=load(folder, "parts").api.parts)
    diffs = {}

    def body():
        with flow.scope.placement("cpu", "0:0"):
            w, v = (
                flow.get_variable(n, (4, 4), "float64", flow.random_uniform_initializer(-1, 1))
                for n in "wv"
            )
            return w, SUM(body_of(op, w, v))

    @flow.global_function(type="train")
    def training() -> tp.Numpy:
        w, loss = body()
        flow.watch_diff(w, lambda array: diffs.update(w=array))
        sgd(0.0).minimize(loss)
        return loss

    @flow.global_function()
    def loss() -> tp.Numpy:
        return body()[1]

    assert training() == loss()
    return diffs["w"], numerical(loss, flow.get_all_variables()["w"])


@pytest.mark.parametrize("name", LOSSES)
def test_gradients_are_the_numerical_ones(name, tmp_path):
    found, numeric = both_gradients(tmp_path, LOSSES[name])
    np.testing.assert_allclose(found, numeric, atol=1e-8)


def test_a_wrong_gradient_is_seen(tmp_path):
    wrong = edited(RELU, "py_kernel.py", "(y > 0) * dy", "dy * 1")
    found, numeric = both_gradients(tmp_path, LOSSES["relu"], wrong)
    assert not np.allclose(found, numeric, atol=1e-8)


def numerical(loss, w, step=1e-6):
    """Return the gradient of loss() by the variable w, by central differences."""
    found = np.zeros_like(w)
    for at in np.ndindex(w.shape):
        sides = []
        for sign in (1, -1):
            moved = w.copy()
            moved[at] += sign * step
            flow.load_variables({"w": moved})
            sides.append(float(loss()))
        found[at] = (sides[0] - sides[1]) / (2 * step)
    return found
