"""A listing -> a table: fixed-width text, or HTML that a screen reader can walk by header.

Of very many rows the first and the last are shown, and the others are counted.
"""

from helpers.model.listing import Listing
from helpers.view import row_limit
from helpers.view.markup import grid, joined, render

ALL = "the model has all of them (`.model.rows`)"


def text(model: Listing, room: int = row_limit.TEXT_ROOM) -> str:
    """Return the listing as a text table, title above and note below."""
    model = row_limit.trimmed(model)
    headings, rows = _headings(model), _rows(model)
    part = row_limit.text_fold(headings, rows, room)
    body = grid(headings, part.of(rows, lambda: row_limit.dots(headings)))
    return joined(model.title, body, part.says(ALL), model.note)


def html(model: Listing, room: int = row_limit.ROOM) -> str:
    """Return the listing as an HTML table with a caption and column headers."""
    model = row_limit.trimmed(model)
    headings, rows = _headings(model), _rows(model)
    part = row_limit.fold(row_limit.costs(rows), room)
    return render(
        "table.html",
        model=model,
        headings=headings,
        columns=model.columns,
        flags=_flags(rows),
        rows=part.of(rows, lambda: row_limit.dots(headings)),
        left_out=part.says(ALL),
    )


def _flags(rows: list[list[str]]) -> frozenset[int]:
    """Return the columns of nothing but yes and no: there a no is pale, and the yes stand out."""
    columns = enumerate(zip(*rows, strict=True))
    return frozenset(number for number, words in columns if set(words) == {"yes", "no"})


def _headings(model: Listing) -> list[str]:
    return [row_limit.cut(column.heading) for column in model.columns]


def _rows(model: Listing) -> list[list[str]]:
    return [[row_limit.cut(cell) for cell in row] for row in model.cells()]
