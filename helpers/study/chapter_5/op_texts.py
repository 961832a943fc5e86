"""Write the three files of an op, as a learner would, for a formula such as `np.maximum(x, 0)`.
The files are the definition with the gradient rule, the wrapper and the kernel. They are made from
templates, in which words in capitals are replaced by what differs between ops.
"""

import re

# NAME is the name of the op; `_write_type` replaces the other words in capitals.
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
    """Return the names of the three files of an op: definition, wrapper, kernel."""
    return tuple(f"{name}_{ending}" for ending in ("op_def.py", "py_api.py", "py_kernel.py"))


def op_files(name: str, forward: str, backward: str = "") -> dict[str, str]:
    """Return the files of an op: name of a file -> text.

    Parameters
    ----------
    name : str
        The name of the op.
    forward : str
        The expression that computes the output from `x`, such as "np.maximum(x, 0)".
    backward : str
        The expression that computes the gradient for x from the output `y` and its gradient `dy`.
        With "", the op has no gradient rule.
    """
    definition = "\nimport oneflow as flow\n" + _write_type("forward", "the_input", "in", "out")
    kernel = _KERNEL.replace("FORWARD", forward)
    if backward:
        definition += _write_type("backward", "the_gradient", "y dy", "dx") + _RULE
        kernel += _KERNEL_BACK.replace("BACKWARD", backward)
    texts = [text.replace("NAME", name) for text in (definition, _API, kernel)]
    return dict(zip(file_names(name), texts, strict=True))


def _write_type(direction: str, like: str, inputs: str, out: str) -> str:
    """Return the text that defines one op type.

    An op has a type for the forward pass and, with a gradient rule, a type for the backward pass.

    Parameters
    ----------
    direction : str
        "forward" or "backward".
    like : str
        The end of the name of the function that infers shapes, such as "the_input".
    inputs : str
        The names of the inputs, with a space between them. The output has the shape and the dtype
        of the last one.
    out : str
        The name of the output.
    """
    input_names = inputs.split()
    values = {  # word in capitals -> what replaces it
        "INPUTS": "\n".join(f'    .Input("{name}")' for name in input_names),
        "LIKE": like,
        "IN": input_names[-1],
        "OUT": out,
        "DIRECTION": direction,
    }
    # All words are replaced in one pass, because the text that replaces one may contain another.
    # INPUTS comes before IN in the pattern. Otherwise IN would match the beginning of INPUTS.
    pattern = "|".join(values)
    return re.sub(pattern, lambda match: values[match[0]], _TYPE)
