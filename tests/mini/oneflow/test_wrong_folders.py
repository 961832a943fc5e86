"""A mistake in one file of an op's folder ends in an OpError, at the stage where it shows."""

import pytest

from tests.mini.oneflow.folders import KERNEL, PY_DEF, RELU, X, edited, load, predict, train, write
from tests.mini.oneflow.wrong import caught

FORWARD = "    return np.maximum(x, 0)"
BACKWARD = "    return (y > 0) * dy"
CHAIN = 'builder.Input("in", [x]).Output("out")'

# id: (file, what is replaced, by what, stage, words of the message)
EDITS = {
    # the files themselves
    "syntax error in the kernel": (
        "py_kernel.py", "def forward(args):", "def forward(args)", "load",
        ["user_relu/user_relu_py_kernel.py", "line 4", "SyntaxError"],
    ),
    "syntax error in the wrapper": (
        "py_api.py", "def relu(", "def relu)", "load", ["user_relu_py_api.py", "SyntaxError"],
    ),
    "syntax error in the definition": (
        "op_def.py", "def same(ctx):", "def same(ctx:", "load",
        ["user_relu_op_def.py", "SyntaxError"],
    ),
    "kernel imports what is not there": (
        "py_kernel.py", "import numpy as np", "import no_such_numpy as np", "load",
        ["user_relu_py_kernel.py, line 1", "ModuleNotFoundError", "no_such_numpy"],
    ),
    "wrapper raises while it is imported": (
        "py_api.py", "def relu(", "1 / 0\n\n\ndef relu(", "load",
        ["user_relu_py_api.py, line 4", "ZeroDivisionError"],
    ),
    "kernel exits while it is imported": (
        "py_kernel.py", "import numpy as np", "raise SystemExit(3)", "load",
        ["user_relu_py_kernel.py", "SystemExit"],
    ),
    "kernel file holds a null byte": (
        "py_kernel.py", "import numpy as np", "\0", "load",
        ["user_relu_py_kernel.py", "null bytes"],
    ),
    # define
    "op type twice in a file": (
        "op_def.py", '"user_relu_backward").Attr', '"user_relu_forward").Attr', "define",
        ['op type "user_relu_forward" is already registered', "user_relu_op_def.py", "unique"],
    ),
    "op type of the framework": (
        "op_def.py", 'OP("user_relu_forward")', 'OP("matmul")', "define",
        ['op type "matmul" is already registered by the framework'],
    ),
    "gradient twice": (
        "op_def.py", "backward = ",
        'flow.REGISTER_USER_OP_GRAD("user_relu_forward").SetBackwardOpConfGenFn(gradient)\n'
        "backward = ", "define",
        ['a gradient for op type "user_relu_forward" is already registered'],
    ),
    "no inference": (
        "op_def.py", ".SetTensorDescInferFn(same)", "", "define",
        ['op type "user_relu_forward" (user_relu/user_relu_op_def.py)', "SetTensorDescInferFn"],
    ),
    "inference is no function": (
        "op_def.py", "InferFn(same)", "InferFn(3)", "define", ["SetTensorDescInferFn"],
    ),
    "argument name used twice": (
        "op_def.py", 'Output("out")', 'Output("in")', "define", ['the name "in" is used twice'],
    ),
    "no output": (
        "op_def.py", '.Output("out")', "", "define", ["user_relu_forward", 'no .Output("out")'],
    ),
    "op type with a slash": (
        "op_def.py", 'OP("user_relu_forward")', 'OP("user/relu_forward")', "define",
        ["'user/relu_forward' is no name"],
    ),
    "op type is no text": (
        "op_def.py", 'OP("user_relu_forward")', "OP(7)", "define", ["7 is no name"],
    ),
    "attr default of no attr type": (
        "op_def.py", '"device_sub_tag", "py")\nforward.', '"sizes", [1])\nforward.', "load",
        ['attr "sizes"', "[1] gives no attr type", '"double"'],
    ),
    "attr of an unknown type": (
        "op_def.py", '"device_sub_tag", "py")\nforward.', '"k", 1, "short")\nforward.', "load",
        ['attr "k"', "'short' gives no attr type", '"int32"'],
    ),
    "attr default of another type": (
        "op_def.py", '"device_sub_tag", "py")\nforward.', '"k", "a", "double")\nforward.', "load",
        ['attr "k" is a double', "got 'a'"],
    ),
    "attr default too large": (
        "op_def.py", '"device_sub_tag", "py")\nforward.', '"k", 2**31, "int32")\nforward.',
        "load", ['attr "k" is an int32', "2147483648"],
    ),
    "attr twice": (
        "op_def.py", '"device_sub_tag", "py")\nforward.',
        '"device_sub_tag", "py").Attr("k", 1).Attr("k", 2)\nforward.', "load",
        ['attr "k" is defined twice'],
    ),
    "gradient without a function": (
        "op_def.py", ".SetBackwardOpConfGenFn(gradient)", "", "define",
        ['the gradient rule of "user_relu_forward"', "SetBackwardOpConfGenFn"],
    ),
    # build
    "unknown op type": (
        "py_api.py", "user_relu_forward", "user_relu", "build",
        ['op "myrelu"', 'no op type "user_relu"', '"user_relu_forward", "user_relu_backward"'],
    ),
    "no op type": (
        "py_api.py", '.Op("user_relu_forward")', "", "build",
        ['op "myrelu"', '.Op("op_type_name")'],
    ),
    "wrong input name": (
        "py_api.py", 'Input("in"', 'Input("x"', "build",
        ['op "myrelu"', "user_relu_op_def.py", 'has no input "x"; it has "in"'],
    ),
    "input forgotten": (
        "py_api.py", '.Input("in", [x])', "", "build", ['input "in" is not given'],
    ),
    "blob without a list": (
        "py_api.py", "[x]", "x", "build", ['op "myrelu"', '.Input("in"', "write [x]"],
    ),
    "two blobs for one input": (
        "py_api.py", "[x]", "[x, x]", "build", ['input "in" takes one blob, 2 given'],
    ),
    "input given twice": (
        "py_api.py", '.Input("in", [x])', '.Input("in", [x]).Input("in", [x])', "build",
        ['input "in" takes one blob, 2 given'],
    ),
    "empty list of blobs": ("py_api.py", "[x]", "[]", "build", ["empty list", "write [x]"]),
    "array for a blob": (
        "py_api.py", "[x]", "[[1.0]]", "build", ['.Input("in"', "takes blobs", "list"],
    ),
    "wrong output name": (
        "py_api.py", 'Output("out")', 'Output("y")', "build", ['no output "y"; it has "out"'],
    ),
    "output forgotten": (
        "py_api.py", '.Output("out")', "", "build", ['output "out" is not given'],
    ),
    "output twice": (
        "py_api.py", '.Output("out")', '.Output("out").Output("out")', "build",
        ['output "out" takes one blob, 2 given'],
    ),
    "several blobs for an output": (
        "py_api.py", 'Output("out")', 'Output("out", 2)', "build", ["num=2"],
    ),
    "unknown attr": (
        "py_api.py", CHAIN, CHAIN + '.Attr("slope", 0.1)', "build",
        ['op "myrelu"', 'has no attr "slope"', '"device_sub_tag"'],
    ),
    "wrong type of an attr": (
        "py_api.py", CHAIN, CHAIN + '.Attr("device_sub_tag", 1)', "build",
        ['attr "device_sub_tag" is a string, got 1'],
    ),
    "no device_sub_tag": (
        "op_def.py", '.Attr("device_sub_tag", "py")\nforward', "\nforward", "build",
        ["user_relu_forward", '.Attr("device_sub_tag", "py")'],
    ),
    "op name with a slash": (
        "py_api.py", '"myrelu"', '"my/relu"', "build", ["user_op_builder", "'my/relu'"],
    ),
    "op name is no text": ("py_api.py", '"myrelu"', "3", "build", ["user_op_builder", "got 3"]),
    "op name of an input": (
        "py_api.py", '"myrelu"', '"x"', "build", ['already has an op named "x"'],
    ),
    "blobs asked for too early": (
        "py_api.py", ".InferAndTryRun()", "", "build", ['op "myrelu"', ".InferAndTryRun() first"],
    ),
    # infer
    "wrong name in the inference": (
        "op_def.py", 'InputShape("in", 0)', 'InputShape("x", 0)', "infer",
        ['op "myrelu"', "user_relu_op_def.py", 'has no input ("x", 0); it has "in"'],
    ),
    "wrong output in the inference": (
        "op_def.py", 'SetOutputShape("out", 0', 'SetOutputShape("y", 0', "infer",
        ['has no output ("y", 0); it has "out"'],
    ),
    "wrong index in the inference": (
        "op_def.py", 'InputShape("in", 0)', 'InputShape("in", 1)', "infer", ['("in", 1)'],
    ),
    "unknown attr in the inference": (
        "op_def.py", 'ctx.InputShape("in", 0)', 'ctx.Attr("n")', "infer",
        ['has no attr "n"; it has "device_sub_tag"'],
    ),
    "inference raises": (
        "op_def.py", 'ctx.InputShape("in", 0)', '1 / 0', "infer",
        ["user_relu/user_relu_op_def.py, line 5", "ZeroDivisionError"],
    ),
    "inference sets no shape": (
        "op_def.py", 'ctx.SetOutputShape("out", 0, ctx.InputShape("in", 0))', "pass", "infer",
        ['op "myrelu"', 'never sets the shape of output "out"'],
    ),
    "inference sets a negative size": (
        "op_def.py", 'ctx.InputShape("in", 0)', "(-1,)", "infer", ["(-1,)", "from 0 up"],
    ),
    "inference sets a number for a shape": (
        "op_def.py", 'ctx.InputShape("in", 0)', "5", "infer", ["the shape 5", "tuple"],
    ),
    "inference sets no dtype that there is": (
        "op_def.py", 'ctx.InputDType("in", 0)', '"bool"', "infer",
        ['output "out" the dtype \'bool\'', '"float32"'],
    ),
    # run
    "no function forward": (
        "py_kernel.py", "def forward", "def fwd", "run",
        ["user_relu/user_relu_py_kernel.py", "defines no function forward(args)", 'op "myrelu"'],
    ),
    "forward is no function": (
        "py_kernel.py", KERNEL, "forward = 3\n", "run", ["defines no function forward(args)"],
    ),
    "forward takes nothing": (
        "py_kernel.py", "def forward(args):", "def forward():", "run",
        ['op "myrelu"', "TypeError", "positional argument"],
    ),
    "forward takes three": (
        "py_kernel.py", "def forward(args):", "def forward(args, attrs, more):", "run",
        ["TypeError", "more"],
    ),
    "wrong unpacking": (
        "py_kernel.py", "(x,) = args", "(x, y) = args", "run",
        ['op "myrelu"', "user_relu_py_kernel.py, line 5", "ValueError: not enough values"],
    ),
    "kernel exits": (
        "py_kernel.py", FORWARD, "    raise SystemExit", "run", ['op "myrelu"', "SystemExit"],
    ),
    "kernel imports the framework late": (
        "py_kernel.py", FORWARD, "    import oneflow", "run", ["ModuleNotFoundError", "oneflow"],
    ),
    "is a partial function": (
        "py_kernel.py", KERNEL, "from functools import partial\n\nforward = partial(int, 3)\n",
        "run", ["forward()", 'op "myrelu"', "TypeError"],
    ),
    "returns None": (
        "py_kernel.py", FORWARD, "    pass", "run",
        ["forward() (user_relu/user_relu_py_kernel.py)", "returned None for myrelu/out_0"],
    ),
    "returns text": ("py_kernel.py", FORWARD, "    return 'y'", "run", ["returned a str"]),
    "returns a number": ("py_kernel.py", FORWARD, "    return 1.0", "run", ["returned a float"]),
    "returns a list of numbers": (
        "py_kernel.py", FORWARD, "    return [1.0, 2.0, 3.0, 4.0, 5.0]", "run",
        ["returned 5 value(s)", "1 output(s)", "myrelu/out_0: float32[5]"],
    ),
    "returns a matrix": (
        "py_kernel.py", FORWARD, "    return np.matrix(x)", "run", ["returned a matrix"],
    ),
    "returns a masked array": (
        "py_kernel.py", FORWARD, "    return np.ma.array(x)", "run", ["returned a MaskedArray"],
    ),
    "is a generator": ("py_kernel.py", FORWARD, "    yield x", "run", ["returned a generator"]),
    "returns too few numbers": (
        "py_kernel.py", FORWARD, "    return x[:3]", "run",
        ["returned shape (3,) for myrelu/out_0: float32[5]", "inference says (5,)"],
    ),
    "returns another shape": (
        "py_kernel.py", FORWARD, "    return x.reshape(5, 1)", "run", ["shape (5, 1)", "(5,)"],
    ),
    "returns a scalar": (
        "py_kernel.py", FORWARD, "    return x.sum()", "run", ["returned shape ()", "(5,)"],
    ),
    "returns another dtype": (
        "py_kernel.py", FORWARD, "    return x.astype('float64')", "run",
        ["returned dtype float64", "inference says float32"],
    ),
    "returns the other byte order": (
        "py_kernel.py", FORWARD, "    return x.astype('>f4')", "run", ["returned dtype >f4"],
    ),
    "returns bools": ("py_kernel.py", FORWARD, "    return x > 0", "run", ["dtype bool"]),
    "returns nothing in a list": (
        "py_kernel.py", FORWARD, "    return []", "run", ["returned 0 value(s)"],
    ),
    "returns too many": ("py_kernel.py", FORWARD, "    return x, x", "run", ["2 value(s)"]),
    "writes into its input": (
        "py_kernel.py", FORWARD, "    x[x < 0] = 0\n    return x", "run",
        ['op "myrelu"', "line 6", "read-only"],
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("name", EDITS)
def test_edited_folder(name, tmp_path):
    file, old, new, stage, words = EDITS[name]
    write(tmp_path, edited(RELU, file, old, new))
    caught(lambda: predict(load(tmp_path).api.relu)(X), stage, words)


# the same, for a train job
BACKWARD_EDITS = {
    "no gradient registered": (
        "op_def.py", PY_DEF[PY_DEF.index("flow.REGISTER_USER_OP_GRAD") :], "", "backward",
        ['op "myrelu"', 'no gradient is registered for op type "user_relu_forward"', "GRAD("],
    ),
    "gradient of another op": (
        "op_def.py", 'OP_GRAD("user_relu_forward")', 'OP_GRAD("user_relu")', "backward",
        ["no gradient is registered", '(registered: "user_relu")'],
    ),
    "wrong names in the rule": (
        "op_def.py", '"out", 0))\n        builder', '"y", 0))\n        builder', "backward",
        ['op "myrelu"', "user_relu_op_def.py", 'has no output ("y", 0); it has "out"'],
    ),
    "wrong input bound": (
        "op_def.py", 'OpArg("in", 0)', 'OpArg("x", 0)', "backward",
        ['"user_relu_forward" has no input ("x", 0); it has "in"'],
    ),
    "no gradient bound": (
        "op_def.py", "    ctx.FwOp().InputGradBind", "    (lambda *_: 0)", "backward",
        ['op "myrelu"', 'binds no gradient to input ("in", 0)', "it binds nothing"],
    ),
    "unknown backward type": (
        "op_def.py", 'OpTypeName("user_relu_backward")', 'OpTypeName("relu_grad")', "backward",
        ['op "myrelu_grad"', 'no op type "relu_grad"'],
    ),
    "backward op lacks an input": (
        "op_def.py", 'builder.InputBind("y", ctx.FwOp().output("out", 0))', "pass", "backward",
        ['op "myrelu_grad"', 'input "y" is not given'],
    ),
    "backward op has no such input": (
        "op_def.py", 'InputBind("y"', 'InputBind("x"', "backward",
        ['has no input "x"; it has "y", "dy"'],
    ),
    "backward op has no such output": (
        "op_def.py", 'Output("dx").Build', 'Output("dz").Build', "backward",
        ['has no output ("dx", 0); it has "dz"'],
    ),
    "backward op reads an unknown blob": (
        "op_def.py", 'ctx.FwOp().output("out", 0))\n', '"nowhere/out_0")\n', "backward",
        ['op "myrelu_grad"', '"nowhere/out_0", which no op before it writes'],
    ),
    "backward op has no such attr": (
        "op_def.py", 'Output("dx").Build', 'Output("dx").Attr("slope", 0.1).Build', "backward",
        ['has no attr "slope"'],
    ),
    "rule is cyclic": (
        "op_def.py", 'builder.InputBind("y", ctx.FwOp().output("out", 0))',
        'builder.InputBind("y", ctx.GetOp(name).output("dx", 0))', "backward",
        ['needs backward op "myrelu_grad" to build itself: a cycle'],
    ),
    "rule asks for what it never defined": (
        "op_def.py", "GetOp(name)", 'GetOp("other")', "backward",
        ['asks for backward op "other"', '"myrelu_grad"'],
    ),
    "rule defines an op twice": (
        "op_def.py", "ctx.DefineOp(name, build)",
        "ctx.DefineOp(name, build)\n    ctx.DefineOp(name, build)", "backward",
        ["defines backward op", "twice"],
    ),
    "rule raises": (
        "op_def.py", 'name = ctx.FwOp().op_name() + "_grad"', "name = 1 / 0", "backward",
        ["user_relu_op_def.py, line 14", "ZeroDivisionError"],
    ),
    "rule forgets to build": (
        "op_def.py", 'return builder.Output("dx").Build()', "return builder", "backward",
        ['"myrelu_grad" is not built', ".Build()"],
    ),
    "rule binds no blob": (
        "op_def.py", 'lambda: ctx.GetOp(name).output("dx", 0)', "lambda: 3", "backward",
        ['binds 3 to input ("in", 0)', "no blob has that name"],
    ),
    "unknown attr in the rule": (
        "op_def.py", 'name = ctx.FwOp().op_name() + "_grad"', 'name = ctx.FwOp().attr("n")',
        "backward", ['has no attr "n"; it has "device_sub_tag"'],
    ),
    "rule binds a list": (
        "op_def.py", 'lambda: ctx.GetOp(name).output("dx", 0)', 'lambda: ["x/out_0"]', "backward",
        ["binds ['x/out_0'] to input", "no blob has that name"],
    ),
    "backward op reads no name": (
        "op_def.py", 'ctx.FwOp().output("out", 0))\n', "None)\n", "backward",
        ['op "myrelu_grad"', "names are text, got None"],
    ),
    "gradient of another shape": (
        "op_def.py", 'ctx.InputShape("dy", 0)', "(1,)", "backward",
        ["binds myrelu_grad/dx_0: float32[1]", "float32[5]", "its input's shape"],
    ),
    "wrong names in the inference of the backward op": (
        "op_def.py", 'InputShape("dy", 0)', 'InputShape("dz", 0)', "backward",
        ['op "myrelu_grad"', 'no input ("dz", 0); it has "y", "dy"'],
    ),
    "no function backward": (
        "py_kernel.py", "def backward", "def bwd", "run",
        ['op "myrelu_grad"', "defines no function backward(args)"],
    ),
    "backward returns another shape": (
        "py_kernel.py", BACKWARD, "    return dy[:1]", "run",
        ['op "myrelu_grad"', "returned shape (1,) for myrelu_grad/dx_0"],
    ),
    "backward raises": (
        "py_kernel.py", "(y, dy) = args", "(x, y, dy) = args", "run",
        ["backward() (user_relu/user_relu_py_kernel.py)", "line 10", "ValueError"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BACKWARD_EDITS)
def test_edited_folder_in_a_train_job(name, tmp_path):
    file, old, new, stage, words = BACKWARD_EDITS[name]
    write(tmp_path, edited(RELU, file, old, new))
    caught(lambda: train(load(tmp_path).api.relu)(X), stage, words)


@pytest.mark.parametrize("missing", RELU)
def test_missing_file(missing, tmp_path):
    write(tmp_path)
    (tmp_path / "user_relu" / f"user_relu_{missing}").unlink()
    words = [f"user_relu/user_relu_{missing} is missing", "the folder holds"]
    caught(lambda: load(tmp_path), "load", words)
