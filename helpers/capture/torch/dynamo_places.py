"""The code objects that Dynamo translated -> names and line numbers for an exhibit.

The exhibit shows one text: the sources of all functions translated, one below the other.
"""

from os.path import basename
from types import CodeType

from ...internals import dynamo_codes
from ..text.source import NOWHERE
from ..text.source_pages import SourcePages
from .dynamo_messages import split_resume_name

# The name and file of torch's own wrapper. Torch puts it around a callable that Dynamo cannot start
# with, such as an nn.Sequential. All these wrappers share one code object.
_WRAPPER_PLACE = ("inner", "external_utils.py")


class ShownCode:
    """The sources that an exhibit shows as one text, with names and lines for code objects.

    Dynamo makes a code object for each resume function, the rest of a function after a graph break.
    Such a code object has no source of its own. It gets lines in the source of the user's function.
    """

    def __init__(self):
        """Begin with an empty text; the first question about a code object adds its source."""
        self.pages = SourcePages()
        # code object of a resume function -> its name, such as `f, resumed after line 3`
        self.resume_names: dict[CodeType, str] = {}

    def find_line(self, code: CodeType, lineno: int) -> int:
        """Return the line of the text that shows line `lineno` of the code's file; 0 for none."""
        return self.pages.line(dynamo_codes.find_original_code(code), lineno)

    def read_line(self, line: int) -> str:
        """Return the contents of a line of the text, without indentation; "" for line 0."""
        if not line:
            return ""
        return self.pages.text.split("\n")[line - 1].strip()

    def find_span(self, code: CodeType, positions: tuple) -> tuple[int, int, int, int]:
        """Return the part of the text that an instruction stands for.

        `positions` are the line, end line, column and end column in the file, as in
        `dis.Positions`. The result is the line, column, end line and end column in the text. It is
        four zeros where the text does not show the instruction.
        """
        # `lines_above` is the number of lines of the text above this source.
        source, lines_above = self.pages.place(dynamo_codes.find_original_code(code))
        line, column, end_line, end_column = source.span(positions)
        if not line:
            return NOWHERE
        return lines_above + line, column, lines_above + end_line, end_column

    def name_function(self, code: CodeType) -> str:
        """Return a name such as `Net.forward`, or `f, resumed after line 3` for a resume function.

        The name of a resume function is also stored in `resume_names`.
        """
        _, resume_lineno = split_resume_name(code.co_name)
        name = qualified_name(dynamo_codes.find_original_code(code))
        if not resume_lineno:  # it is no resume function
            return name

        place = f"line {resume_lineno} of its file"
        line = self.find_line(code, resume_lineno)
        if line:  # the text shows the line, with a number beside it
            place = f"line {self.pages.number(line)}"
        self.resume_names[code] = f"{name}, resumed after {place}"
        return self.resume_names[code]


def qualified_name(code: CodeType) -> str:
    """Return the name of a function with its classes, and without an enclosing function.

    `make.<locals>.Net.forward` becomes `Net.forward`.
    """
    return code.co_qualname.rpartition("<locals>.")[2]


def is_shared_wrapper(code: CodeType) -> bool:
    """Return whether a code object is the one that all wrappers of torch's own share."""
    return (code.co_name, basename(code.co_filename)) == _WRAPPER_PLACE
