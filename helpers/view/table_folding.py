"""The rows of a long table -> those that are in sight, those in a fold, and the columns' widths.

HTML draws the two parts as two tables. Both get the same widths, so that their columns line up.
"""

from collections.abc import Sequence
from dataclasses import dataclass

IN_SIGHT = 8  # rows before the fold, at least
MOST_UNFOLDED = 4  # further rows that are too few for a fold
# Marks at the beginning of a cell; a row with such a cell is never in the fold.
STANDS_OUT = tuple("●✕⊘▸▶✓✗≠")

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
    """Return a long table in two parts, or None for a table that is too short to be folded.

    Parameters
    ----------
    headings : list of str
        The heading of each column.
    cells : list of list of str
        The text of each row, a cell for each column.
    rows : sequence
        The rows to divide, one for each row of `cells`, in any form that the caller draws.
    kept_count : int
        How many of the first rows must stay in sight. `IN_SIGHT` rows stay in any case, and so do
        all rows up to the last one in which a cell begins with a mark.
    """
    in_sight_count = max(IN_SIGHT, kept_count, _find_last_marked(cells))
    if len(rows) <= in_sight_count + MOST_UNFOLDED:
        return None

    widths = []
    unbroken_width = 0  # of the whole table, if no cell breaks
    least_width = 0
    for column in zip(headings, *cells, strict=True):
        longest = max(map(len, column))
        column_width = min(round(PADDING + LETTER_WIDTH * longest, 1), WIDEST_COLUMN)
        unbroken_width += column_width
        if longest <= MOST_UNBROKEN:
            widths.append(column_width)
            least_width += column_width
        else:
            widths.append(0)  # the browser gives this column what the others leave
            least_width += NARROWEST_COLUMN
    return Fold(
        first=rows[:in_sight_count],
        more=rows[in_sight_count:],
        widths=widths,
        most=round(unbroken_width),
        least=round(least_width),
    )


def _find_last_marked(cells: list[list[str]]) -> int:
    """Return the number of the last row in which a cell begins with a mark, from 1; 0 for none."""
    last_number = 0
    for number, row in enumerate(cells, start=1):
        if any(cell.startswith(STANDS_OUT) for cell in row):
            last_number = number
    return last_number
