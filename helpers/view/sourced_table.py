"""A table and the source that it belongs to -> the table below its source, as text or HTML."""

from .ceilings import limit_rows, list_source_lines
from .markup import render
from .plain_text import join_nonempty, render_grid

# The values of the template `sourced_table.html` for a table without arrows, marks and a legend.
USUAL = {
    "drawn": False,
    "arcs": "",
    "marked": (),
    "legend": "",
    "rest": "",
    "left_out": "",
    "note_has_lines": False,
}


def render_sourced_text(
    model,
    headings: list[str],
    rows: list[list[str]],
    where_all: str,
    note: str = "",
    legend: str = "",
    last_note: str = "",
) -> str:
    """Return the numbered source of a model, and a table below it.

    Parameters
    ----------
    model : Placed
        A record with a title, a source, and the number of each line of the source.
    headings, rows : list
        The headings of the table, and the cells of each row.
    where_all : str
        Where a reader finds all rows, if there are too many to show.
    note, legend, last_note : str
        What stands above the source, below the table, and at the end.
    """
    numbered = []
    # Without strict, because a very long source is cut and has fewer lines than numbers.
    for number, line in zip(model.numbers, list_source_lines(model), strict=False):
        numbered.append(f"{number:>3}  {line}")
    shown, left_out_note = limit_rows(rows, where_all)
    table = render_grid(headings, shown) if rows else ""
    return join_nonempty(model.title, note, *numbered, table, legend, left_out_note, last_note)


def render_sourced_html(model, headings: list[str], rows: list, note: str, **values) -> str:
    """Return the source of a model and a table below it.

    `model`, `headings` and `rows` are those of `render_sourced_text`, and `note` stands above.
    `values` are further values of the template, whose defaults are in `USUAL`.
    """
    all_values = {"code": [True] * len(headings), **USUAL, **values}
    lines = list_source_lines(model)
    return render(
        "sourced_table.html",
        model=model,
        lines=lines,
        headings=headings,
        rows=rows,
        note=note,
        **all_values,
    )
