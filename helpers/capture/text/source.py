"""A code object -> its source, and in which line of it each instruction is.

The source is dedented, so that a method begins at the left margin. If the file was edited after it
was imported, its lines are not those of the code object any more. Then no source is returned.
"""

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
MOST_DOCSTRING = 3  # lines below the first; a longer docstring is folded
# A line that begins a function, a lambda or a decorator. Up to Python 3.12, `inspect` looks for
# such a line above code without a def of its own, such as a comprehension. `_find_lines` does the
# same.
_OPENING = re.compile(r"^(\s*def\s)|(\s*async\s+def\s)|(.*(?<!\w)lambda(:|\s))|^(\s*@)")
_START = time.time_ns()  # about when this process began


@dataclass(frozen=True)
class Source:
    """The dedented source of one code object, and where its lines are in the file.

    Lines are counted from 1, both in the file and in the text.
    """

    #: The source, or "" if it cannot be found.
    text: str
    #: The line of the file that is line 1 of the text.
    first_line: int
    #: How many columns of indent were removed from each line.
    indent: int
    #: The name of the file, such as "path.py", or "" for a cell.
    file: str = ""
    #: The line in the file of each line of the text, in rising order. It is needed only if lines
    #: are left out, as `folded` does, and is empty in any other source.
    file_lines: tuple[int, ...] = ()

    @cached_property
    def lines(self) -> list[str]:
        """The text, line by line."""
        return self.text.split("\n")

    def line(self, lineno: int | None) -> int:
        """Return which line of `text` shows line `lineno` of the file, or 0 if none does.

        `lineno` is None for an instruction without a line.
        """
        if not lineno or not self.text:
            return 0
        if not self.file_lines:  # no line is left out
            line = lineno - self.first_line + 1
        elif lineno <= self.file_lines[-1]:
            # `bisect_right` finds the last line of the text that is at `lineno` or above it in the
            # file. It is the line itself, or the line that stands for a folded docstring.
            line = bisect_right(self.file_lines, lineno)
        else:  # below the last line of the text
            line = 0
        return line if 1 <= line <= len(self.lines) else 0

    def place(self, lineno: int) -> str:
        """Return the place of line `lineno` of the file, as "path.py:1207".

        A cell has no file name. Its place is "line 7", counted from the first line of the text.
        """
        return f"{self.file}:{lineno}" if self.file else f"line {lineno - self.first_line + 1}"

    @property
    def places(self) -> tuple[str, ...]:
        """The place of each line of the text, as "path.py:1207", or () for a cell."""
        if not self.file or not self.text:
            return ()
        line_numbers = self.file_lines or range(self.first_line, self.first_line + len(self.lines))
        return tuple(map(self.place, line_numbers))

    @property
    def where(self) -> str:
        """Where the source begins, as " (path.py:1207)", or "" for a cell; to end a title."""
        return f" ({self.places[0]})" if self.places else ""

    def folded(self) -> "Source":
        """Return the source with each long docstring shortened to one line.

        The line says how many more lines the docstring has. The new Source has `file_lines`,
        because the lines of the text do not follow each other in the file any more.
        """
        if not self.text:
            return self

        # `start` and `end` below are numbers of lines of the text, from 1, and both are included.
        lines = list(self.lines)
        line_numbers = list(range(self.first_line, self.first_line + len(lines)))
        # The last docstring is folded first, because a fold changes the numbers of lines below it.
        for start, end in sorted(_find_docstrings(self.text), reverse=True):
            if end - start <= MOST_DOCSTRING:  # short enough to be shown whole
                continue
            head = lines[start - 1]
            # A first line may have only the quotes. Then the next line is shown behind them.
            if not head.strip(" rRuU\"'"):
                head += lines[start].strip()
            closing_quotes = lines[end - 1].strip()[-3:]  # a docstring of many lines has three
            lines[start - 1] = f"{head} … {end - start} more lines of docstring{closing_quotes}"
            del lines[start:end]
            del line_numbers[start:end]
        return replace(self, text="\n".join(lines), file_lines=tuple(line_numbers))

    def span(self, positions) -> tuple[int, int, int, int]:
        """Return (line, column, end line, end column) in `text` for one item of `co_positions`.

        The item belongs to an instruction. It is (line, end line, column, end column) in the file,
        where None stands for an unknown number. Return NOWHERE, four zeros, if the instruction has
        no position, or if its lines are not in the text.
        """
        lineno, end_lineno, column, end_column = positions
        # `self.line` maps a line number of the file to one of the text, or to 0.
        line = self.line(lineno)
        end_line = self.line(end_lineno)
        if column is None or end_column is None or not line or not end_line:
            return NOWHERE
        # CPython counts columns in bytes of UTF-8, and the page counts characters.
        return (
            line,
            self._count_characters(line, column),
            end_line,
            self._count_characters(end_line, end_column),
        )

    def snippet(self, span: tuple[int, int, int, int]) -> str:
        """Return the text at a position that `span` has returned, or "" for NOWHERE.

        If the position covers several lines, return the first one with an ellipsis.
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
        """Return the column of a dedented line, in characters, for a column of the file, in bytes.

        Python counts the columns of an instruction in bytes of UTF-8, and with the indent.
        """
        line_bytes = self.lines[line - 1].encode(errors="surrogatepass")
        return len(line_bytes[: max(column - self.indent, 0)].decode(errors="ignore"))


@lru_cache(maxsize=256)
def _find_docstrings(text: str) -> list[tuple[int, int]]:
    """Return (first line, last line) of each docstring, or [] if the text cannot be parsed."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)
    docstrings = []
    with suppress(Exception):  # the text may be a part of an expression, such as a lambda
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, kinds) and ast.get_docstring(node, clean=False) is not None:
                statement = node.body[0]
                docstrings.append((statement.lineno, statement.end_lineno))
    return docstrings


