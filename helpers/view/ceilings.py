"""Very many rows, lines or characters -> the first of them, and a sentence that counts the others.
Each view shows at most so many, because a page must stay readable. The model has all of them.
"""

from collections.abc import Sequence

from .plain_text import escape_to_one_line

MOST_ROWS = 400  # of a table
MOST_LINES = 2_000  # of source above it
LONGEST_CELL = 1_500  # characters
TAB_WIDTH = 4


def limit_rows(
    rows: Sequence, where_all: str, what: str = "Rows", most: int = MOST_ROWS
) -> tuple[Sequence, str]:
    """Return the first `most` rows, and a sentence on the others, which is empty if there are none.

    With `what="Steps"` and `where_all="see .model"`, the sentence is "Steps 401 to 500 of 500 are
    left out here: see .model."
    """
    total = len(rows)
    if total <= most:
        return rows, ""
    left_out_note = f"{what} {most + 1:,} to {total:,} of {total:,} are left out here: {where_all}."
    return rows[:most], left_out_note


def cut_text(text: str, longest: int = LONGEST_CELL) -> str:
    """Return the text; a longer one than `longest` is cut, and ends in how much was left out."""
    if len(text) <= longest:
        return text
    return f"{text[:longest]}… ({len(text) - longest:,} more characters; the model has them)"


def cut_cells(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the rows with each cell cut to the longest that a table shows."""
    return [[cut_text(cell) for cell in row] for row in rows]


def cut_lines(lines: list[str]) -> list[str]:
    """Return the first lines, each with a limited length, and a line that counts the others."""
    shown = [cut_text(line) for line in lines[:MOST_LINES]]
    left_out_count = len(lines) - MOST_LINES
    if left_out_count > 0:
        shown.append(f"… {left_out_count:,} more lines; the model has them all")
    return shown


def list_source_lines(model) -> list[str]:
    """Return the lines of the source of a model; line n of the source is item n - 1.

    Empty lines at the start are kept, because of the numbers. Those at the end are left out.
    """
    if not model.source.strip("\n"):
        return []
    lines = model.source.rstrip("\n").split("\n")
    return cut_lines([escape_to_one_line(line.expandtabs(TAB_WIDTH)) for line in lines])
