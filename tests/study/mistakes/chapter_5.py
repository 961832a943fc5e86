"""Chapter 5: ops with a wrong name, a wrong number or a missing piece."""

NAMES = '"out", "out", "in"'
SIGMOID, ITS_GRADIENT = "1 / (1 + np.exp(-x))", "y * (1 - y) * dy"
INPUT = '.Input("in", [x])'
SLOPE = '.Attr("slope", 0.1)\n    '
PARTS, THEIR_GRADIENT = "np.maximum(x, 0), np.minimum(x, 0)", "dpos, dneg)\n"

ALL_MATCHING = "[kernel for kernel in kernels if kernel.matches(context)]"
MESSAGE = 'f"Cannot find the kernel matching Current OperatorConf. {context}"'
ON_CPU = ' & (flow.HobDeviceTag() == "cpu")'


def stage(piece, right, wrong):
    """Return the pieces that foretell another stage for what is left out of the op."""
    return f'{piece}": "{right}"', f'{piece}": "{wrong}"'


MISTAKES = {
    "gradient_names": (
        ('has no input ("x", 0)', NAMES, '"y", "y", "x"'),
        ('has no output ("y", 0)', NAMES, '"out", "y", "in"'),
        ('has no input ("x", 0)', NAMES, '"out", "out", "x"'),
        ('has no output ("dy", 0)', NAMES, '"out", "dy", "in"'),
        ('such as "y": output', NAMES, '"out", 0, "in"'),
        ("three names", NAMES, '"out", "out", None'),
    ),
    "forgotten": (
        ("as the file alone shows", *stage("the inference function", "define", "infer")),
        (
            "is not known before it is called",
            *stage("the shape in the inference", "infer", "build"),
        ),
        ("ops of the gradient must be in the list", *stage("the gradient rule", "backward", "run")),
        ("a definition says nothing of devices", *stage("the placement", "build", "infer")),
        (
            "nobody looks into the kernel file",
            *stage("backward() in the kernel file", "run", "backward"),
        ),
        ("must be a dict", "guess = 'run'"),
        ("a stage is one of", *stage("the inference function", "define", "loading")),
    ),
    "sigmoid": (
        (
            "forward at x = 1000 (float64): yours gives nan, torch gives 1",
            SIGMOID,
            "np.exp(x) / (1 + np.exp(x))",
        ),
        ("two calls in one job", "user_op_builder(name)", 'user_op_builder("mysigmoid")'),
        ("the gradient at x = -3", ITS_GRADIENT, "(1 - y) * dy"),
        ("returned", SIGMOID, "[1 / (1 + np.exp(-v)) for v in x]"),
        ("float64", SIGMOID, "1 / (1 + np.exp(-x.astype(float)))"),
        ('has no input "x"', INPUT, '.Input("x", [x])'),
        ('has no input ("x", 0)', 'OpArg("in", 0)', 'OpArg("x", 0)'),
        ("no op type", 'Op("user_sigmoid_forward")', 'Op("user_sigmoid")'),
    ),
    "leaky": (
        (
            "the gradient at x = 0, dy = 1 (float64): yours gives 1, torch gives 0.1",
            "np.where(x > 0, dy",
            "np.where(x >= 0, dy",
        ),
        ("two calls in one job", "user_op_builder(name)", 'user_op_builder("myleaky")'),
        (
            "(float64): yours gives -3.00000004, torch gives -3",
            'np.where(x > 0, x, attrs["slope"] * x)',
            'np.where(x > 0, x, np.float32(attrs["slope"]) * x)',
        ),
        (
            "slope = -0.25 (float32): yours gives 0.1, torch gives -0.25",
            '            .Attr("slope", forward.attr("slope"))\n',
            "",
        ),
        ("slope = -0.25", '.Attr("slope", slope)', ""),
        (
            "slope",
            f'{SLOPE}.Input("in")',
            f'{SLOPE}.Input("in")'.replace("0.1", "1"),
            f'{SLOPE}.Input("x")',
            f'{SLOPE}.Input("x")'.replace("0.1", "1"),
        ),
        ("with float32[6]: forward at x = -3", "slope=0.1, name", "slope=0.2, name"),
        ("slope = -0.25", 'forward.input("in"', 'forward.output("out"'),
        ("attrs", "def backward(args, attrs)", "def backward(args)"),
    ),
    "split": (
        ("the gradient at x = 0, dy of output 1 = 1", "np.where(x > 0", "np.where(x >= 0"),
        ("in one job", 'forward.op_name() + "_grad"', '"split_grad"'),
        ("use .RemoteBlobList()", "RemoteBlobList", "SoleOutputBlob"),
        ("output 1 at x = -3", PARTS, "np.minimum(x, 0), np.maximum(x, 0)"),
        ("the gradient at x = ", THEIR_GRADIENT, "dpos, 0)\n"),
        ("the gradient at x = ", THEIR_GRADIENT, "dpos, -dneg)\n"),
        ("returned 1", PARTS, "np.maximum(x, 0)"),
        ("the gradient at x = ", 'output_grad("neg", 0)', 'output_grad("pos", 0)'),
    ),
    "repair": (
        (
            "user_cube: with float32[6]: running it fails",
            'np.array(x**3, dtype=float)", "x**3"',
            'dtype=float", "dtype=int"',
        ),
        (
            "forward at x = -3 (float32): yours gives 9, torch gives -27",
            'np.array(x**3, dtype=float)", "x**3"',
            'x**3, dtype=float", "x**2, x.dtype"',
        ),
        (
            "user_double: with float32[6]: appending its gradient fails",
            '"user_doubled", ',
            '"user_doubled_backward", ',
        ),
        (
            "user_negate: with float32[6]: putting it into a job fails",
            "'\"in\", [x]'",
            "'\"x\", [x]'",
        ),
        ("has no file", '"user_cube_py_kernel.py"', '"user_cube.py"'),
        ("stands", '"np.array(x**3, dtype=float)"', '"x"'),
        ("user_cube must be three texts", '"x**3")', "3)"),
        ("must be a dict", "repairs = []"),
    ),
    "two_kernels": (
        (
            "the registry gives 'OpError: There are more than one kernels",
            ALL_MATCHING,
            f"{ALL_MATCHING}[:1]",
        ),
        (
            "yours raises ValueError: Cannot find",
            'flow.OpError(f"Cannot',
            'ValueError(f"Cannot',
        ),
        ("yours gives 'OpError: nothing matches'", MESSAGE, '"nothing matches"'),
        ("yours gives None, the registry gives", f"raise flow.OpError({MESSAGE})", "return None"),
        ("(float16): yours gives", "return x / 2", "return x / 2 if x.ndim else x + 1"),
        ("must be a function", "def choose(", "choose = 5\n\n\ndef another("),
        (
            'on "cpu", how many of the kernels match: yours gives 0',
            "register(halve, is_float)\n",
            "",
        ),
        (
            'on "cpu", how many of the kernels match: yours gives 2',
            "~is_float",
            "is_float",
        ),
        ('on "gpu", how many of the kernels match: yours gives 1', ON_CPU, ""),
        (
            "half of -3 (int8): yours gives -1, numpy gives -2",
            "x // 2",
            "(x / 2).astype(x.dtype)",
        ),
        (
            "returned dtype float64 for my_user_half/out_0: int8[]",
            "register(halve_whole, ~",
            "register(lambda args: halve(args), ~",
        ),
        (
            "neither true nor false",
            '(dtype == "float16") | (dtype == "float32") | (dtype == "float64")',
            'dtype in ("float16", "float32", "float64")',
        ),
        ("how many of the kernels match: yours gives 0", '"user_half_forward"', '"user_half"'),
    ),
}
