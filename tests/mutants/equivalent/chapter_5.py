"""Chapter 5: mutants that do what the solution does, and why."""

LATE = "the rule reads the name when it builds the backward op, and it is there by then"
FILES = "the files of an op are a dict, and nobody asks for their order"
REGISTERED = "op types and functions are there before the first of them is used"
EITHER = "shape and dtype are set before anybody reads them, in either order"
FIRST = "an output starts with the dtype of the first input, which is the one that is set"
ZERO = "0 is the default of the index"
OWN = "the name in the job is free; no other op has it"
FLOAT = "among floats, a whole number stands for the float"


def _instead(old: str, new: str) -> str:
    return f"- {old} | + {new}"


def _moved(line: str) -> dict[str, str]:
    """Return both ways to say that a line has changed its place."""
    return {"down": f"- {line} | + {line}", "up": f"+ {line} | - {line}"}


def _files_exchanged(name: str, wrapper: str) -> dict[str, str]:
    text = [f"{name}['user_{name}_py_api.py'] = \"import oneflow as flow", "", *wrapper.split("\n")]
    text[-1] += '"'
    added, dropped = ([f"{sign} {line.strip()}" for line in text] for sign in "+-")
    return {" | ".join(added + dropped): FILES, " | ".join(dropped + added): FILES}


def _inferred(output: str, source: str) -> dict[str, str]:
    """Return what can be done to two lines of an inference. `output` is an expression."""
    shape, dtype = (
        f"ctx.SetOutput{what}({output}, 0, ctx.Input{what}('{source}', 0))"
        for what in ("Shape", "DType")
    )
    without = {line: line.replace(f"('{source}', 0)", f"('{source}')") for line in (shape, dtype)}
    return {
        _moved(dtype)["up"]: EITHER,
        _instead(dtype, "pass"): FIRST,
        **{_instead(old, new): ZERO for old, new in without.items()},
    }


def _defined(name: str, before: str, inputs: list[str], outputs: list[str], like: str) -> dict:
    """Return what can be done to the definitions: another order. `before`: the attributes."""
    forward, backward = (
        f"flow.REGISTER_USER_OP('user_{name}_{way}').Attr('device_sub_tag', 'py'){before}{takes}"
        f"{gives}.SetTensorDescInferFn({inference})"
        for way, takes, gives, inference in (
            ("forward", ".Input('in')", _chain("Output", outputs), "like_the_input"),
            ("backward", _chain("Input", inputs), ".Output('dx')", like),
        )
    )
    rule = "name = forward.op_name() + '_grad'"
    return {
        _moved(forward)["up"]: REGISTERED,
        _moved(backward)["up"]: REGISTERED,
        _moved(backward)["down"]: REGISTERED,
        _moved(rule)["down"]: LATE,
    }


def _chain(method: str, names: list[str]) -> str:
    return "".join(f".{method}('{name}')" for name in names)


def _wrapper(name: str, parameters: str, chain: str, ending: str) -> tuple[str, str]:
    """Return the wrapper as a whole, and its first line."""
    head = f"def user_{name}_forward(x, {parameters}name='my{name}'):"
    return "\n".join([head, *chain.split("\n"), f"return op.InferAndTryRun().{ending}()"]), head


def _op(name, before, inputs, outputs, like, wrapper) -> dict[str, str]:
    whole, head = wrapper
    source = like.removeprefix("like_")
    output = "output" if len(outputs) > 1 else f"'{outputs[0]}'"
    return {
        **_files_exchanged(name, whole),
        **_defined(name, before, inputs, outputs, like),
        **_inferred(output, "in"),
        **_inferred("'dx'", source),
        _instead(head, head.replace(f"'my{name}'", f"'my{name}_x'")): OWN,
    }


_BUILT = "op = builder.Input('in', [x]).Output('out').Build()"
_GRAD = "name = forward.op_name() + '_grad'"
_LEAKY = "flow.REGISTER_USER_OP('user_leaky_backward').Attr('device_sub_tag', 'py').Attr('slope', "
_LEAKY_END = ").Input('x').Input('dy').Output('dx').SetTensorDescInferFn(like_dy)"
_SET = "the rule always sets it, so its default is never read"
_PARTS = "return (np.maximum({}), np.minimum({}))"
_WHERE = "return np.where(x {}, "

_CHOOSE = (
    "def choose(kernels, context):",
    "matching = [kernel for kernel in kernels if kernel.matches(context)]",
    "if not matching:",
    "raise flow.OpError(f'Cannot find the kernel matching Current OperatorConf. {context}')",
    "if len(matching) > 1:",
    "raise flow.OpError(f'There are more than one kernels matching Current OperatorConf. "
    "{context}')",
    "return matching[0]",
)

