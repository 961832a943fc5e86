"""The steps of a recorded run -> a table with a line for each step, below the source.
A step is an instruction that CPython ran, or one that Dynamo translated.
"""

from collections.abc import Callable

from ..model.dynamo_records import DynamoRun
from ..model.stack_records import StackRun, StackStep
from ..model.stage_records import Timeline
from .ceilings import cut_cells, limit_rows
from .sourced_table import render_sourced_html, render_sourced_text
from .widgets.timeline_page import describe_note

SEPARATOR = "  |  "
LEGEND = "| separates two values in one cell"
WHERE_ALL_STEPS = "the model has all of them (`.model.steps`)"
WHERE_ALL_IN_HTML = f"run the cell to step through them; {WHERE_ALL_STEPS}"
CALL_COLUMN = "call"
STACK_COLUMNS = ("line", "instruction", "value stack, bottom to top", "locals")

# Columns that only some runs need: the heading of each, and the field of a step that it shows.
STACK_OPTIONS = {"on an exception": "handler", "printed": "printed", "outcome": "ending"}
DYNAMO_OPTIONS = {
    "symbolic stack, bottom to top": "stack",
    "added to the graph": "made",
    "guards added": "guarded",
}

StepsTable = tuple[list[str], list[list[str]]]  # headings and cells


def list_stack_steps(model: StackRun) -> StepsTable:
    """Return headings and cells of a run of CPython; a column that no row needs is left out.

    `model.numbers` has the number of each line of the source, as text.
    """
    # With several calls, a first column says to which call a step belongs.
    has_several_calls = len({step.call for step in model.steps}) > 1
    fields_by_heading = _find_used_columns(model, STACK_OPTIONS)
    headings = [*STACK_COLUMNS, *fields_by_heading]
    if has_several_calls:
        headings.insert(0, CALL_COLUMN)

    numbers = ["", *model.numbers]  # a step without a line has the line 0
    rows = []
    for step in model.steps:
        row = _list_stack_cells(step, numbers[step.line])
        row += [getattr(step, field) for field in fields_by_heading.values()]
        if has_several_calls:
            # A step that stands for several that were left out belongs to no single call.
            call = "" if step.left_out else f"{step.function} {step.call}"
            row.insert(0, call)
        rows.append(row)
    return headings, rows


def _list_stack_cells(step: StackStep, number: str) -> list[str]:
    """Return the cells under `STACK_COLUMNS`; `number` is the number of the step's line.

    A step may stand for several steps that were left out. It has neither a stack nor locals.
    """
    if step.left_out:
        return [number, step.label, "", ""]

    stack = SEPARATOR.join(step.stack) or "(empty)"
    variables = ", ".join(f"{name} = {words}" for name, words in step.names)
    return [number, step.instruction, stack, variables]


def list_dynamo_steps(model: DynamoRun) -> StepsTable:
    """Return headings and cells of a run of Dynamo; a column that no row needs is left out."""
    fields_by_heading = _find_used_columns(model, DYNAMO_OPTIONS)
    numbers = ["", *model.numbers]  # a step without a line has the line 0
    rows = []
    for step in model.steps:
        label = f"{step.label} ({step.ending})" if step.ending else step.label
        row = [numbers[step.line], label]
        row += [SEPARATOR.join(getattr(step, field)) for field in fields_by_heading.values()]
        rows.append(row)
    return ["line", "step", *fields_by_heading], rows


def _find_used_columns(model: Timeline, options: dict[str, str]) -> dict[str, str]:
    """Return the columns of `options` that some step needs: its field is not empty there.

    Both dicts have heading -> field of a step.
    """
    used = {}
    for heading, field in options.items():
        if any(getattr(step, field) for step in model.steps):
            used[heading] = field
    return used


def render_steps_text(list_steps: Callable[[Timeline], StepsTable], model: Timeline) -> str:
    """Return the steps as a plain text table; `list_steps` makes headings and cells of the run."""
    headings, rows = list_steps(model)
    return render_sourced_text(
        model,
        headings,
        cut_cells(rows),
        where_all=WHERE_ALL_STEPS,
        note=describe_note(model),
        legend=_explain_separator(rows),
    )


def render_steps_html(list_steps: Callable[[Timeline], StepsTable], model: Timeline) -> str:
    """Return the steps as an HTML table; `list_steps` makes headings and cells of the run."""
    headings, rows = list_steps(model)
    shown, left_out_note = limit_rows(rows, WHERE_ALL_IN_HTML)
    legend = _explain_separator(rows)
    # The template writes `left_out` right below the rows, and `rest` below the note.
    return render_sourced_html(
        model, headings, cut_cells(shown), describe_note(model), left_out=legend, rest=left_out_note
    )


def _explain_separator(rows: list[list[str]]) -> str:
    """Return what a bar in a cell means; an empty text if no cell has one."""
    has_separator = any(SEPARATOR in cell for row in rows for cell in row)
    return LEGEND if has_separator else ""
