"""A run with its value stacks -> a table with a row per instruction, or a stage to step through."""

from helpers.model.stack import StackRun, StackStep
from helpers.view import step_table
from helpers.view.widgets import stage

ALWAYS = ("line", "instruction", "value stack, bottom to top", "locals")
SOMETIMES = {"on an exception": "handler", "printed": "printed", "what came of it": "ending"}
EMPTY = "(empty)"

widget = stage.widget


def text(model: StackRun) -> str:
    """Return the source and one row per instruction, each readable without the others."""
    return step_table.text(model, *table(model))


def html(model: StackRun) -> str:
    """Return the same as an HTML table."""
    return step_table.html(model, *table(model))


def table(model: StackRun) -> tuple[list[str], list[list[str]]]:
    """Return headings and cells; a column that no row needs is left out."""
    several = len({step.call for step in model.steps}) > 1
    used = [h for h, field in SOMETIMES.items() if any(getattr(s, field) for s in model.steps)]
    headings = [*(["call"] if several else []), *ALWAYS, *used]
    return headings, [_row(step, several, used) for step in model.steps]


def _row(step: StackStep, several: bool, used: list[str]) -> list[str]:
    line = str(step.line or "")
    if step.left_out:
        cells = [line, step.label, "", ""]
    else:
        stack = step_table.BETWEEN.join(step.stack) or EMPTY
        names = ", ".join(f"{name} = {words}" for name, words in step.names)
        cells = [line, step.instruction, stack, names]
    call = f"{step.function} {step.call}" if not step.left_out else ""
    rest = [getattr(step, SOMETIMES[heading]) for heading in used]
    return [*([call] if several else []), *cells, *rest]
