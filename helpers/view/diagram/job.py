"""The op list of a job -> a table of all ops, and a picture: forward down, backward up beside it.

Each op of the backward pass stands in the row of the forward op that it was appended for, so the
way back can be followed beside the way there.
"""

from dataclasses import replace

from helpers.model.job import JobGraph, JobOp
from helpers.view.diagram import kinds
from helpers.view.diagram.swimlanes import Box, Line, picture
from helpers.view.markup import grid, one_line, render
from helpers.view.picture import pictured

LANES = {"input": 0, "variable": 0, "forward": 1, "backward": 2, "update": 3}
HEADINGS = ("inputs, variables", "forward ↓", "backward ↑", "update")
COLUMNS = ("pass", "op", "op type", "defined", "reads, attributes", "writes", "appended for")
RETURNED = "→ returned"  # no op can bear this name
MOST_DRAWN = 70  # ops
SMALLEST = 0.88  # of its natural size, where letters have 10 pixels; a narrower window scrolls


def text(model: JobGraph) -> str:
    """Return one line per op, in the order in which they run."""
    body = grid(COLUMNS, [_row(op) for op in model.ops]) if model.ops else "no ops"
    given = [f"returns {name}: {model.blob(name)}" for name in model.returns]
    parts = (model.title, *given, model.note)
    title, *rest = (one_line(part) for part in parts if part)
    return "\n".join((title, body, *rest))


def _row(op: JobOp) -> tuple[str, ...]:
    defined = "by you" if op.own else "" if op.part in ("input", "variable") else "built in"
    reads = ", ".join(f"{argument}={name}" for argument, name in (*op.reads, *op.attrs))
    writes = ", ".join(f"{blob.name}: {blob}" for _, blob in op.writes)
    return (op.part, op.name, op.type, defined, reads, writes, op.near)


def html(model: JobGraph) -> str:
    """Return the picture as an image, and the table of ops folded below it."""
    if not 0 < len(model.ops) <= MOST_DRAWN:
        said = f"{len(model.ops)} ops are too many for one picture. " if model.ops else ""
        told = replace(model, note=f"{said}{model.note}")
        return render("diagram.html", model=told, image="", legend="", body=text(model))
    return render(
        "diagram.html",
        model=model,
        alt=f"{model.title}: {len(model.ops)} ops, listed below",
        body=text(model),
        legend=kinds.legend([op.part for op in model.ops] + ["output"] * bool(model.returns)),
        **pictured(svg(model), SMALLEST),
    )


def svg(model: JobGraph) -> str:
    """Return the picture of a job with at least one op as SVG text."""
    rows = _rows(model)
    boxes = [
        Box(op.name, _label(op), _detail(op), _kind(op), LANES[op.part], rows[op.name])
        for op in model.ops
    ]
    lines = _lines(model)
    if model.returns:
        boxes.append(
            Box(RETURNED, "returned", "", "output", LANES["forward"], max(rows.values()) + 1)
        )
        writer = _writers(model)
        lines += [Line(writer[name], RETURNED, str(model.blob(name))) for name in model.returns]
    return picture(model.title, boxes, lines, HEADINGS)


def _label(op: JobOp) -> str:
    return f"◆ {op.name}" if op.own else op.name


def _detail(op: JobOp) -> str:
    return ", ".join((op.type, *(f"{name}={value}" for name, value in op.attrs)))


def _kind(op: JobOp) -> str:
    return f"{op.part} own" if op.own else op.part


def _rows(model: JobGraph) -> dict[str, int]:
    """Return a row per op: forward ops one below the other, all others beside one of them."""
    forward = model.names("forward")
    rows = {name: row for row, name in enumerate(forward)}
    writer = _writers(model)
    for op in model.ops:
        for _, blob in op.reads:
            if op.part == "forward" and blob in writer:
                rows.setdefault(writer[blob], rows[op.name])
    for op in model.ops:
        rows.setdefault(op.name, rows.get(op.near, 0))
    return rows


def _writers(model: JobGraph) -> dict[str, str]:
    return {blob.name: op.name for op in model.ops for _, blob in op.writes}


def _lines(model: JobGraph) -> list[Line]:
    """Return an arrow per pair of ops, labelled with what travels on it, and how often."""
    writer, found = _writers(model), {}
    for op in model.ops:
        for _, name in op.reads:
            if name in writer:
                said = found.setdefault((writer[name], op.name), [])
                said.append(str(model.blob(name)))
    return [
        Line(*ends, ", ".join(dict.fromkeys(said)), len(said) // len(set(said)))
        for ends, said in found.items()
    ]