SAME: dict[str, dict[str, str]] = {
    "gradient_names": {
        _instead(
            "output, output_grad, argument = ('out', 'out', 'in')",
            "output_grad, output, argument = ('out', 'out', 'in')",
        ): "both names are the same"
    },
    "sigmoid": {
        **_op(
            *("sigmoid", "", ["y", "dy"], ["out"], "like_dy"),
            _wrapper(
                *("sigmoid", ""),
                "builder = flow.user_op_builder(name).Op('user_sigmoid_forward')\n" + _BUILT,
                "SoleOutputBlob",
            ),
        ),
        _instead("return 1 / (1 + np.exp(-x))", "return 1.0 / (1 + np.exp(-x))"): FLOAT,
        _instead("return 1 / (1 + np.exp(-x))", "return 1 / (1.0 + np.exp(-x))"): FLOAT,
        _instead("return y * (1 - y) * dy'", "return y * (1.0 - y) * dy'"): FLOAT,
    },
    "leaky": {
        **_op(
            *("leaky", ".Attr('slope', 0.1)", ["x", "dy"], ["out"], "like_dy"),
            _wrapper(
                *("leaky", "slope=0.1, "),
                "builder = flow.user_op_builder(name).Op('user_leaky_forward')"
                ".Attr('slope', slope)\n" + _BUILT,
                "SoleOutputBlob",
            ),
        ),
        _instead(_GRAD, "name = forward.op_name() + '_grad_x'"): OWN,
        _instead(f"{_LEAKY}0.1{_LEAKY_END}", f"{_LEAKY}0.6{_LEAKY_END}"): _SET,
        _instead(f"{_LEAKY}0.1{_LEAKY_END}", f"{_LEAKY}-0.1{_LEAKY_END}"): _SET,
        _instead(
            _WHERE.format("> 0") + "x, attrs['slope'] * x)",
            _WHERE.format(">= 0") + "x, attrs['slope'] * x)",
        ): "at 0, x and slope * x are both 0",
        _instead(
            _WHERE.format("> 0") + "x, attrs['slope'] * x)",
            _WHERE.format("> 0.0") + "x, attrs['slope'] * x)",
        ): FLOAT,
        _instead(
            _WHERE.format("> 0") + "dy, attrs['slope'] * dy)\"",
            _WHERE.format("> 0.0") + "dy, attrs['slope'] * dy)\"",
        ): FLOAT,
    },
    "split": {
        **_op(
            *("split", "", ["x", "dpos", "dneg"], ["pos", "neg"], "like_x"),
            _wrapper(
                *("split", ""),
                "builder = flow.user_op_builder(name).Op('user_split_forward').Input('in', [x])\n"
                "op = builder.Output('pos').Output('neg').Build()",
                "RemoteBlobList",
            ),
        ),
        _instead("for output in ('pos', 'neg'):", "for output in ('neg', 'pos'):"): EITHER,
        _instead(_GRAD, "name = forward.op_name() + '_grad_x'"): OWN,
        **{
            _instead(_PARTS.format("x, 0", "x, 0"), _PARTS.format(*changed)): why
            for changed, why in (
                (("0, x", "x, 0"), "the larger of two is the same in either order"),
                (("x, 0", "0, x"), "the smaller of two is the same in either order"),
                (("x, 0.0", "x, 0"), FLOAT),
                (("x, 0", "x, 0.0"), FLOAT),
            )
        },
        _instead(_WHERE.format("> 0") + "dpos, dneg)'", _WHERE.format("> 0.0") + "dpos, dneg)'"): (
            FLOAT
        ),
    },
    "two_kernels": {
        " | ".join([f"{sign} {line}" for sign in "+-" for line in ["", *_CHOOSE][sign == "+" :]]): (
            "both parts are there when they are judged"
        ),
        " | ".join(f"{sign} {line}" for sign in "+-" for line in _CHOOSE[-3:-1]): (
            "no list has none and several that match"
        ),
        _moved("dtype = flow.HobDataType('in', 0)")["up"]: REGISTERED,
        '- register(halve, is_float) | - register(halve_whole, ~is_float)" | '
        '+ register(halve_whole, ~is_float) | + register(halve, is_float)"': (
            "not more than one of the two matches, in either order"
        ),
        _instead("return x / 2", "return x / 2.0"): FLOAT,
        _instead("if len(matching) > 1:", "if len(matching) > 1.0:"): "1.0 is 1",
        _instead("return matching[0]", "return matching[-1]"): "there is just one by then",
    },
}
