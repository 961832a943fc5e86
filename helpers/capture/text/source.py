"""A code object -> its source, and places in it; none where its file was edited after its import.

Several code objects of one run -> one text (`Pages`).
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

from ...model.phrase import clipped
from ...model.stage_records import BETWEEN
from ...safety.arguments import printable

NOWHERE = (0, 0, 0, 0)
LONGEST_SNIPPET = 401
REWRITTEN = "@pytest_ar"  # what pytest puts into a function that asserts
MOST_DOCSTRING = 3  # lines below the first that are shown
# Up to 3.12 `inspect` looks above the first line for what the code belongs to; we do the same for
# code without a def of its own, such as a comprehension.
_OPENING = re.compile(r"^(\s*def\s)|(\s*async\s+def\s)|(.*(?<!\w)lambda(:|\s))|^(\s*@)")
_START = time.time_ns()


@dataclass(frozen=True)
class Source:
    """Dedented source of one code object. `first`: file line of its line 1; `cut`: columns lost.

    `kept`: the file line of each line of a text in which docstrings are folded, else empty.
    """

    text: str
    first: int
    cut: int
    file: str = ""
    kept: tuple[int, ...] = ()

    @cached_property
    def lines(self) -> list[str]:
        """The text, line by line."""
        return self.text.split("\n")

    def line(self, lineno: int | None) -> int:
        """Return the 1-based line of `text` for a line of the file, 0 where it is not in it."""
        line = (lineno or 0) - self.first + 1
        if self.kept:  # a line of a folded docstring is its first one
            line = bisect_right(self.kept, lineno or 0) * ((lineno or 0) <= self.kept[-1])
        return line if lineno and 1 <= line <= len(self.lines) and self.text else 0

    def place(self, lineno: int) -> str:
        """Return a line of the file as `path.py:1207`; of a cell, as `line 7` of the text."""
        return f"{self.file}:{lineno}" if self.file else f"line {lineno - self.first + 1}"

    @property
    def places(self) -> tuple[str, ...]:
        """The place of each line, as `path.py:1207`; none of a cell."""
        kept = self.kept or range(self.first, self.first + len(self.lines))
        return tuple(map(self.place, kept)) if self.file and self.text else ()

    @property
    def where(self) -> str:
        """Where it begins, in brackets; nothing of a cell."""
        return f" ({self.places[0]})" if self.places else ""

    def folded(self) -> "Source":
        """Return the source with each long docstring in one line, which counts the others."""
        lines, kept = list(self.lines), list(range(self.first, self.first + len(self.lines)))
        for start, end in sorted(_docstrings(self.text), reverse=True):
            if end - start > MOST_DOCSTRING:
                head, below = lines[start - 1], lines[start].strip()
                head += "" if head.strip(" rRuU\"'") else below  # the first line may have no word
                more = f"… {end - start} more lines of docstring{lines[end - 1].strip()[-3:]}"
                lines[start - 1] = f"{head} {more}"
                del lines[start:end], kept[start:end]
        return replace(self, text="\n".join(lines), kept=tuple(kept)) if self.text else self

    def span(self, positions) -> tuple[int, int, int, int]:
        """Return (line, column, end line, end column) of `co_positions` in `text`, or zeros."""
        start, end, *columns = positions
        begin, stop = self.line(start), self.line(end)
        if None in columns or not begin or not stop:
            return NOWHERE
        return begin, self._characters(begin, columns[0]), stop, self._characters(stop, columns[1])

    def snippet(self, span: tuple[int, int, int, int]) -> str:
        """Return the text of a span; of one over several lines, its first and an ellipsis."""
        line, column, end, end_column = span
        if not line:
            return ""
        words = self.lines[line - 1][column : end_column if line == end else None]
        return clipped(words if line == end else f"{words.rstrip()} …", LONGEST_SNIPPET)

    def _characters(self, line: int, column: int) -> int:
        """Return a byte column of the file's line as a character column of the dedented one."""
        data = self.lines[line - 1].encode(errors="surrogatepass")
        return len(data[: max(column - self.cut, 0)].decode(errors="ignore"))


@lru_cache(maxsize=256)
def _docstrings(text: str) -> list[tuple[int, int]]:
    """Return the first and the last line of each docstring."""
    kinds, found = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module), []
    with suppress(Exception):  # an expression of a cell, or no Python at all
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, kinds) and ast.get_docstring(node, clean=False) is not None:
                found.append((node.body[0].lineno, node.body[0].end_lineno))
    return found


