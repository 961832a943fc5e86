"""A code object -> its source and places in it; no source where the file was edited since."""

import ast
import inspect
import linecache
import os
import re
import sys
import textwrap
import time
from bisect import bisect_right
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from types import CodeType

from ...model.phrase import clip_text
from ...safety.arguments import printable

NOWHERE = (0, 0, 0, 0)
LONGEST_SNIPPET = 401
REWRITTEN = "@pytest_ar"  # the name that pytest puts into a function that asserts
MOST_DOCSTRING = 3  # lines below the first that are shown
# Up to 3.12 `inspect` looks above the first line for what the code belongs to; we do the same for
# code without a def of its own, such as a comprehension.
_OPENING = re.compile(r"^(\s*def\s)|(\s*async\s+def\s)|(.*(?<!\w)lambda(:|\s))|^(\s*@)")
_START = time.time_ns()  # about when this process began


@dataclass(frozen=True)
class Source:
    """The dedented source of one code object, and where its lines are in the file.

    Lines are counted from 1, in the file and in the text.
    """

    #: The source; "" where it cannot be found.
    text: str
    #: The line of the file that is line 1 of the text.
    first: int
    #: How many columns of indent each line lost.
    cut: int
    #: The name of the file, such as `path.py`; "" for a cell.
    file: str = ""
    #: Only in a source made by `folded`, whose text leaves out lines of docstrings: for each line
    #: of the text, its line in the file, in rising order. Empty in any other source.
    kept: tuple[int, ...] = ()

    @cached_property
    def lines(self) -> list[str]:
        """The text, line by line."""
        return self.text.split("\n")

    def line(self, lineno: int | None) -> int:
        """Return which line of `text` shows line `lineno` of the file, 0 if none does.

        `lineno` may be None, as it is for an instruction without a line.
        """
        if not lineno or not self.text:
            return 0
        if not self.kept:  # no line is left out
            line = lineno - self.first + 1
        elif lineno <= self.kept[-1]:
            # The last line of the text that is not below `lineno` in the file: the line itself, or
            # the first line of the folded docstring that it belongs to.
            line = bisect_right(self.kept, lineno)
        else:  # below the text
            line = 0
        return line if 1 <= line <= len(self.lines) else 0

    def place(self, lineno: int) -> str:
        """Return line `lineno` of the file as `path.py:1207`.

        A cell has no file name: there it is `line 7`, counted from the first line of the text.
        """
        return f"{self.file}:{lineno}" if self.file else f"line {lineno - self.first + 1}"

    @property
    def places(self) -> tuple[str, ...]:
        """The place of each line of the text, as `path.py:1207`; empty for a cell."""
        if not self.file or not self.text:
            return ()
        line_numbers = self.kept or range(self.first, self.first + len(self.lines))
        return tuple(map(self.place, line_numbers))

    @property
    def where(self) -> str:
        """Where the source begins, as ` (path.py:1207)`; "" for a cell."""
        return f" ({self.places[0]})" if self.places else ""

    def folded(self) -> "Source":
        """Return the source with each long docstring in one line.

        That line says how many more lines the docstring has.
        """
        if not self.text:
            return self

        lines = list(self.lines)
        line_numbers = list(range(self.first, self.first + len(lines)))
        # From the last docstring to the first, because a fold moves only what is below it.
        for start, end in sorted(_find_docstrings(self.text), reverse=True):
            if end - start <= MOST_DOCSTRING:
                continue
            head = lines[start - 1]
            if not head.strip(" rRuU\"'"):  # the first line has only the prefix and the quotes
                head += lines[start].strip()
            closing_quotes = lines[end - 1].strip()[-3:]  # a docstring of many lines has three
            lines[start - 1] = f"{head} … {end - start} more lines of docstring{closing_quotes}"
            del lines[start:end]
            del line_numbers[start:end]
        return replace(self, text="\n".join(lines), kept=tuple(line_numbers))

    def span(self, positions) -> tuple[int, int, int, int]:
        """Return (line, column, end line, end column) in `text` of one item of `co_positions`.

        The item is (line, end line, column, end column) in the file, with None for what is not
        known. NOWHERE, four zeros, is returned for a span that is not in the text.
        """
        lineno, end_lineno, column, end_column = positions
        line = self.line(lineno)
        end_line = self.line(end_lineno)
        if column is None or end_column is None or not line or not end_line:
            return NOWHERE
        return (
            line,
            self._count_characters(line, column),
            end_line,
            self._count_characters(end_line, end_column),
        )

    def snippet(self, span: tuple[int, int, int, int]) -> str:
        """Return the text of a span from `span`; "" for NOWHERE.

        Of a span over several lines, it is the first line and an ellipsis.
        """
        line, column, end_line, end_column = span
        if not line:
            return ""
        if line == end_line:
            text = self.lines[line - 1][column:end_column]
        else:
            text = f"{self.lines[line - 1][column:].rstrip()} …"
        return clip_text(text, LONGEST_SNIPPET)

    def _count_characters(self, line: int, column: int) -> int:
        """Return the column in characters of the dedented line for a column in bytes of the file.

        Python counts the columns of an instruction in UTF-8 bytes.
        """
        line_bytes = self.lines[line - 1].encode(errors="surrogatepass")
        return len(line_bytes[: max(column - self.cut, 0)].decode(errors="ignore"))


