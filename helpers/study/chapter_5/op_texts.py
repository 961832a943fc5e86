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


def file_names(name: str) -> tuple[str, str, str]:
    """Return the names of an op's definition in Python, wrapper and kernel file."""
    return tuple(f"{name}_{ending}" for ending in ("op_def.py", "py_api.py", "py_kernel.py"))


def op_files(name: str, forward: str, backward: str) -> dict[str, str]:
    """Return the files of an op with one input and one output of the same shape and dtype.

    `forward`: an expression of `x`; `backward`: an expression of `y` and `dy`.
    """
    definition, _, kernel = file_names(name)
    files = forward_files(name, forward)
    files[definition] += _WAY_BACK.replace("NAME", name)
    files[kernel] += _KERNEL_BACK.replace("BACKWARD", backward)
    return files


def forward_files(name: str, forward: str) -> dict[str, str]:
    """Return the files of such an op without a gradient rule, and without what it needs."""
    texts = _TYPE.replace("NAME", name), _API.replace("NAME", name)
    return dict(zip(file_names(name), (*texts, _KERNEL.replace("FORWARD", forward)), strict=True))
