"""A ledger -> a scoreboard: one row per thing tried, one worded verdict per heading."""

from helpers.model.ledger import Ledger
from helpers.view.ink import TONE_MARKS, grid, render


def text(model: Ledger) -> str:
    """Return the ledger as a text table; a mark before a word repeats its tone."""
    headings = [model.subject, *model.headings]
    rows = [[entry.subject, *map(_marked, entry.verdicts)] for entry in model.entries]
    if any(entry.note for entry in model.entries):
        headings.append("why")
        rows = [[*row, entry.note] for row, entry in zip(rows, model.entries, strict=True)]
    parts = (model.title, grid(headings, rows), model.note)
    return "\n".join(part for part in parts if part)


def html(model: Ledger) -> str:
    """Return the ledger as an HTML table whose first column heads its row."""
    return render("ledger.html", model=model, why=any(entry.note for entry in model.entries))


def _marked(verdict) -> str:
    return f"{TONE_MARKS[verdict.tone]} {verdict.word}".strip()