def find_source(code: CodeType) -> Source:
    """Return the source of a code object. Its text is "" if there is none.

    The text is also "" if the file was edited after the import. A warning on stderr says so.
    """
    filename = code.co_filename
    file, _, _ = format_place(code).rpartition(":")  # "" for a cell
    reason = describe_outdated_source(code)
    if reason:
        _warn_once(f"No lines of source are shown: {reason}.\n", os.stat(filename).st_mtime_ns)
        return Source("", code.co_firstlineno, 0, file)

    try:
        index, lines = _find_lines(code)
    # There may be no such file or line, or no Python in it, for which the tokenizer raises errors
    # of many kinds.
    except Exception:
        return Source("", code.co_firstlineno, 0)
    text = "".join(lines).rstrip()
    dedented = textwrap.dedent(text)
    # `dedent` has removed the same indent from all lines, so the first one is measured.
    first_line, *_ = text.split("\n")
    first_dedented_line, *_ = dedented.split("\n")
    indent = len(first_line) - len(first_dedented_line)
    return Source(dedented, max(index + 1, 1), indent, file)


def _find_lines(code: CodeType) -> tuple[int, list[str]]:
    """Return (index of the first line in the file, from 0; the lines of the code's source).

    Raise an exception of any kind if there is no source.
    """
    lines = read_file_lines(code.co_filename)
    if code.co_name == "<module>":
        return 0, lines
    index = code.co_firstlineno - 1
    if not 0 <= index < len(lines):
        raise LookupError(index)
    # The first line of a comprehension is in the middle of a statement. Up to 3.12, such code has
    # the source of the function around it.
    if sys.version_info < (3, 13) and code.co_name[:1] == "<":
        while index > 0 and not _OPENING.match(lines[index]):
            index -= 1
    return index, inspect.getblock(lines[index:])


def format_place(code: CodeType, lineno: int = 0) -> str:
    """Return the place of line `lineno` of the code's file, as "path.py:1207", or "" for a cell.

    Without `lineno`, it is the place of the first line of the code.
    """
    filename = code.co_filename
    is_cell = filename.startswith("<") or "ipykernel" in filename
    if is_cell:
        return ""
    return f"{printable(os.path.basename(filename))}:{lineno or code.co_firstlineno}"


def read_file_lines(filename: str) -> list[str]:
    """Return the lines of a source file as they are now, or [] if there is no such file."""
    linecache.checkcache(filename)  # drops the cached lines if the file has changed
    return linecache.getlines(filename)


def describe_outdated_source(code: CodeType) -> str:
    """Return why a code object's file does not contain its source any more, or "" if it does.

    The file is compiled again, and the code object has to be equal to one in the result. That is
    done only if the file was written after this process began. The reason is half a sentence.
    """
    filename = code.co_filename
    is_older_than_process = not os.path.isfile(filename) or os.stat(filename).st_mtime_ns <= _START
    if is_older_than_process:
        return ""
    codes_now = _compile_all_codes(filename)
    if code in codes_now:
        return ""
    # pytest rewrites assert statements when it imports a test, so the code is never equal to that
    # of the file. In this case a code object with the same name at the same line is enough.
    if REWRITTEN in code.co_names:
        for code_now in codes_now:
            has_place = code_now.co_firstlineno == code.co_firstlineno
            if has_place and code_now.co_name == code.co_name:
                return ""
    file = printable(os.path.basename(filename))
    name = printable(code.co_name)
    return f"{file} no longer contains the source of {name}; import or reload it again"


def _compile_all_codes(filename: str) -> list[CodeType]:
    """Return all code objects of a file as it is now, or [] if it is no Python any more."""
    try:
        text = "".join(read_file_lines(filename))
        codes = [compile(text, filename, "exec", dont_inherit=True)]
    except (SyntaxError, ValueError):
        return []
    for code in codes:  # the list grows meanwhile, by the code objects inside each one
        codes += [constant for constant in code.co_consts if type(constant) is CodeType]
    return codes


@cache
def _warn_once(sentence: str, modified_ns: int) -> None:
    """Write a sentence to stderr. The cache of this function keeps it from being written twice.

    `modified_ns` is the time when the file was written. It is only a part of the cache's key, so
    that the warning is written again after another edit.
    """
    sys.stderr.write(sentence)
