"""Rows, each of which lies in the one before -> boxes in boxes; as text, a table."""

from helpers.model.listing import Listing
from helpers.view import row_limit, table
from helpers.view.markup import render

MOST = 8  # boxes in each other; more rows are a table
KINDS = ("function", "code", "op", "cell", "tensor", "name", "frame", "object")

text = table.text


def html(model: Listing) -> str:
    """Return one box per row, the first outermost; its first value is its name."""
    if not 0 < len(model.rows) <= MOST:
        return table.html(model)
    model = row_limit.trimmed(model)
    rows = [[row_limit.cut(cell) for cell in row] for row in model.cells()]
    headings = [row_limit.cut(column.heading) for column in model.columns]
    boxes = [
        {"name": row[0], "kind": kind, "says": list(zip(headings, row, strict=True))[1:]}
        for row, kind in zip(rows, KINDS, strict=False)
    ]
    return render("nested.html", model=model, boxes=boxes)
