"""The code objects that Dynamo translated -> their names, and their lines in the source shown."""

from os.path import basename
from types import CodeType

from ...internals import dynamo_codes
from ..text.source import NOWHERE
from ..text.source_pages import SourcePages
from .dynamo_messages import split_resume_name

# The frame that torch puts around what Dynamo cannot start with; all such callables share its code.
_WRAPPER_PLACE = ("inner", "external_utils.py")


class ShownCode:
    """The sources of a run, one below the other; each code object in them has a name and lines."""

    def __init__(self):
        """Begin without a source; each code object asked for adds its own."""
        self.pages = SourcePages()
        # Dynamo's code of each resume function that was named -> `f, resumed after line 3`
        self.resume_names: dict[CodeType, str] = {}

    def find_line(self, code: CodeType, lineno: int) -> int:
        """Return the line of the text for a line of the code's file; 0 for none."""
        return self.pages.line(dynamo_codes.find_original_code(code), lineno)

    def read_line(self, line: int) -> str:
        """Return what stands in a line of the text, without indentation; "" for line 0."""
        if not line:
            return ""
        return self.pages.text.split("\n")[line - 1].strip()

    def find_span(self, code: CodeType, positions: tuple) -> tuple[int, int, int, int]:
        """Return first line, column, last line, column in the text for an instruction's positions.

        Return zeros where the instruction has no place in the text.
        """
        source, lines_above = self.pages.place(dynamo_codes.find_original_code(code))
        line, column, end_line, end_column = source.span(positions)
        if not line:
            return NOWHERE
        return lines_above + line, column, lines_above + end_line, end_column

    def name_function(self, code: CodeType) -> str:
        """Return a function's name; of a resume function, also the line after which it continues.

        The name of a resume function is kept in `resume_names`, too.
        """
        _, resume_lineno = split_resume_name(code.co_name)
        name = qualified_name(dynamo_codes.find_original_code(code))
        if not resume_lineno:
            return name

        place = f"line {resume_lineno} of its file"
        line = self.find_line(code, resume_lineno)
        if line:
            place = f"line {self.pages.number(line)}"
        self.resume_names[code] = f"{name}, resumed after {place}"
        return self.resume_names[code]


def qualified_name(code: CodeType) -> str:
    """Return the name of a function with the class that contains it."""
    return code.co_qualname.rpartition("<locals>.")[2]


def is_shared_wrapper(code: CodeType) -> bool:
    """Return whether it is the code that torch puts around all that Dynamo cannot start with."""
    return (code.co_name, basename(code.co_filename)) == _WRAPPER_PLACE
