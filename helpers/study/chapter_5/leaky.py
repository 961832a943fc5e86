"""Chapter 5: an op with an attribute, judged at more than one value of it."""

import numpy as np

from helpers.study.chapter_5.compare import compared, judged
from helpers.study.chapter_5.op_files import file_names
from helpers.study.chapter_5.run_op import texts
from helpers.study.check import Exercise

NAME = "user_leaky"
FILES = file_names(NAME)
SLOPES = ({}, {"slope": 0.5}, {"slope": -0.25}, {"slope": 2.0})


def _leaky(x, slope=0.1):
    return (np.where(x > 0, x, x * x.dtype.type(slope)),)


def _judge(answer):
    return judged(NAME, texts(answer, FILES), _at_all_slopes)


def _at_all_slopes(wrapper) -> str | None:
    return next(filter(None, (_at(wrapper, options) for options in SLOPES)), None)


def _at(wrapper, options) -> str | None:
    if options:
        return compared(wrapper, "leaky", _leaky, **options)
    without = compared(wrapper, "leaky_tenth", _leaky)
    return f"with the default slope, {without}" if without else None


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
)
