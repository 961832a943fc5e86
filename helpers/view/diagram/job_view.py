"""The ops of a job -> a table, and a picture with the same facts.
A job is OneFlow's graph: its ops read and write blobs, which are arrays with a name.
"""

from dataclasses import replace

from ...model.job_records import JobGraph, JobOp
from .. import View
from ..plain_text import escape_to_one_line, render_grid
from .drawing import render_picture_page
from .job_drawing import draw_job

COLUMNS = ("pass", "op", "op type", "defined", "reads, attributes", "writes", "appended for")
MOST_DRAWN = 70  # ops


def _render_job_text(model: JobGraph) -> str:
    """Return a table of the ops, with what the job returns below."""
    returned = [f"returns {name}: {model.blob(name)}" for name in model.returns]
    parts = [model.title, *returned, model.note]
    title, *rest = [escape_to_one_line(part) for part in parts if part]

    rows = [_list_op_cells(op) for op in model.ops]
    table = render_grid(COLUMNS, rows) if rows else "no ops"
    return "\n".join((title, table, *rest))


def _list_op_cells(op: JobOp) -> tuple[str, ...]:
    """Return the cells of an op in the table, in the order of `COLUMNS`.

    `op.part` is the pass that the op belongs to, such as `backward`. `op.near` is the op for which
    the job appended it, such as its forward op; empty for none.
    """
    if op.own:  # the learner has defined the op type
        defined = "by you"
    elif op.part in ("input", "variable"):  # these are no computation that somebody defined
        defined = ""
    else:
        defined = "built in"

    reads = ", ".join(f"{argument}={name}" for argument, name in (*op.reads, *op.attrs))
    writes = ", ".join(f"{blob.name}: {blob}" for _, blob in op.writes)
    return (op.part, op.name, op.type, defined, reads, writes, op.near)


def _render_job_html(model: JobGraph) -> str:
    """Return a page with a picture of the job and its text.

    A job without ops, or with more than `MOST_DRAWN`, has only the text.
    """
    text = _render_job_text(model)
    count = len(model.ops)
    if count == 0:
        return render_picture_page(model, text)
    if count > MOST_DRAWN:
        note = f"{count} ops are too many for one picture. {model.note}"
        return render_picture_page(replace(model, note=note), text)

    kinds = [op.part for op in model.ops]
    if model.returns:
        kinds.append("output")
    alt = f"{model.title}: {count} ops, listed below"
    return render_picture_page(model, text, draw_job(model), alt, kinds)


job = View(_render_job_text, _render_job_html)