@lru_cache(maxsize=256)
def _find_docstrings(text: str) -> list[tuple[int, int]]:
    """Return the first and the last line of each docstring; none if the text does not parse."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)
    docstrings = []
    with suppress(Exception):  # an expression of a cell, or no Python at all
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, kinds) and ast.get_docstring(node, clean=False) is not None:
                statement = node.body[0]
                docstrings.append((statement.lineno, statement.end_lineno))
    return docstrings


def find_source(code: CodeType) -> Source:
    """Return the source of a code object; its text is empty where it cannot be found.

    It is empty, too, where the file was changed after the import; a warning on stderr says so.
    """
    filename = code.co_filename
    file, _, _line = format_place(code).rpartition(":")  # "" for a cell
    reason = describe_outdated_source(code)
    if reason:
        _warn_once(f"No lines of source are shown: {reason}.\n", os.stat(filename).st_mtime_ns)
        return Source("", code.co_firstlineno, 0, file)

    try:
        index, lines = _find_lines(code)
    except Exception:  # no such line, or no Python there: the tokenizer has errors of many kinds
        return Source("", code.co_firstlineno, 0)
    text = "".join(lines).rstrip()
    dedented = textwrap.dedent(text)
    # The first line tells how much indent all lines have lost.
    first_line, *_ = text.split("\n")
    first_dedented_line, *_ = dedented.split("\n")
    cut = len(first_line) - len(first_dedented_line)
    return Source(dedented, max(index + 1, 1), cut, file)


def _find_lines(code: CodeType) -> tuple[int, list[str]]:
    """Return the 0-based index of the first line in the code's file, and the lines of the source.

    An error of any kind is raised where there are none.
    """
    lines = read_file_lines(code.co_filename)
    if code.co_name == "<module>":
        return 0, lines
    index = code.co_firstlineno - 1
    if not 0 <= index < len(lines):
        raise LookupError(index)
    if sys.version_info < (3, 13) and code.co_name[:1] == "<":
        while index > 0 and not _OPENING.match(lines[index]):
            index -= 1
    return index, inspect.getblock(lines[index:])


def format_place(code: CodeType, lineno: int = 0) -> str:
    """Return a line of the code's file as `path.py:1207`; "" for a cell.

    Without `lineno`, it is the first line of the code.
    """
    filename = code.co_filename
    is_cell = filename.startswith("<") or "ipykernel" in filename
    if is_cell:
        return ""
    return f"{printable(os.path.basename(filename))}:{lineno or code.co_firstlineno}"


def read_file_lines(filename: str) -> list[str]:
    """Return the lines of a source file as they are now; none where there is no such file."""
    linecache.checkcache(filename)  # forgets what has changed on disk
    return linecache.getlines(filename)


def describe_outdated_source(code: CodeType) -> str:
    """Return why the code's file is not its source any more, as half a sentence; "" if it is.

    Only a file that was written after this process began is compiled again and compared.
    """
    filename = code.co_filename
    is_older_than_process = not os.path.isfile(filename) or os.stat(filename).st_mtime_ns <= _START
    if is_older_than_process:
        return ""
    codes_now = _compile_all_codes(filename)
    if code in codes_now:
        return ""
    # pytest rewrites assert statements when it imports a test, so that the code is never equal to
    # that of the file. The same name at the same line has to be enough.
    if REWRITTEN in code.co_names:
        for code_now in codes_now:
            has_place = code_now.co_firstlineno == code.co_firstlineno
            if has_place and code_now.co_name == code.co_name:
                return ""
    file = printable(os.path.basename(filename))
    name = printable(code.co_name)
    return f"{file} no longer contains the source of {name}; import or reload it again"


def _compile_all_codes(filename: str) -> list[CodeType]:
    """Return all code objects of a file as it is now; none if it is no Python any more."""
    try:
        text = "".join(read_file_lines(filename))
        codes = [compile(text, filename, "exec", dont_inherit=True)]
    except (SyntaxError, ValueError):
        return []
    for code in codes:  # the list grows while it is walked: the inner codes are walked, too
        codes += [constant for constant in code.co_consts if type(constant) is CodeType]
    return codes


@cache
def _warn_once(sentence: str, modified_ns: int) -> None:
    """Write a sentence to stderr; the cache keeps it from being written twice.

    `modified_ns` is when the file was written. It is only a part of the cache's key: after another
    edit the warning is written again.
    """
    sys.stderr.write(sentence)
