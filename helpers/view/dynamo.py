"""A translation by Dynamo -> a table with a row per step, or the stepper's widget."""

from helpers.model.dynamo import DynamoRun, DynamoStep
from helpers.view import stepper
from helpers.view.ink import grid, render, visible

ALWAYS = ("line", "step")
SOMETIMES = {
    "symbolic stack, bottom to top": "stack",
    "added to the graph": "made",
    "guards taken": "guarded",
    "why": "ending",
}
FOLDED_AFTER = 400

widget = stepper.widget


def text(model: DynamoRun) -> str:
    """Return the source and one row per step, each readable without the others."""
    headings, rows = table(model)
    numbered = [f"{n:3d}  {line}" for n, line in enumerate(stepper.source_lines(model), 1)]
    parts = [visible(model.title), visible(stepper.note(model)), *numbered]
    return "\n".join([part for part in parts if part] + ([grid(headings, rows)] if rows else []))


def html(model: DynamoRun) -> str:
    """Return the same as an HTML table; beyond `FOLDED_AFTER` rows it says what is left out."""
    headings, rows = table(model)
    return render(
        "stack.html",
        model=model,
        note=stepper.note(model),
        lines=stepper.source_lines(model),
        headings=headings,
        rows=rows[:FOLDED_AFTER],
        total=len(rows),
    )


def table(model: DynamoRun) -> tuple[list[str], list[list[str]]]:
    """Return headings and cells; a column that no row needs is left out."""
    used = [h for h, field in SOMETIMES.items() if any(getattr(s, field) for s in model.steps)]
    return [*ALWAYS, *used], [_row(step, used) for step in model.steps]


def _row(step: DynamoStep, used: list[str]) -> list[str]:
    cells = [getattr(step, SOMETIMES[heading]) for heading in used]
    joined = [cell if isinstance(cell, str) else "  |  ".join(cell) for cell in cells]
    return [str(step.line or ""), step.label, *joined]
