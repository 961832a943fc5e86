"""Chapter 5: an op with an attribute, judged at more than one value of it."""

import numpy as np

from helpers.capture.text.error import said
from helpers.mini.oneflow.dtypes import REQUIRED
from helpers.mini.oneflow.session import session
from helpers.study.chapter_5.compare import Truth, called_twice, compared, judged
from helpers.study.chapter_5.op_files import file_names
from helpers.study.chapter_5.run_op import texts, train_job_of
from helpers.study.check import Exercise
from helpers.study.two_answers import within

NAME = "user_leaky"
FILES = file_names(NAME)
SLOPES = (0.5, -0.25, 2, 0.0)
DEFAULT = 0.1


def _leaky(x, slope=DEFAULT):
    return (np.where(x > 0, x, x * x.dtype.type(slope)),)


_TRUTH = Truth("leaky", _leaky, calls=({"slope": 0.5}, {}))


def _judge(answer=None):
    return judged(NAME, texts(answer, FILES), _at_all_slopes)


def _at_all_slopes(wrapper) -> str | None:
    if because := compared(wrapper, _TRUTH):
        return within("with the default slope, ", because)
    for slope in SLOPES:
        if because := compared(wrapper, _TRUTH, few=True, slope=slope):
            return because
    return called_twice(wrapper, NAME, _TRUTH) or _in_second_place(wrapper) or _default()


def _in_second_place(wrapper) -> str | None:
    """Return what is wrong where the slope is given without its name."""
    try:
        given = compared(lambda x, slope: wrapper(x, slope), _TRUTH, few=True, slope=0.5)
    except TypeError as error:
        given = f"it raised {said(error)}"
    return given and f"with {NAME}_forward(x, 0.5), {given}"


def _default() -> str | None:
    """Return what is wrong with the attribute of the definition; the wrapper may hide it."""
    attrs = dict(session().registry.op(f"{NAME}_forward").attrs)
    attrs.pop("device_sub_tag", None)
    if len(attrs) != 1:
        return f'the definition of "{NAME}_forward" must have one attribute of its own, slope'
    [(name, attr)] = attrs.items()
    if attr.default is REQUIRED or attr.default != DEFAULT:
        told = "none" if attr.default is REQUIRED else attr.default
        return (
            f'an op of type "{NAME}_forward" that is told no {name} must have {DEFAULT}: the '
            f"default in the definition is {told}"
        )
    return None


LEAKY = Exercise(
    "leaky",
    _judge,
    "The attribute reaches both kernels: values as numpy's, gradients as torch's, at each slope.",
    (
        'A definition names an attribute with its default: .Attr("slope", 0.1). A number with a '
        "point is a double.",
        'The wrapper hands it on with .Attr("slope", slope), and a kernel that is written '
        'forward(args, attrs) reads attrs["slope"].',
        "The backward op is another op type and has attributes of its own: define slope there, "
        'too, and let the rule fill it in: .Attr("slope", forward.attr("slope")).',
        "With a slope below 0, the sign of y no longer tells the sign of x: bind the input, "
        'forward.input("in", 0), instead of the output.',
    ),
    picture=lambda answer: train_job_of(NAME, texts(answer, FILES)),
)
