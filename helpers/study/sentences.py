"""Write the sentences of a failed check: how two results differ, and which line raised an error."""

import ast
import traceback
from contextlib import suppress

from helpers.capture.text.source import read_file_lines
from helpers.capture.text.value import short_repr
from helpers.model.question_records import Beside

LONGEST_RESULT = 300  # characters of a result in full


class Mismatch(str):
    """A sentence on two results that differ, with the parts of which it consists."""

    #: The parts of the sentence, for a view that shows the two results beside each other.
    beside: Beside | None = None
    #: A model of a picture that shows where the results differ, or None.
    picture: object = None


def describe_difference(before: str, yours: str, real: str, who: str, after: str = "") -> Mismatch:
    """Return the sentence `<before>yours <yours>, <who> <real><after>`.

    An example is "for 3: yours gives 2, CPython gives 4; add them". `yours` and `real` describe the
    two results, each with its verb: "gives 2". `who` is the name of the reference.
    """
    sentence = Mismatch(f"{before}yours {yours}, {who} {real}{after}")
    sentence.beside = Beside(before, yours, real, who, after)
    return sentence


def prefix_reason(before: str, reason: str, after: str = "") -> str:
    """Return a reason with text before and after it.

    If the reason is a Mismatch, the result is one, too, with the same two results. It has no
    picture.
    """
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
    """Return the text of a result: the whole repr if it is short and consists of literals.

    Otherwise return its `short_repr`, which is cut and never raises.
    """
    with suppress(Exception):  # `literal_eval` raises for a text that is no literal
        text = repr(result)
        if len(text) <= LONGEST_RESULT and ast.literal_eval(text) == result:
            return text
    return short_repr(result)


def describe_raising_line(error: BaseException) -> str:
    """Return the learner's line that raised an error: ", in line 2 of its cell: x = 1 / 0".

    Of several lines in the traceback, it is the innermost one in a cell of a notebook. Return "" if
    there is none.
    """
    file = ""
    number = 0
    for frame, line_number in traceback.walk_tb(error.__traceback__):
        name = frame.f_code.co_filename
        # The file of a cell in Jupyter has "ipykernel_" in its name. Tests call it "<answer>".
        if "ipykernel_" in name or name == "<answer>":
            file = name
            number = line_number
    if not number:
        return ""

    line = "".join(read_file_lines(file)[number - 1 : number]).strip()
    return f", in line {number} of its cell: {line}" if line else ""
