"""Two results -> sentences for a verdict: how they differ, and where an error was raised."""

import ast
import traceback
from contextlib import suppress

from helpers.capture.text.source import read_file_lines
from helpers.capture.text.value import short_repr
from helpers.model.question_records import Beside

LONGEST_RESULT = 300  # characters of a result in full


class Mismatch(str):
    """A sentence about two answers that differ."""

    #: The parts of the sentence, for a view that shows the two answers beside each other.
    beside: Beside | None = None
    #: A model that shows where the answers differ, or None.
    picture: object = None


def describe_difference(before: str, yours: str, real: str, who: str, after: str = "") -> Mismatch:
    """Return the sentence `<before>yours <yours>, <who> <real><after>`.

    `yours` and `real` begin with a verb, as in "gives 3". `who` is what gave `real`.
    """
    sentence = Mismatch(f"{before}yours {yours}, {who} {real}{after}")
    sentence.beside = Beside(before, yours, real, who, after)
    return sentence


def prefix_reason(before: str, reason: str, after: str = "") -> str:
    """Return a reason with text around it. A Mismatch stays one, with its two answers."""
    beside = getattr(reason, "beside", None)
    if beside is None:
        return f"{before}{reason}{after}"
    return describe_difference(
        before + beside.before,
        beside.yours,
        beside.real,
        beside.who,
        beside.after + after,
    )


def describe_result(result) -> str:
    """Return plain data in full if it is short, else its `short_repr`."""
    with suppress(Exception):  # raised unless the text contains only literals
        text = repr(result)
        if len(text) <= LONGEST_RESULT and ast.literal_eval(text) == result:
            return text
    return short_repr(result)


def where_raised(error: BaseException) -> str:
    """Return the learner's line that raised, as the end of a sentence, or "".

    Of several lines in the traceback, it is the innermost one in a cell of a notebook.
    """
    file = ""
    number = 0
    for frame, line_number in traceback.walk_tb(error.__traceback__):
        name = frame.f_code.co_filename
        # The file names of Jupyter's cells, and of answers that tests run.
        if "ipykernel_" in name or name == "<answer>":
            file = name
            number = line_number
    if not number:
        return ""

    line = "".join(read_file_lines(file)[number - 1 : number]).strip()
    return f", in line {number} of its cell: {line}" if line else ""
