"""A translation by Dynamo -> a table with a row per step, or a stage to step through."""

from helpers.model.dynamo import DynamoRun, DynamoStep
from helpers.view import step_table
from helpers.view.widgets import stage

ALWAYS = ("line", "step")
SOMETIMES = {
    "symbolic stack, bottom to top": "stack",
    "added to the graph": "made",
    "guards taken": "guarded",
}

widget = stage.widget


def text(model: DynamoRun) -> str:
    """Return the source and one row per step, each readable without the others."""
    return step_table.text(model, *table(model))


def html(model: DynamoRun) -> str:
    """Return the same as an HTML table."""
    return step_table.html(model, *table(model))


def table(model: DynamoRun) -> tuple[list[str], list[list[str]]]:
    """Return headings and cells; a column that no row needs is left out."""
    used = [h for h, field in SOMETIMES.items() if any(getattr(s, field) for s in model.steps)]
    return [*ALWAYS, *used], [_row(step, used) for step in model.steps]


def _row(step: DynamoStep, used: list[str]) -> list[str]:
    joined = [step_table.BETWEEN.join(getattr(step, SOMETIMES[heading])) for heading in used]
    label = f"{step.label} ({step.ending})" if step.ending else step.label
    return [str(step.line or ""), label, *joined]
