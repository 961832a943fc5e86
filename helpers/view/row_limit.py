"""Rows that may be very many -> those that a page has room for, and a sentence on the others.

A notebook keeps every output, so each view has a ceiling: what is beyond it stays in the model. The
room is counted in bytes of markup, for one row may be as long as a thousand.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from helpers.view.markup import WIDEST, grid, visible

ROOM = 600_000  # bytes of HTML for the rows of one exhibit
PANEL_ROOM = 60_000  # for those of one panel among many
TEXT_ROOM = 200_000  # characters of the text form
SOURCE_ROOM = 100_000  # characters of source above a table
CELL = 210  # bytes of markup around the words of a cell
LONGEST_CELL = 4_000  # characters
MOST_LINES = 4_000  # of source
_DEARER = str.maketrans(dict.fromkeys("&<>\"'.", "&quot;"))  # what escaping may make of one letter


@dataclass(frozen=True)
class Part:
    """What is shown of `total` rows: `head` from the start, then `tail` up to the end."""

    head: int
    tail: int
    total: int

    @property
    def left_out(self) -> int:
        """How many rows are in neither."""
        return self.total - self.head - self.tail

    def of(self, rows: Sequence, mark: object) -> list:
        """Return the rows that are shown, and a mark where others would stand."""
        if not self.left_out:
            return list(rows)
        return [*rows[: self.head], mark, *rows[self.total - self.tail :]]

    def says(self, where: str, what: str = "Rows") -> str:
        """Return which are left out and where they all are; nothing if all are shown."""
        if not self.left_out:
            return ""
        first, last = self.head + 1, self.total - self.tail
        return f"{what} {first:,} to {last:,} of {self.total:,} are left out here: {where}."


def first(shown: int, total: int) -> Part:
    """Return the first rows of a total, without any from its end."""
    return Part(min(shown, total), 0, total)


def fold(costs: Sequence[int], room: int = ROOM) -> Part:
    """Return the rows that fit into the room; where not all do, a fifth of it is for the last."""
    total = len(costs)
    if sum(costs) <= room:
        return Part(total, 0, total)
    head = max(_fitting(costs, room - room // 5), 1)
    return Part(head, min(_fitting(costs[::-1], room // 5), total - head), total)


def _fitting(costs: Sequence[int], room: int) -> int:
    for number, cost in enumerate(costs):
        room -= cost
        if room < 0:
            return number
    return len(costs)


def cost(words: str) -> int:
    """Return how many bytes of HTML the words of a cell may take."""
    return CELL + len(str(visible(words)).translate(_DEARER).encode())


def costs(rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the bytes of HTML that each row of cells may take."""
    return [20 + sum(map(cost, row)) for row in rows]


def cut(words: str, most: int = LONGEST_CELL) -> str:
    """Return the words; of very many the first, and how many characters follow."""
    if len(words) <= most:
        return words
    return f"{words[:most]}… ({len(words) - most:,} more characters; the model has them)"


def cut_cells(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return rows of cells, each cut."""
    return [[cut(cell) for cell in row] for row in rows]


def text_table(headings, rows, where: str, room: int = TEXT_ROOM) -> tuple[str, str]:
    """Return the rows of a text table that fit, and a sentence on the others: all are `where`."""
    part = fold([max(WIDEST, sum(map(len, row))) for row in rows], room)
    return grid(headings, part.of(rows, dots(headings))), part.says(where)


def html_rows(headings, rows, where: str, room: int = ROOM) -> tuple[list, str]:
    """Return the rows of an HTML table that fit, and a sentence on the others."""
    part = fold(costs(rows), room)
    return part.of(rows, dots(headings)), part.says(where)


def dots(headings: Sequence[str]) -> list[str]:
    """Return the row that stands where others are left out."""
    return ["…", *[""] * (len(headings) - 1)]


def source(lines: list[str]) -> list[str]:
    """Return lines of source; of very many the first, and one line that counts the others."""
    lines = [cut(line) for line in lines]
    part = fold([len(line) + 8 for line in lines[: MOST_LINES + 1]], SOURCE_ROOM)
    shown = min(part.head, MOST_LINES)
    if shown >= len(lines):
        return lines
    return [*lines[:shown], f"… {len(lines) - shown:,} more lines; the model has them all"]
