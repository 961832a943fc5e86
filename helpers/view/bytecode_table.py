"""Bytecode -> a table of instructions, with the jumps as arrows beside it."""

from ..model.code_records import Sourced
from .ceilings import cut_cells, limit_rows
from .images import encode_image
from .jump_arrows import ROW_HEIGHT, draw_arcs, draw_gutter, place_jumps
from .sourced_table import render_sourced_html, render_sourced_text

MARK = "●"
ARROWS = "jumps: an arrow leads from a jump to its target; an arrow that leads up is a loop"
MOST_DESCRIBED = 40  # jumps in the words of the picture
WHERE_ALL_INSTRUCTIONS = "the model has all of them (`.model.rows`)"


def render_bytecode_text(model: Sourced) -> str:
    """Return the instructions as a plain text table below their source."""
    headings, rows = list_instructions(model)
    return render_sourced_text(
        model,
        headings,
        rows,
        WHERE_ALL_INSTRUCTIONS,
        legend=_explain_arrows(model),
        last_note=model.note,
    )


def render_bytecode_html(model: Sourced) -> str:
    """Return the instructions as an HTML table below their source."""
    headings, rows = list_instructions(model)
    shown, left_out_note = limit_rows(rows, WHERE_ALL_INSTRUCTIONS)
    jumps = model.jumps()
    arrows = place_jumps(jumps)
    arcs = ""
    if arrows and not left_out_note:  # with rows left out, an arrow could lead to one of them
        arcs = encode_image(draw_arcs(arrows, len(rows)))

    column_codes = [column.code for column in model.columns]
    if arrows:
        column_codes.insert(0, True)  # the column of the arrows
    # What a screen reader says of the arrows.
    described = [f"row {source + 1} → {target + 1}" for source, target in jumps[:MOST_DESCRIBED]]
    return render_sourced_html(
        model,
        headings,
        shown,
        model.note,
        note_has_lines=True,
        drawn=bool(arrows),
        arcs=arcs,
        alt=", ".join(described),
        high=ROW_HEIGHT,
        legend=_explain_arrows(model),
        marked=frozenset(model.marked),
        code=column_codes,
        left_out=left_out_note,
    )


def _explain_arrows(model: Sourced) -> str:
    """Return what the arrows mean; an empty text if there are none."""
    return ARROWS if model.jumps() else ""


def list_instructions(model: Sourced) -> tuple[list[str], list[list[str]]]:
    """Return headings, and the cells of each row.

    If the model has jumps, the first column has arrows, drawn with letters. A cell that the model
    marks begins with a dot. A model with marked cells has a column for each version of Python: if
    the last column is the same as an earlier one, it is left out, and a heading says so.
    """
    headings = [column.heading for column in model.columns]
    plain_cells = model.cells()
    cells = cut_cells(plain_cells)
    for row, column in model.marked:
        cells[row][column] = f"{MARK} {cells[row][column]}"

    if model.marked:
        *columns, last_column = zip(*plain_cells, strict=True)
        if last_column in columns:
            equal_column = columns.index(last_column)
            headings[equal_column] += f" ({headings[-1]} is the same)"
            headings = headings[:-1]
            cells = [row[:-1] for row in cells]

    if not model.jumps():
        return headings, cells
    gutter = draw_gutter(model.jumps(), len(model.rows))
    with_arrows = [[arrows, *row] for arrows, row in zip(gutter, cells, strict=True)]
    return ["jumps", *headings], with_arrows
