"""A listing -> a table: fixed-width text, or HTML that a screen reader can walk by header."""

from helpers.model.listing import Listing
from helpers.view.ink import grid, render


def text(model: Listing) -> str:
    """Return the listing as a text table, title above and note below."""
    body = grid([column.heading for column in model.columns], model.cells())
    return "\n".join(part for part in (model.title, body, model.note) if part)


def html(model: Listing) -> str:
    """Return the listing as an HTML table with a caption and column headers."""
    return render("table.html", model=model)
