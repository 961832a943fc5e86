"""Listings, ledgers and steps -> tables: fixed-width text, or HTML to be walked by header."""

from dataclasses import replace

from helpers.model.graphs import Steps
from helpers.model.tables import Ledger, Listing
from helpers.view import View
from helpers.view.markup import TONE_MARKS, cut, cut_cells, fit, grid, joined, render

ROWS = "the model has all of them (`.model.rows`)"
ENTRIES = "the model has all of them (`.model.entries`)"
MEANINGS = {"changed": "new, or not as before", "failed": "wrong, or an error"}  # of a mark,
MEANINGS["refused"] = "refused"  # where the ledger does not say
SHORT = 12  # characters of a verdict that stand in one line
DOTS = {"plain": "○", "changed": "●", "failed": "✕"}
MOST_DOTS = 60  # rows of a matrix of dots; a longer ledger is a table
LONGEST_WAY = "▸ on a longest way   pale: an input or a constant"


def _table_text(model: Listing) -> str:
    rows, rest = fit(cut_cells(model.cells()), ROWS)
    return joined(
        model.title, grid([cut(column.heading) for column in model.columns], rows), rest, model.note
    )


def _table_html(model: Listing) -> str:
    rows, rest = fit(cut_cells(model.cells()), ROWS)
    values = {
        "headings": [cut(column.heading) for column in model.columns],
        "columns": model.columns,
        "rows": rows,
    }
    return render("table.html", model=model, left_out=rest, **values)


def _lanes_html(model: Steps) -> str:
    """What stands in one column can run side by side; a longest way is marked."""
    shown, rest = fit(model.lanes, ROWS, "Steps")
    values = {"lanes": shown, "path": frozenset(model.path), "legend": LONGEST_WAY}
    return render("lanes.html", model=model, left_out=rest, **values)


def _ledger_text(model: Ledger) -> str:
    why = any(entry.note for entry in model.entries)
    rows = [[model.subject, *model.headings, *["why"] * why]]
    for entry in model.entries:
        words = (f"{TONE_MARKS[v.tone]} {v.word}".strip() for v in entry.verdicts)
        rows.append([entry.subject, *words, *[entry.note] * why])
    headings, *rows = cut_cells(rows)
    rows, rest = fit(rows, ENTRIES)
    return joined(model.title, grid(headings, rows), _legend(model), rest, model.note)


def _ledger_html(model: Ledger) -> str:
    entries, rest = fit(model.entries, ENTRIES)
    why = any(entry.note for entry in model.entries)
    values = {"why": why, "own": SHORT, "left_out": rest}
    shown = replace(model, entries=entries)
    return render("ledger.html", model=shown, legend=_legend(model), **values)


def _legend(model: Ledger) -> str:
    """Return what each mark stands for, but for those whose words all begin alike and say it."""
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
    """Return what each dot stands for, those first that are as before."""
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
