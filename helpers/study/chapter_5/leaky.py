"""Chapter 5: an op with an attribute, judged at more than one value of it."""

from helpers.mini.oneflow.session import session
from helpers.study.chapter_5.op_texts import file_names
from helpers.study.chapter_5.op_trial import judge_op
from helpers.study.chapter_5.run_op import texts, train_job_of
from helpers.study.check import Exercise

NAME = "user_leaky"
FILES = file_names(NAME)
SLOPES = ({}, {"slope": -0.25}, {"slope": 2}, {"slope": 0.5})
DEFAULT = 0.1


def _leaky(x, slope=DEFAULT):
    import torch

    return (torch.nn.functional.leaky_relu(x, slope),)


def _judge(answer=None):
    return judge_op(NAME, texts(answer, FILES), _leaky, _default, options=SLOPES)


def _default(wrapper) -> str | None:
    """Return what is wrong with the attribute of the definition; the wrapper may hide it."""
    attr = session().registry.op(f"{NAME}_forward").attrs.get("slope")
    if attr is None or attr.default != DEFAULT:
        return f'"{NAME}_forward" must have an attribute slope whose default is {DEFAULT}'
    return None


LEAKY = Exercise(
    "leaky",
    _judge,
    "The attribute reaches both kernels: values and gradients as torch's, at each slope.",
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
