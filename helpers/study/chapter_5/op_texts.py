"""Build the texts of an op's files from the parts that differ between ops."""

import re

# Words in capitals in these texts stand for what differs between ops.
_TYPE = """

def like_LIKE(ctx):
    ctx.SetOutputShape("OUT", 0, ctx.InputShape("IN", 0))
    ctx.SetOutputDType("OUT", 0, ctx.InputDType("IN", 0))


(
    flow.REGISTER_USER_OP("NAME_DIRECTION")
    .Attr("device_sub_tag", "py")
INPUTS
    .Output("OUT")
    .SetTensorDescInferFn(like_LIKE)
)
"""
_RULE = """

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


def op_files(name: str, forward: str, backward: str = "") -> dict[str, str]:
    """Return the files of an op, name -> text.

    `forward` is the expression that its kernel returns, of `x`. `backward` is that of its gradient,
    of `y` and `dy`; without it, the op has no gradient rule.
    """
    definition = "\nimport oneflow as flow\n" + _write_type("forward", "the_input", "in", "out")
    kernel = _KERNEL.replace("FORWARD", forward)
    if backward:
        definition += _write_type("backward", "the_gradient", "y dy", "dx") + _RULE
        kernel += _KERNEL_BACK.replace("BACKWARD", backward)
    texts = [text.replace("NAME", name) for text in (definition, _API, kernel)]
    return dict(zip(file_names(name), texts, strict=True))


def _write_type(direction: str, like: str, inputs: str, out: str) -> str:
    """Return the definition of one op type.

    Parameters
    ----------
    direction
        "forward" or "backward".
    like
        The end of the name of its inference function, such as "the_input".
    inputs
        The names of its inputs, with spaces. The output has the shape and dtype of the last one.
    out
        The name of its output.
    """
    input_names = inputs.split()
    values = {
        "INPUTS": "\n".join(f'    .Input("{name}")' for name in input_names),
        "LIKE": like,
        "IN": input_names[-1],
        "OUT": out,
        "DIRECTION": direction,
    }
    # In one pass, because a text that is put in may contain another word in capitals. INPUTS comes
    # before IN in the pattern, so that IN does not match its beginning.
    return re.sub("|".join(values), lambda match: values[match[0]], _TYPE)
