"""The texts of an op's files, put together from what differs between ops."""

_TYPE = """
import oneflow as flow


def like_the_input(ctx):
    ctx.SetOutputShape("out", 0, ctx.InputShape("in", 0))
    ctx.SetOutputDType("out", 0, ctx.InputDType("in", 0))


(
    flow.REGISTER_USER_OP("NAME_forward")
    .Attr("device_sub_tag", "py")
    .Input("in")
    .Output("out")
    .SetTensorDescInferFn(like_the_input)
)
"""
_WAY_BACK = """

def like_the_gradient(ctx):
    ctx.SetOutputShape("dx", 0, ctx.InputShape("dy", 0))
    ctx.SetOutputDType("dx", 0, ctx.InputDType("dy", 0))


(
    flow.REGISTER_USER_OP("NAME_backward")
    .Attr("device_sub_tag", "py")
    .Input("y")
    .Input("dy")
    .Output("dx")
    .SetTensorDescInferFn(like_the_gradient)
)


def gradient(ctx):
    forward = ctx.FwOp()
    name = forward.op_name() + "_grad"

    def backward_op(builder):
        return (
            builder.OpTypeName("NAME_backward")
            .InputBind("y", forward.output("out", 0))
            .InputBind("dy", forward.output_grad("out", 0))
            .Output("dx")
            .Build()
        )

    ctx.DefineOp(name, backward_op)
    forward.InputGradBind(flow.OpArg("in", 0), lambda: ctx.GetOp(name).output("dx", 0))


flow.REGISTER_USER_OP_GRAD("NAME_forward").SetBackwardOpConfGenFn(gradient)
"""
_API = """
import oneflow as flow


def NAME_forward(x, name="my_NAME"):
    builder = flow.user_op_builder(name).Op("NAME_forward")
    op = builder.Input("in", [x]).Output("out").Build()
    return op.InferAndTryRun().SoleOutputBlob()
"""
_KERNEL = """
import numpy as np


def forward(args):
    (x,) = args
    return FORWARD
"""
_KERNEL_BACK = """

def backward(args):
    (y, dy) = args
    return BACKWARD
"""
_IN_CPP = r"""
#include "oneflow/core/framework/framework.h"

namespace oneflow {
namespace {

Maybe<void> Same(user_op::InferContext* ctx, const char* from, const char* to) {
  *ctx->Shape4ArgNameAndIndex(to, 0) = *ctx->Shape4ArgNameAndIndex(from, 0);
  *ctx->Dtype4ArgNameAndIndex(to, 0) = *ctx->Dtype4ArgNameAndIndex(from, 0);
  return Maybe<void>::Ok();
}

}  // namespace

REGISTER_USER_OP("user_sigmoid_forward")
    .Attr<std::string>("device_sub_tag", "py")
    .Input("in")
    .Output("out")
    .SetTensorDescInferFn([](user_op::InferContext* ctx) { return Same(ctx, "in", "out"); });

REGISTER_USER_OP("user_sigmoid_backward")
    .Attr<std::string>("device_sub_tag", "py")
    .Input("y")
    .Input("dy")
    .Output("dx")
    .SetTensorDescInferFn([](user_op::InferContext* ctx) { return Same(ctx, "dy", "dx"); });

REGISTER_USER_OP_GRAD("user_sigmoid_forward")
    .SetBackwardOpConfGenFn([](user_op::BackwardOpConfContext* ctx) {
      const auto name = ctx->FwOp().op_name() + "_grad";
      ctx->DefineOp(name, [&ctx](user_op::BackwardOpBuilder& builder) {
        return builder.OpTypeName("user_sigmoid_backward")
            .InputBind("y", ctx->FwOp().output("out", 0))
            .InputBind("dy", ctx->FwOp().output_grad("out", 0))
            .Output("dx")
            .Build();
      });
      ctx->FwOp().InputGradBind(user_op::OpArg("in", 0), [&ctx, &name]() -> const std::string& {
        return ctx->GetOp(name).output("dx", 0);
      });
    });

}  // namespace oneflow
"""


def sigmoid_in_cpp() -> str:
    """Return the definition of the op in C++: the file that is given."""
    return _IN_CPP


def file_names(name: str) -> tuple[str, str, str]:
    """Return the names of an op's definition in Python, wrapper and kernel file."""
    return tuple(f"{name}_{ending}" for ending in ("op_def.py", "py_api.py", "py_kernel.py"))


def op_files(name: str, forward: str, backward: str = "") -> dict[str, str]:
    """Return the files of an op with one input and one output of the same shape and dtype.

    `forward`: an expression of `x`; `backward`: an expression of `y` and `dy`. Without it there is
    no gradient rule, nor what it needs.
    """
    definition, kernel = _TYPE, _KERNEL.replace("FORWARD", forward)
    if backward:
        definition += _WAY_BACK
        kernel += _KERNEL_BACK.replace("BACKWARD", backward)
    texts = [text.replace("NAME", name) for text in (definition, _API, kernel)]
    return dict(zip(file_names(name), texts, strict=True))
