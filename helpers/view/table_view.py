"""Listings, ledgers and steps -> tables: fixed-width text, or HTML to be walked by header."""

import re
from collections import namedtuple
from collections.abc import Sequence
from dataclasses import replace

from ..model.graphs import Steps
from ..model.tables import Ledger, Listing
from . import View
from .markup import TONE_MARKS, cut, cut_cells, fit, grid, joined, render

ROWS = "the model has all of them (`.model.rows`)"
ENTRIES = "the model has all of them (`.model.entries`)"
# Of a mark, where the ledger does not say.
MEANINGS = {"good": "as it should be", "changed": "new or changed", "refused": "refused"}
MEANINGS["failed"] = "wrong, or an error"
SHORT = 12  # characters of a verdict that fit on one line
DOTS = TONE_MARKS | {"plain": "○"}
MOST_DOTS = 60  # rows of a matrix of dots; a longer ledger is a table
LONG, IN_SIGHT = 12, 8  # rows of a table that is not folded; those before the fold
STANDS_OUT = tuple("●✕⊘▸▶✓✗≠")  # a cell that begins so marks its row, which is never folded
LETTER, PAD = 0.66, 1.5  # em of a letter; of the room beside a cell's words
WHOLE, WIDE, LEAST = 24, 64, 12  # letters of a cell that never breaks; em of one that does
# A long table: rows before the fold and after it, em of each column (0: a share of the rest), and
# of all of them at most and at least.
Fold = namedtuple("Fold", "first more widths most least")
NUMBER = re.compile(r"[-−+]?\d[\d.,]*\s?%?")  # a cell at the right of its column
LONGEST_WAY = "▸ on a longest path   pale: an input or a constant"


def _table_text(model: Listing) -> str:
    rows, rest = fit(cut_cells(model.cells()), ROWS)
    headings = [cut(column.heading) for column in model.columns]
    return joined(model.title, grid(headings, rows), rest, model.note)


def _table_html(model: Listing) -> str:
    rows, rest = fit(cut_cells(model.cells()), ROWS)
    headings = [cut(column.heading) for column in model.columns]
    values = {"headings": headings, "columns": model.columns, "rows": rows}
    columns = enumerate(zip(*rows, strict=True))
    values["numbers"] = [at and all(map(NUMBER.fullmatch, cells)) for at, cells in columns]
    fold = _fold(headings, rows, rows, model.kept)
    return render("table.html", model=model, left_out=rest, fold=fold, **values)


def _fold(headings: list[str], cells: list[list[str]], rows: Sequence, kept: int) -> Fold | None:
    """Return where a long table of `rows`, whose text is `cells`, is folded; None if it is not.

    In sight are eight rows, or those up to the last that is marked or one of the first `kept`.
    """
    marked = [n for n, row in enumerate(cells, 1) if any(c.startswith(STANDS_OUT) for c in row)]
    seen = max(IN_SIGHT, kept, *marked[-1:])
    if len(rows) <= max(LONG, seen + LONG - IN_SIGHT):
        return None
    longest = [max(map(len, words)) for words in zip(headings, *cells, strict=True)]
    needed = [min(round(PAD + LETTER * most, 1), WIDE) for most in longest]
    widths = [n if most <= WHOLE else 0 for n, most in zip(needed, longest, strict=True)]
    least = sum(width or LEAST for width in widths)
    return Fold(rows[:seen], rows[seen:], widths, round(sum(needed)), round(least))


def _lanes_html(model: Steps) -> str:
    """Ops in one column can run side by side; a longest path is marked."""
    shown, rest = fit(model.lanes, ROWS, "Steps")
    values = {"lanes": shown, "path": frozenset(model.path), "legend": LONGEST_WAY}
    return render("lanes.html", model=model, left_out=rest, **values)


