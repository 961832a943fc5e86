"""The rows of a long table -> those that are in sight, those in a fold, and the columns' widths."""

from collections.abc import Sequence
from dataclasses import dataclass

LONG = 12  # rows of a table that is not folded
IN_SIGHT = 8  # rows before the fold
STANDS_OUT = tuple("●✕⊘▸▶✓✗≠")  # a cell that begins so marks its row, which is never folded

LETTER_WIDTH = 0.66  # em
PADDING = 1.5  # em beside a cell's words
MOST_UNBROKEN = 24  # letters of a cell that never breaks
WIDEST_COLUMN = 64  # em
NARROWEST_COLUMN = 12  # em of a column whose cells break


@dataclass(frozen=True)
class Fold:
    """A long table in two parts with one set of columns."""

    first: Sequence
    """The rows in sight."""
    more: Sequence
    """The rows in the fold."""
    widths: list[float]
    """The width of each column in em; 0 for one that shares what is left."""
    most: int
    """The width in em that all columns need if no cell breaks."""
    least: int
    """The width in em that all columns need at least."""


def fold_rows(
    headings: list[str], cells: list[list[str]], rows: Sequence, kept_count: int
) -> Fold | None:
    """Return where a long table of `rows`, whose text is `cells`, is folded; None if it is not.

    In sight are eight rows, or those up to the last that is marked or one of the first that are
    kept.
    """
    in_sight = max(IN_SIGHT, kept_count, _find_last_marked(cells))
    if len(rows) <= max(LONG, in_sight + LONG - IN_SIGHT):
        return None

    widths = []
    needed_width = 0
    least_width = 0
    for column in zip(headings, *cells, strict=True):
        longest = max(map(len, column))
        needed = min(round(PADDING + LETTER_WIDTH * longest, 1), WIDEST_COLUMN)
        width = needed if longest <= MOST_UNBROKEN else 0
        widths.append(width)
        needed_width += needed
        least_width += width or NARROWEST_COLUMN
    return Fold(rows[:in_sight], rows[in_sight:], widths, round(needed_width), round(least_width))


def _find_last_marked(cells: list[list[str]]) -> int:
    """Return the number of the last row with a mark, from 1; 0 for none."""
    last_number = 0
    for number, row in enumerate(cells, start=1):
        if any(cell.startswith(STANDS_OUT) for cell in row):
            last_number = number
    return last_number
