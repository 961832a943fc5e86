"""Rows of instructions -> the same, with no place in the source where they have no words of it.

The compiler gives every instruction a place. One that goes back to a loop's head, or returns None
at the end of a function, has no words of its own; it bears those of what ran before it.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

from helpers.model.stage import NOWHERE, Row

WRITTEN = ("break", "continue")  # jumps that somebody wrote
RETURNS = ("RETURN_VALUE", "RETURN_CONST")


def own_words(rows: Iterable[Row], snippet: Callable[[tuple], str]) -> list[Row]:
    """Return the rows of a function; `snippet`: the text of a place."""
    rows = list(rows)
    borrowed = set()
    for at, row in enumerate(rows):
        before = rows[at - 1] if at else None
        words = snippet(row.span)
        if _goes_on(row) and before and row.span == before.span and words not in WRITTEN:
            borrowed.add(at)
        if row.opname in RETURNS and _is_unwritten(row, before, words):
            borrowed |= {at} if row.argument else {at - 1, at}
    return [replace(row, span=NOWHERE) if at in borrowed else row for at, row in enumerate(rows)]


def _goes_on(row: Row) -> bool:
    return row.opname.startswith("JUMP") and "_IF_" not in row.opname


def _is_unwritten(row: Row, before: Row | None, words: str) -> bool:
    """Tell whether nobody wrote this return: it gives None, and stands at a statement."""
    if words.partition(" ")[0] in ("return", "None", ""):
        return False
    if row.opname == "RETURN_CONST":
        return row.argument == "None"
    gave = before is not None and (before.opname, before.argument) == ("LOAD_CONST", "None")
    return gave and before.span == row.span