def _ledger_cells(model: Ledger) -> list[list[str]]:
    """Return the headings, and below them the cells of every entry."""
    why = any(entry.note for entry in model.entries)
    rows = [[model.subject, *model.headings, *["why"] * why]]
    for entry in model.entries:
        words = (f"{TONE_MARKS[v.tone]} {v.word}".strip() for v in entry.verdicts)
        rows.append([entry.subject, *words, *[entry.note] * why])
    return cut_cells(rows)


def _ledger_text(model: Ledger) -> str:
    headings, *rows = _ledger_cells(model)
    rows, rest = fit(rows, ENTRIES)
    rows = [  # a note of several lines fills as many rows
        [*(cells if not at else [""] * len(cells)), line]
        for *cells, note in rows
        for at, line in enumerate(note.split("\n"))
    ]
    return joined(model.title, grid(headings, rows), _legend(model), rest, model.note)


def _ledger_html(model: Ledger) -> str:
    entries, rest = fit(model.entries, ENTRIES)
    shown = replace(model, entries=entries)
    headings, *cells = _ledger_cells(shown)
    why = len(headings) > len(model.headings) + 1
    values = {"why": why, "own": SHORT, "left_out": rest, "headings": headings}
    values["fold"] = _fold(headings, cells, entries, 0)
    return render("ledger.html", model=shown, legend=_legend(model), **values)


def _legend(model: Ledger) -> str:
    """Return what each mark means, except those whose words all begin alike and say it."""
    words, said = {}, dict(model.marks)
    for verdict in (verdict for entry in model.entries for verdict in entry.verdicts):
        words.setdefault(verdict.tone, set()).add(verdict.word.partition(" ")[0].strip(":,"))
    return "   ".join(
        f"{TONE_MARKS[tone]} {cut(said.get(tone, meaning))}"
        for tone, meaning in MEANINGS.items()
        if tone in said and tone in words or len(words.get(tone, ())) > 1
    )


def fits_dots(model: Ledger) -> bool:
    """Return whether dots tell all that the ledger says: a word each for as before and changed."""
    verdicts = {verdict for entry in model.entries for verdict in entry.verdicts}
    noted = any(entry.note for entry in model.entries) or len(model.entries) > MOST_DOTS
    return not noted and len({verdict.tone for verdict in verdicts}) == len(verdicts)


def explain_dots(model: Ledger) -> list[str]:
    """Return what each dot means, unchanged ones first."""
    words = {v.tone: v.word for entry in model.entries for v in entry.verdicts}
    return [f"{DOTS[tone]} {words[tone]}" for tone in DOTS if tone in words]


def count_changed(model: Ledger) -> list[int]:
    """Return how many rows have changed, per heading."""
    columns = zip(*(entry.verdicts for entry in model.entries), strict=True)
    return [sum(verdict.tone == "changed" for verdict in column) for column in columns]


def dots_text(model: Ledger, columns=None) -> str:
    """Return a matrix of dots; `columns`: heading -> the words before the dots."""
    if not fits_dots(model):
        return _ledger_text(model)
    columns = columns or {model.subject: [entry.subject for entry in model.entries]}
    rows = []
    for words, entry in zip(zip(*columns.values(), strict=True), model.entries, strict=True):
        rows.append([*words, *(DOTS[verdict.tone] for verdict in entry.verdicts)])
    total = [f"{DOTS['changed']} of {len(rows)}", *[""] * (len(columns) - 1)]
    rows.append([*total, *map(str, count_changed(model))])
    body = grid([*columns, *model.headings], rows)
    return joined(model.title, "   ".join(explain_dots(model)), body, model.note)


def _dots_html(model: Ledger) -> str:
    if not fits_dots(model):
        return _ledger_html(model)
    legend, counts = "   ".join(explain_dots(model)), count_changed(model)
    return render("dots.html", model=model, marks=DOTS, legend=legend, counts=counts)


table = View(_table_text, _table_html)
lanes = View(_table_text, _lanes_html)
ledger = View(_ledger_text, _ledger_html)
dots = View(dots_text, _dots_html)
