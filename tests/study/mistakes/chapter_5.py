"""Chapter 5: ops with a wrong name, a wrong number or a missing piece."""

NAMES = '"out", "out", "in"'
SIGMOID, ITS_GRADIENT = "1 / (1 + np.exp(-x))", "y * (1 - y) * dy"
INPUT = '.Input("in", [x])'
SLOPE = '.Attr("slope", 0.1)\n    '
PARTS, THEIR_GRADIENT = "np.maximum(x, 0), np.minimum(x, 0)", "dpos, dneg)\n"


def stage(piece, right, wrong):
    """Return the pieces that foretell another stage for what is left out of the op."""
    return f'{piece}": "{right}"', f'{piece}": "{wrong}"'


MISTAKES = {
    "gradient_names": (
        ('has no input ("x", 0)', NAMES, '"y", "y", "x"'),
        ('has no output ("y", 0)', NAMES, '"out", "y", "in"'),
        ('has no input ("x", 0)', NAMES, '"out", "out", "x"'),
        ('has no output ("dy", 0)', NAMES, '"out", "dy", "in"'),
        ("must be a text", NAMES, '"out", 0, "in"'),
    ),
    "forgotten": (
        ("can be seen at once", *stage("the inference function", "define", "infer")),
        (
            "asked when the op is put in a job",
            *stage("the shape in the inference", "infer", "define"),
        ),
        ("the dtype of the first input", *stage("the dtype in the inference", "none", "infer")),
        ("ops of the gradient are appended", *stage("the gradient rule", "backward", "run")),
        ("placed when it is put into the job", *stage("the placement", "build", "run")),
        ("written down without kernels", *stage("the call of .py_kernel()", "run", "build")),
        (
            "looked up when it is needed",
            *stage("backward() in the kernel file", "run", "backward"),
        ),
        ("held against the definition", *stage("the Input of the wrapper", "build", "infer")),
        ("must be a dict", "guess = 'run'"),
        ("a stage is one of", *stage("the inference function", "define", "loading")),
    ),
    "sigmoid": (
        ("the gradient is", ITS_GRADIENT, "y * (1 - y)"),
        ("the gradient is", ITS_GRADIENT, "(1 - y) * dy"),
        ("forward gives", "np.exp(-x)", "np.exp(x)"),
        ("returned", SIGMOID, "[1 / (1 + np.exp(-v)) for v in x]"),
        ("float64", SIGMOID, "1 / (1 + np.exp(-x.astype(float)))"),
        ('has no input "x"', INPUT, '.Input("x", [x])'),
        ("write [x]", INPUT, '.Input("in", x)'),
        ('has no input ("x", 0)', 'OpArg("in", 0)', 'OpArg("x", 0)'),
        ("no op type", 'Op("user_sigmoid_forward")', 'Op("user_sigmoid")'),
        ("C++", '.Input("y")', '.Input("out")', 'Bind("y"', 'Bind("out"'),
        ("must be a dict with the keys", "sigmoid = {}"),
        (
            "must hold the text",
            "endings = 'op_def', 'py_api', 'py_kernel'\n"
            "sigmoid = {f'user_sigmoid_{ending}.py': 5 for ending in endings}",
        ),
    ),
    "leaky": (
        ("slope = 0.5 the gradient is", '            .Attr("slope", forward.attr("slope"))\n', ""),
        ("slope = 0.5", '.Attr("slope", slope)', ""),
        (
            "slope",
            f'{SLOPE}.Input("in")',
            f'{SLOPE}.Input("in")'.replace("0.1", "1"),
            f'{SLOPE}.Input("x")',
            f'{SLOPE}.Input("x")'.replace("0.1", "1"),
        ),
        ("with the default slope", "slope=0.1, name", "slope=0.2, name"),
        ("slope = -0.25", 'forward.input("in"', 'forward.output("out"'),
        (
            "slope = 2.0 forward gives",
            'np.where(x > 0, x, attrs["slope"] * x)',
            'np.maximum(x, attrs["slope"] * x)',
        ),
        ("attrs", "def backward(args, attrs)", "def backward(args)"),
        ("must be a dict with the keys", "leaky = 5"),
    ),
    "split": (
        ("use .RemoteBlobList()", "RemoteBlobList", "SoleOutputBlob"),
        ("output 1 is", PARTS, "np.minimum(x, 0), np.maximum(x, 0)"),
        ("the gradient is", THEIR_GRADIENT, "dpos, 0)\n"),
        ("the gradient is", THEIR_GRADIENT, "dpos, -dneg)\n"),
        ("the gradient is", THEIR_GRADIENT, "dpos, dpos)\n"),
        ("returned 1", PARTS, "np.maximum(x, 0)"),
        ('output "neg"', '("pos", "neg")', '("pos",)'),
        ("the gradient is", 'output_grad("neg", 0)', 'output_grad("pos", 0)'),
        ("must be a dict with the keys", "split = None"),
    ),
    "repair": (
        (
            "user_cube: running it fails",
            'np.array(x**3, dtype=float)", "x**3"',
            'dtype=float", "dtype=int"',
        ),
        (
            "forward gives",
            'np.array(x**3, dtype=float)", "x**3"',
            'x**3, dtype=float", "x**2, x.dtype"',
        ),
        (
            "user_double: appending its gradient fails",
            '"user_doubled", ',
            '"user_doubled_backward", ',
        ),
        ("user_negate: putting it into a job fails", "'\"in\", [x]'", "'\"x\", [x]'"),
        ("has no file", '"user_cube_py_kernel.py"', '"user_cube.py"'),
        ("stands", '"np.array(x**3, dtype=float)"', '"x"'),
        ("must be a tuple", '("user_negate_py_api.py", \'"in", x\', \'"in", [x]\')', '"[x]"'),
        ("must be a dict", "repairs = []"),
    ),
}
