"""Listings, ledgers and steps -> tables, as plain text or as HTML.
A *listing* is a table of records. A *ledger* has a verdict in each cell, such as `changed`. *Steps*
are a listing of the ops of a graph that can run side by side, which HTML shows as columns.
"""

import re

from ..model.graph_steps import Steps
from ..model.tables import Listing
from . import View
from .ceilings import cut_cells, cut_text, limit_rows
from .dot_matrix import render_dots_html, render_dots_text
from .ledger_table import render_ledger_html, render_ledger_text
from .markup import render
from .plain_text import join_nonempty, render_grid
from .table_folding import fold_rows

WHERE_ALL_ROWS = "the model has all of them (`.model.rows`)"
NUMBER = re.compile(r"[-−+]?\d[\d.,]*\s?%?")  # a cell at the right of its column
LONGEST_PATH = "▸ on a longest path   pale: an input or a constant"


def _render_table_text(model: Listing) -> str:
    """Return a listing as a plain text table."""
    rows, left_out_note = limit_rows(cut_cells(model.cells()), WHERE_ALL_ROWS)
    headings = [cut_text(column.heading) for column in model.columns]
    return join_nonempty(model.title, render_grid(headings, rows), left_out_note, model.note)


def _render_table_html(model: Listing) -> str:
    """Return a listing as HTML; a long one is folded after its first rows."""
    rows, left_out_note = limit_rows(cut_cells(model.cells()), WHERE_ALL_ROWS)
    headings = [cut_text(column.heading) for column in model.columns]
    return render(
        "table.html",
        model=model,
        headings=headings,
        columns=model.columns,
        rows=rows,
        numbers=_find_number_columns(rows),
        # None for a short table; a row of the model up to `model.kept` is never in the fold.
        fold=fold_rows(headings, rows, rows, kept_count=model.kept),
        left_out=left_out_note,
    )


def _find_number_columns(rows: list[list[str]]) -> list[bool]:
    """Return for each column whether all its cells are numbers, which stand at its right side.

    The first column is never a column of numbers, because it says what a row is about.
    """
    are_numbers = []
    for position, cells in enumerate(zip(*rows, strict=True)):
        has_only_numbers = all(NUMBER.fullmatch(cell) for cell in cells)
        are_numbers.append(position > 0 and has_only_numbers)
    return are_numbers


def _render_lanes_html(model: Steps) -> str:
    """Return a column for each step, with the ops that can run side by side in it.

    The ops of a longest path are marked.
    """
    lanes, left_out_note = limit_rows(model.lanes, WHERE_ALL_ROWS, "Steps")
    path = frozenset(model.path)
    return render(
        "lanes.html",
        model=model,
        lanes=lanes,
        path=path,
        legend=LONGEST_PATH,
        left_out=left_out_note,
    )


table = View(_render_table_text, _render_table_html)
lanes = View(_render_table_text, _render_lanes_html)
ledger = View(render_ledger_text, render_ledger_html)
dots = View(render_dots_text, render_dots_html)