def source_of(code: CodeType) -> Source:
    """Return the source of a code object; an empty text where it cannot be found.

    A file that has been written anew since is not its source: stderr says so.
    """
    name, file = code.co_filename, place_of(code).rpartition(":")[0]
    if why := why_outdated(code):
        _warn_once(f"No lines of source are shown: {why}.\n", os.stat(name).st_mtime_ns)
        return Source("", code.co_firstlineno, 0, file)
    lines, at = file_lines(name), code.co_firstlineno - 1
    try:
        if code.co_name == "<module>":
            at = 0
        else:
            if not 0 <= at < len(lines):
                raise LookupError(at)
            if sys.version_info < (3, 13) and code.co_name[:1] == "<":
                while at > 0 and not _OPENING.match(lines[at]):
                    at -= 1
            lines = inspect.getblock(lines[at:])
    except Exception:  # no such line, or no Python there: the tokenizer has errors of many kinds
        return Source("", code.co_firstlineno, 0)
    text = "".join(lines).rstrip()
    dedented = textwrap.dedent(text)
    cut = len(text.split("\n")[0]) - len(dedented.split("\n")[0])
    return Source(dedented, max(at + 1, 1), cut, file)


def place_of(code: CodeType, lineno: int = 0) -> str:
    """Return a line of the code's file, or its first, as `path.py:1207`; nothing of a cell."""
    file = printable(os.path.basename(name := code.co_filename))
    is_cell = name.startswith("<") or "ipykernel" in name
    return "" if is_cell else f"{file}:{lineno or code.co_firstlineno}"


def file_lines(filename: str) -> list[str]:
    """Return the lines of a source file as they are now; none where there is no such file."""
    linecache.checkcache(filename)  # forgets what has changed on disk
    return linecache.getlines(filename)


def why_outdated(code: CodeType) -> str:
    """Return, as half a sentence, why the code's file is not its source any more; "" if it is."""
    name = code.co_filename
    if not os.path.isfile(name) or os.stat(name).st_mtime_ns <= _START:
        return ""
    try:
        now = [compile("".join(file_lines(name)), name, "exec", dont_inherit=True)]
    except (SyntaxError, ValueError):
        now = []
    for one in now:  # which grows meanwhile
        now += [inner for inner in one.co_consts if type(inner) is CodeType]
    here = (one for one in now if one.co_firstlineno == code.co_firstlineno)
    rewritten = REWRITTEN in code.co_names and code.co_name in [one.co_name for one in here]
    if code in now or rewritten:
        return ""
    file, made = printable(os.path.basename(name)), printable(code.co_name)
    return f"{file} no longer contains the source of {made}; import or reload it again"


@cache
def _warn_once(words: str, stamp: int) -> None:
    sys.stderr.write(words)


class Pages:
    """Sources of several functions, one below the other; an inner function has its outer's."""

    def __init__(self):
        # By id, because a code's hash asks its constants: code, source, lines above it.
        self._places: dict[int, tuple[CodeType, Source, int]] = {}
        self._texts: list[str] = []
        self.places: list[str] = []  # of each line of `text`, as `path.py:1207`; "" of a cell's

    def line(self, code: CodeType, lineno: int | None) -> int:
        """Return the 1-based line of `text` for a line of this code's file, 0 for none."""
        source, above = self.place(code)
        line = source.line(lineno)
        return above + line if line else 0

    def place(self, code: CodeType) -> tuple[Source, int]:
        """Return the code's source and how many lines of `text` are above it."""
        if id(code) not in self._places:
            found = [
                (source, above)
                for other, source, above in self._places.values()
                if other.co_filename == code.co_filename and source.line(code.co_firstlineno)
            ]
            if not found:
                above = sum(text.count("\n") + 2 for text in self._texts)
                source = source_of(code).folded()
                found, own = [(source, above)], source.places or [""] * len(source.lines)
                self._texts += filter(None, [source.text])
                self.places += [*[BETWEEN] * bool(self.places), *own] * bool(source.text)
            self._places[id(code)] = code, *found[0]
        return self._places[id(code)][1:]

    @property
    def text(self) -> str:
        """All sources so far, an empty line between them."""
        return "\n\n".join(self._texts)

    def number(self, line: int) -> str:
        """Return what the line of `text` is called: its number in its file, or in `text`."""
        return "".join(self.places[line - 1 : line]).rpartition(":")[2] or str(line or "")
