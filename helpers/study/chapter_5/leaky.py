"""Chapter 5: an op with an attribute, judged at more than one value of it."""

import numpy as np

from helpers.mini import oneflow as flow
from helpers.study.chapter_5.comparing import compared
from helpers.study.chapter_5.texts import file_names, op_files
from helpers.study.chapter_5.trial import loading, texts, wrapper_of
from helpers.study.check import Exercise, Mistake, edited

NAME = "user_leaky"
FILES = file_names(NAME)
SLOPES = ({}, {"slope": 0.5}, {"slope": -0.25}, {"slope": 2.0})


def _leaky(x, slope=0.1):
    return (np.where(x > 0, x, x * x.dtype.type(slope)),)


def _judge(answer):
    files = texts(answer, FILES)
    try:
        with loading(NAME, files) as api:
            return next(filter(None, (_at(api, options) for options in SLOPES)), None)
    except flow.OpError as error:
        return f"loading it fails: {error}"


def _at(api, options) -> str | None:
    wrapper = wrapper_of(api, NAME)
    if options:
        return compared(wrapper, "leaky", _leaky, **options)
    without = compared(wrapper, "leaky_tenth", _leaky)
    return f"with the default slope, {without}" if without else None


def _solution() -> dict[str, str]:
    files = op_files(NAME, "np.where(x > 0, x, attrs['slope'] * x)", "")
    definition, api, kernel = files.values()
    tag = '.Attr("device_sub_tag", "py")\n'
    definition = definition.replace(tag, tag + '    .Attr("slope", 0.1)\n')
    definition = definition.replace('"y"', '"x"').replace(
        'forward.output("out"', 'forward.input("in"'
    )
    bound = '.InputBind("dy", forward.output_grad("out", 0))\n'
    definition = definition.replace(
        bound, f'{bound}            .Attr("slope", forward.attr("slope"))\n'
    )
    api = api.replace("(x, name", "(x, slope=0.1, name")
    api = api.replace('.Output("out")', '.Output("out").Attr("slope", slope)')
    kernel = kernel.replace("(args)", "(args, attrs)").replace("(y, dy)", "(x, dy)")
    kernel = kernel.replace("return \n", "return np.where(x > 0, dy, attrs['slope'] * dy)\n")
    return dict(zip(FILES, (definition, api, kernel), strict=True))


_ANSWER = f"leaky = {_solution()!r}"


def _sample(old: str, new: str) -> str:
    return edited(_ANSWER, old, new)


LEAKY = Exercise(
    "leaky",
    _judge,
    "The attribute reaches both kernels, and both agree with torch for every slope tried.",
    (
        'A definition names an attribute with its default: .Attr("slope", 0.1). A number with a '
        "point is a double.",
        'The wrapper hands it on with .Attr("slope", slope), and a kernel that is written '
        "forward(args, attrs) gets a dict.",
        "The backward op is another op type and has attributes of its own: define slope there, "
        'too, and let the rule fill it in: .Attr("slope", forward.attr("slope")).',
        "With a slope below 0, the sign of y no longer tells the sign of x: bind the input, "
        'forward.input("in", 0), instead of the output.',
    ),
    (
        Mistake(
            _sample('            .Attr("slope", forward.attr("slope"))\\n', ""),
            "slope = 0.5 the gradient is",
        ),
        Mistake(_sample('.Output("out").Attr("slope", slope)', '.Output("out")'), "slope = 0.5"),
        Mistake(_sample('"slope", 0.1)', '"slope", 1)'), "slope"),
        Mistake(_sample("slope=0.1, name", "slope=0.2, name"), "with the default slope"),
        Mistake(_sample('forward.input("in"', 'forward.output("out"'), "slope = -0.25"),
        Mistake(
            _sample(
                "np.where(x > 0, x, attrs['slope'] * x)",
                "np.maximum(x, attrs['slope'] * x)",
            ),
            "slope = 2.0 forward gives",
        ),
        Mistake(_sample("def backward(args, attrs)", "def backward(args)"), "attrs"),
        Mistake("leaky = 5", "must be a dict with the keys"),
    ),
)
