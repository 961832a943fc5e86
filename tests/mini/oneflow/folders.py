"""Op folders for the tests, written anew for each; all code here is the tests' own."""

import re

import numpy as np
import pytest

from helpers.mini import oneflow as flow

tp = flow.typing
X = np.array([-2, -1, 0, 1, 2], np.float32)

PY_DEF = """\
import oneflow as flow


def same(ctx):
    ctx.SetOutputShape("out", 0, ctx.InputShape("in", 0))
    ctx.SetOutputDType("out", 0, ctx.InputDType("in", 0))


def like_dy(ctx):
    ctx.SetOutputShape("dx", 0, ctx.InputShape("dy", 0))


def gradient(ctx):
    name = ctx.FwOp().op_name() + "_grad"

    def build(builder):
        builder.OpTypeName("user_relu_backward")
        builder.InputBind("y", ctx.FwOp().output("out", 0))
        builder.InputBind("dy", ctx.FwOp().output_grad("out", 0))
        return builder.Output("dx").Build()

    ctx.DefineOp(name, build)
    ctx.FwOp().InputGradBind(flow.OpArg("in", 0), lambda: ctx.GetOp(name).output("dx", 0))


forward = flow.REGISTER_USER_OP("user_relu_forward").Attr("device_sub_tag", "py")
forward.Input("in").Output("out").SetTensorDescInferFn(same)
backward = flow.REGISTER_USER_OP("user_relu_backward").Attr("device_sub_tag", "py")
backward.Input("y").Input("dy").Output("dx").SetTensorDescInferFn(like_dy)
flow.REGISTER_USER_OP_GRAD("user_relu_forward").SetBackwardOpConfGenFn(gradient)
"""

CPP_DEF = """\
#include "oneflow/core/framework/framework.h"

namespace oneflow {
namespace {

Maybe<void> Same(user_op::InferContext* ctx) {
  *ctx->Shape4ArgNameAndIndex("out", 0) = *ctx->Shape4ArgNameAndIndex("in", 0);
  *ctx->Dtype4ArgNameAndIndex("out", 0) = *ctx->Dtype4ArgNameAndIndex("in", 0);
  return Maybe<void>::Ok();
}

REGISTER_USER_OP("user_relu_forward")
    .Attr<std::string>("device_sub_tag", "py")
    .Input("in")
    .Output("out")
    .SetTensorDescInferFn(Same);

REGISTER_USER_OP("user_relu_backward")
    .Attr<std::string>("device_sub_tag", "py")
    .Input("y")
    .Input("dy")
    .Output("dx")
    .SetTensorDescInferFn([](user_op::InferContext* ctx) -> Maybe<void> {
      *ctx->Shape4ArgNameAndIndex("dx", 0) = *ctx->Shape4ArgNameAndIndex("dy", 0);
      return Maybe<void>::Ok();
    });

REGISTER_USER_OP_GRAD("user_relu_forward")
    .SetBackwardOpConfGenFn([](user_op::BackwardOpConfContext* ctx) {
      const std::string name = ctx->FwOp().op_name() + "_grad";
      ctx->DefineOp(name, [ctx](user_op::BackwardOpBuilder& builder) {
        return builder.OpTypeName("user_relu_backward")
            .InputBind("y", ctx->FwOp().output("out", 0))
            .InputBind("dy", ctx->FwOp().output_grad("out", 0))
            .Output("dx")
            .Build();
      });
      ctx->FwOp().InputGradBind(user_op::OpArg("in", 0), [&]() -> const std::string& {
        return ctx->GetOp(name).output("dx", 0);
      });
    });

}  // namespace
}  // namespace oneflow
"""

API = """\
import oneflow as flow


def relu(x, name="myrelu"):
    builder = flow.user_op_builder(name).Op("user_relu_forward")
    op = builder.Input("in", [x]).Output("out").Build()
    return op.InferAndTryRun().SoleOutputBlob()
"""

KERNEL = """\
import numpy as np


def forward(args):
    (x,) = args
    return np.maximum(x, 0)


def backward(args):
    (y, dy) = args
    return (y > 0) * dy
"""

RELU = {"op_def.py": PY_DEF, "py_api.py": API, "py_kernel.py": KERNEL}
RELU_CPP = {"cpp_def.cpp": CPP_DEF, "py_api.py": API, "py_kernel.py": KERNEL}


def write(folder, files=RELU, name="user_relu"):
    """Write an op's folder; return the folder that holds it."""
    (folder / name).mkdir(exist_ok=True, parents=True)
    for ending, text in files.items():
        (folder / name / f"{name}_{ending}").write_text(text)
    return folder


def edited(files, ending, old, new):
    """Return the files with one passage replaced; it must be there."""
    assert old in files[ending], old
    return {**files, ending: files[ending].replace(old, new)}


def load(folder, name="user_relu", front_end="py_def"):
    """Load all of an op's files; return its module object."""
    op = flow.experimental.custom_op_module(name, folder).py_api()
    return getattr(op, front_end)().py_kernel().build_load()


def predict(relu, spec=((5,), "float32")):
    """Return a predict job of one op."""

    @flow.global_function()
    def job(x: tp.Numpy.Placeholder(*spec)) -> tp.Numpy:
        with flow.scope.placement("cpu", "0:0"):
            return relu(x)

    return job


def sgd(rate=0.1, momentum=0.0):
    return flow.optimizer.SGD(flow.optimizer.PiecewiseConstantScheduler([], [rate]), momentum)


def train(relu, spec=((5,), "float32"), seen=None):
    """Return a train job: relu(w * x), summed; `seen` collects what watch_diff gives for w."""

    @flow.global_function(type="train")
    def job(x: tp.Numpy.Placeholder(*spec)) -> tp.Numpy:
        with flow.scope.placement("cpu", "0:0"):
            w = flow.get_variable("w", *spec, initializer=flow.ones_initializer())
            loss = flow.math.reduce_sum(relu(w * x))
        sgd().minimize(loss)
        if seen is not None:
            flow.watch_diff(w, seen.append)
        return loss

    return job


def caught(run, stage, words):
    """Assert that run() raises exactly an OpError, at a stage, with words in one sentence."""
    with pytest.raises(flow.OpError) as caught:
        run()
    message = str(caught.value)
    assert all(word in message for word in words), message
    assert caught.value.stage == stage, message
    assert "\n" not in message and not re.search(r"/tmp|0x[0-9a-f]", message), message
