"""A timeline and a row per step -> its source above a table, as text and as HTML."""

from itertools import pairwise

from helpers.view import panels, row_limit
from helpers.view.markup import grid, joined, render

FOLDED_AFTER = 400
BETWEEN = "  |  "
LEGEND = "| stands between two in one cell"
SAME = "pale: as in the row above"
REST = (
    "Rows {} to {} are left out here. Run the cell to step through all of them, or read the text "
    "form: print the exhibit."
)
ALL = "run the cell to step through them; the model has all of them (`.model.steps`)"


def text(model, headings: list[str], rows: list[list[str]]) -> str:
    """Return title, note and numbered source, and one row per step below them."""
    model, rows = row_limit.trimmed(model), _cut(rows)
    numbered = [f"{n:3d}  {line}" for n, line in enumerate(panels.source_lines(model), 1)]
    part = row_limit.text_fold(headings, rows, row_limit.TEXT_ROOM)
    body = [grid(headings, part.of(rows, lambda: row_limit.dots(headings)))] if rows else []
    return joined(model.title, panels.note(model), *numbered, *body, _legend(rows), part.says(ALL))


def html(model, headings: list[str], rows: list[list[str]]) -> str:
    """Return the same as an HTML table; beyond `FOLDED_AFTER` rows it says what is left out."""
    model = row_limit.trimmed(model)
    shown = _cut(rows[:FOLDED_AFTER])
    shown = shown[: row_limit.fold(row_limit.costs(shown)).head]
    pale = _repeated(shown)
    rest = REST.format(len(shown) + 1, len(rows)) if len(shown) < len(rows) else ""
    return render(
        "sourced_table.html",
        model=model,
        note=panels.note(model),
        lines=panels.source_lines(model),
        headings=headings,
        rows=shown,
        left_out=_legend(rows),
        pale=pale,
        legend=SAME if pale else "",
        rest=rest,
        note_has_lines=False,
        drawn=False,
        arcs="",
        marked=(),
        code=[True] * len(headings),
    )


def _repeated(rows: list[list[str]]) -> frozenset[tuple[int, int]]:
    """Return row and column of each cell that says what the cell above it says."""
    return frozenset(
        (number, column)
        for number, (before, now) in enumerate(pairwise(rows), 1)
        for column, (above, words) in enumerate(zip(before, now, strict=True))
        if words and words == above
    )


def _legend(rows: list[list[str]]) -> str:
    return LEGEND if any(BETWEEN in cell for row in rows for cell in row) else ""


def _cut(rows: list[list[str]]) -> list[list[str]]:
    return [[row_limit.cut(cell) for cell in row] for row in rows]
