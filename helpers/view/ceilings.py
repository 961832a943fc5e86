"""Very many rows, lines or characters -> the first of them, and a sentence that counts the others.

Each view has a ceiling, so that a page stays a page; the model has all.
"""

from collections.abc import Sequence

from .plain_text import spell_in_one_line

MOST_ROWS = 400  # of a table
MOST_LINES = 2_000  # of source above it
LONGEST_CELL = 1_500  # characters
TAB_WIDTH = 4


def limit_rows(
    rows: Sequence, where_all: str, what: str = "Rows", most: int = MOST_ROWS
) -> tuple[Sequence, str]:
    """Return the first `most` rows, and a sentence on the others; empty if none is left out.

    The sentence calls the rows `what`, counts them, and ends in `where_all`: where all of them are.
    """
    total = len(rows)
    if total <= most:
        return rows, ""
    rest = f"{what} {most + 1:,} to {total:,} of {total:,} are left out here: {where_all}."
    return rows[:most], rest


def cut_text(text: str, longest: int = LONGEST_CELL) -> str:
    """Return the text; a very long one is cut, and ends in the number of characters left out."""
    if len(text) <= longest:
        return text
    return f"{text[:longest]}… ({len(text) - longest:,} more characters; the model has them)"


def cut_cells(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the rows with each cell cut to the longest that a table shows."""
    return [[cut_text(cell) for cell in row] for row in rows]


def cut_lines(lines: list[str]) -> list[str]:
    """Return the first lines, each cut, and a line that counts the others if there are any."""
    shown = [cut_text(line) for line in lines[:MOST_LINES]]
    rest = len(lines) - MOST_LINES
    if rest > 0:
        shown.append(f"… {rest:,} more lines; the model has them all")
    return shown


def list_source_lines(model) -> list[str]:
    """Return the lines of the source of a model; line n of the source is item n - 1."""
    if not model.source.strip("\n"):
        return []
    lines = model.source.rstrip("\n").split("\n")
    return cut_lines([spell_in_one_line(line.expandtabs(TAB_WIDTH)) for line in lines])
