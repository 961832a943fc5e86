"""A timeline and a row per step -> its source above a table, as text and as HTML."""

from helpers.view import stepper
from helpers.view.ink import grid, render, visible

FOLDED_AFTER = 400


def text(model, headings: list[str], rows: list[list[str]]) -> str:
    """Return title, note and numbered source, and one row per step below them."""
    numbered = [f"{n:3d}  {line}" for n, line in enumerate(stepper.source_lines(model), 1)]
    parts = [visible(model.title), visible(stepper.note(model)), *numbered]
    return "\n".join([part for part in parts if part] + ([grid(headings, rows)] if rows else []))


def html(model, headings: list[str], rows: list[list[str]]) -> str:
    """Return the same as an HTML table; beyond `FOLDED_AFTER` rows it says what is left out."""
    return render(
        "stack.html",
        model=model,
        note=stepper.note(model),
        lines=stepper.source_lines(model),
        headings=headings,
        rows=rows[:FOLDED_AFTER],
        total=len(rows),
    )
