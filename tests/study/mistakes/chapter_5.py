"""Chapter 5: ops with a wrong name, a wrong number or a missing piece."""

NAMES = '"out", "out", "in"'
SIGMOID, ITS_GRADIENT = "1 / (1 + np.exp(-x))", "y * (1 - y) * dy"
INPUT = '.Input("in", [x])'
SMOOTH, FAKE = "np.logaddexp.reduce(scale * x.numpy(), axis=-1)", "x.new_empty(x.shape[:-1])"
REGISTERED = "smooth_max.register_autograd(gradient, setup_context=setup)\n"
KERNEL = f"return torch.as_tensor({SMOOTH} / scale)"

ALL_MATCHING = "[kernel for kernel in kernels if kernel.matches(context)]"
MESSAGE = 'f"Cannot find the kernel matching Current OperatorConf. {context}"'
ON_CPU = ' & (flow.HobDeviceTag() == "cpu")'


def stage(piece, right, wrong):
    """Return the pieces that predict another stage for what is left out of the op."""
    return f'{piece}": "{right}"', f'{piece}": "{wrong}"'


MISTAKES = {
    "gradient_names": (
        ('has no input ("x", 0)', NAMES, '"y", "y", "x"'),
        ('has no output ("y", 0)', NAMES, '"out", "y", "in"'),
        ('has no input ("x", 0)', NAMES, '"out", "out", "x"'),
        ('has no output ("dy", 0)', NAMES, '"out", "dy", "in"'),
        ('such as "y", for output', NAMES, '"out", 0, "in"'),
        ("three names", NAMES, '"out", "out", None'),
    ),
    "forgotten": (
        ("which loading it shows", *stage("the inference function", "define", "infer")),
        (
            "is not known before it is called",
            *stage("the shape in the inference", "infer", "build"),
        ),
        ("ops of the gradient must be in the list", *stage("the gradient rule", "backward", "run")),
        ("a definition says nothing about devices", *stage("the placement", "build", "infer")),
        (
            "nothing looks into the kernel file",
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
    "smooth_max": (
        ("no fake impl registered", "@smooth_max.register_fake\n", ""),
        ("the shape: yours gives (2, 3), torch gives (2,)", FAKE, "torch.empty_like(x)"),
        ("float64, shape (2, 3): the dtype: yours", FAKE, "torch.empty(x.shape[:-1])"),
        (
            "yours gives 3, torch gives 1; somewhere a size became",
            FAKE,
            "x.new_empty([int(n) for n in x.shape[:-1]])",
        ),
        ("fake kernel, with torch.float32", FAKE, "torch.as_tensor(x.numpy().max(-1))"),
        (
            "no autograd formula",
            "smooth_max.register_autograd(gradient, setup_context=setup)",
            "",
        ),
        ("scale = 2.0: dx: yours gives [8.8e-05, ", "* weights,", "* weights * ctx.scale,"),
        ("the gradient with shape (2, 3)", "dy[..., None] * weights,", "weights,"),
        ("one for each input of the op", "weights, None", "weights"),
        (
            "opcheck, test_aot_dispatch_dynamic",
            "dy[..., None] * weights,",
            "torch.from_numpy((dy[..., None] * weights).numpy()),",
        ),
        (
            "it would notice it",
            *("ctx.save_for_backward(x, output)", "ctx.x, ctx.y = x, output"),
            *("x, y = ctx.saved_tensors", "x, y = ctx.x, ctx.y"),
        ),
        (
            "x after the call: yours gives",
            *("scale * x.numpy()", "np.multiply(x.numpy(), scale, out=x.numpy())"),
        ),
        ("x = [1000, 999, -1000]", SMOOTH, "np.log(np.exp(scale * x.numpy()).sum(axis=-1))"),
        ("got numpy.float32", "torch.as_tensor", "torch.from_numpy"),
        ("the dtype: yours gives 'torch.float64'", "* x.numpy()", "* x.numpy().astype(float)"),
        ("or shares its memory", KERNEL, f"return x[..., 0] if x.shape[-1] == 1 else {KERNEL[7:]}"),
        (
            "once x is overwritten",
            KERNEL,
            f"y = torch.from_numpy(x.numpy()[..., 0])\n    {KERNEL} if x.shape[-1] > 1 else y",
        ),
        ("scale = 2.0: yours gives 6.036324", "axis=-1) / scale", "axis=-1)"),
        ("it must return a tensor", KERNEL, f"return None and {KERNEL[7:]}"),
        ("must be the op itself", "import torch\nsmooth_max = torch.nn.functional.relu"),
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
        ("it must occur exactly once", '"np.array(x**3, dtype=float)"', '"x"'),
        ("user_cube must be three strings", '"x**3")', "3)"),
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
            'on "cpu", the number of kernels that match: yours gives 0',
            "register(halve, is_float)\n",
            "",
        ),
        (
            'on "cpu", the number of kernels that match: yours gives 2',
            "~is_float",
            "is_float",
        ),
        ('on "gpu", the number of kernels that match: yours gives 1', ON_CPU, ""),
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
        ("the number of kernels that match: yours gives 0", '"user_half_forward"', '"user_half"'),
    ),
}
