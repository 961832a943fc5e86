"""A code object -> its source text, and places in that text for the positions it carries."""

import inspect
import textwrap
from dataclasses import dataclass
from types import CodeType

NOWHERE = (0, 0, 0, 0)


@dataclass(frozen=True)
class Source:
    """Dedented source of one code object. `first`: file line of its line 1; `cut`: columns lost."""

    text: str
    first: int
    cut: int

    def line(self, lineno: int | None) -> int:
        """Return the 1-based line of `text` for a line of the file, 0 where it is not in it."""
        line = (lineno or 0) - self.first + 1
        return line if lineno and 1 <= line <= self.text.count("\n") + 1 and self.text else 0

    def span(self, positions) -> tuple[int, int, int, int]:
        """Return (line, column, end line, end column) in `text` for a `co_positions` entry.

        Lines count from 1, columns in characters from 0; all four are 0 where the compiler gave no
        place, or one outside the text.
        """
        start, end, column, end_column = positions
        lines = self.text.split("\n")
        if None in (start, end, column, end_column) or not self.line(start) * self.line(end):
            return NOWHERE
        begin, stop = self.line(start), self.line(end)
        columns = (
            self._characters(lines[begin - 1], column),
            self._characters(lines[stop - 1], end_column),
        )
        return (begin, columns[0], stop, columns[1])

    def snippet(self, span: tuple[int, int, int, int]) -> str:
        """Return the text of a span; of one over several lines, its first and an ellipsis."""
        line, column, end, end_column = span
        if not line:
            return ""
        words = self.text.split("\n")[line - 1]
        return words[column:end_column] if line == end else f"{words[column:].rstrip()} …"

    def _characters(self, line: str, column: int) -> int:
        """Return a byte column of the file's line as a character column of the dedented one."""
        return len(line.encode()[: max(column - self.cut, 0)].decode(errors="ignore"))


def source_of(code: CodeType) -> Source:
    """Return the source of a code object; an empty text where Python cannot find it."""
    try:
        lines, first = inspect.getsourcelines(code)
    except (OSError, TypeError, IndexError, SyntaxError):
        return Source("", code.co_firstlineno, 0)
    text = "".join(lines).rstrip()
    dedented = textwrap.dedent(text)
    cut = len(text.split("\n")[0]) - len(dedented.split("\n")[0])
    return Source(dedented, max(first, 1), cut)
