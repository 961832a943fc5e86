"""A mistake in one file of an op's folder ends in an OpError, at the stage where it shows."""

import pytest

from tests.mini.oneflow.folders import RELU, X, edited, load, predict, train, write
from tests.mini.oneflow.wrong import caught

FORWARD = "    return np.maximum(x, 0)"
CHAIN = 'builder.Input("in", [x]).Output("out")'

# id: (file, what is replaced, by what, stage, words of the message)
EDITS = {
    # the files themselves
    "syntax error in the kernel": (
        "py_kernel.py", "def forward(args):", "def forward(args)", "load",
        ["user_relu/user_relu_py_kernel.py", "line 4", "SyntaxError"],
    ),
    # define
    "op type twice in a file": (
        "op_def.py", '"user_relu_backward").Attr', '"user_relu_forward").Attr', "define",
        ['op type "user_relu_forward" is already registered', "user_relu_op_def.py", "unique"],
    ),
    "argument name used twice": (
        "op_def.py", 'Output("out")', 'Output("in")', "define", ['the name "in" is used twice'],
    ),
    # build
    "unknown op type": (
        "py_api.py", "user_relu_forward", "user_relu", "build",
        ['op "myrelu"', 'no op type "user_relu"', '"user_relu_forward", "user_relu_backward"'],
    ),
    "two blobs for one input": (
        "py_api.py", "[x]", "[x, x]", "build", ['input "in" takes one blob, 2 given'],
    ),
    "unknown attr": (
        "py_api.py", CHAIN, CHAIN + '.Attr("slope", 0.1)', "build",
        ['op "myrelu"', 'has no attr "slope"', '"device_sub_tag"'],
    ),
    # infer
    "wrong name in the inference": (
        "op_def.py", 'InputShape("in", 0)', 'InputShape("x", 0)', "infer",
        ['op "myrelu"', "user_relu_op_def.py", 'has no input ("x", 0); it has "in"'],
    ),
    "inference sets no dtype that there is": (
        "op_def.py", 'ctx.InputDType("in", 0)', '"bool"', "infer",
        ['output "out" this shape and dtype', "'bool'", '"float32"'],
    ),
    # run
    "returns text": ("py_kernel.py", FORWARD, "    return 'y'", "run", ["returned a str"]),
}  # fmt: skip


# the same, for a train job
BACKWARD_EDITS = {
    "wrong names in the rule": (
        "op_def.py", '"out", 0))\n        builder', '"y", 0))\n        builder', "backward",
        ['op "myrelu"', "user_relu_op_def.py", 'has no output ("y", 0); it has "out"'],
    ),
    "no gradient bound": (
        "op_def.py", "    ctx.FwOp().InputGradBind", "    (lambda *_: 0)", "backward",
        ['op "myrelu"', 'binds no gradient to input ("in", 0)', "it binds nothing"],
    ),
    "backward op lacks an input": (
        "op_def.py", 'builder.InputBind("y", ctx.FwOp().output("out", 0))', "pass", "backward",
        ['op "myrelu_grad"', 'input "y" is not given'],
    ),
    "rule asks for what it never defined": (
        "op_def.py", "GetOp(name)", 'GetOp("other")', "backward",
        ['asks for backward op "other"', '"myrelu_grad"'],
    ),
    "rule raises": (
        "op_def.py", 'name = ctx.FwOp().op_name() + "_grad"', "name = 1 / 0", "backward",
        ["user_relu_op_def.py, line 14", "ZeroDivisionError"],
    ),
    "rule binds no blob": (
        "op_def.py", 'lambda: ctx.GetOp(name).output("dx", 0)', "lambda: 3", "backward",
        ['binds 3 to input ("in", 0)', "no blob has that name"],
    ),
    "gradient of another shape": (
        "op_def.py", 'ctx.InputShape("dy", 0)', "(1,)", "backward",
        ["binds myrelu_grad/dx_0: float32[1]", "float32[5]", "its input's shape"],
    ),
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
    words = [f"user_relu/user_relu_{missing} is missing", "the folder contains"]
    caught(lambda: load(tmp_path), "load", words)
