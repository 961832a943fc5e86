"""Chapter 5: the three names in the gradient rule of the page, put right."""

from helpers.capture.text.value import brief
from helpers.mini import oneflow as flow
from helpers.study.chapter_5.relu import relu_files, train_through
from helpers.study.check import Exercise, Unfit, tried
from helpers.study.engine import in_order

PARTS = ("output", "output_grad", "argument")
UNFIT_FOR_A_NAME = set("\"'\\{}\n")  # what would end the text that the name is put into


def _judge(output=None, output_grad=None, argument=None, *more):
    given = [output, output_grad, argument, *more]
    if given[1:] == [None, None] and not isinstance(output, str | None):
        given = in_order(output, len(PARTS))  # all three in one tuple
    if len(given) != len(PARTS) or any(name is None for name in given):
        raise Unfit(f"the answer is three names: {', '.join(PARTS)}")
    names = {part: tried(name, part) for part, name in zip(PARTS, given, strict=True)}
    for part, name in names.items():
        if not isinstance(name, str) or not name or set(name) & UNFIT_FOR_A_NAME:
            return f'{part} must be a text that can be a name, such as "y", not {brief(name)}'
    try:
        train_through(relu_files(**names))
    except flow.OpError as error:
        return f"with these names, it is said: {error}"
    return None


GRADIENT_NAMES = Exercise(
    "gradient_names",
    _judge,
    "The rule speaks of the forward op by the forward op's own names, and the job trains.",
    (
        "The message says which op type was asked, what it was asked for, and what it has.",
        "output and output_grad ask the forward op for an output: its definition calls it …",
        'The forward op was defined with .Input("in").Output("out").',
    ),
)
