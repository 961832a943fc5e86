"""A ledger of two words -> a matrix of dots: what is as before is ○, what changed is ●.

Below it stands how many there are in each column. A ledger of more words, or with a note on each
row, is shown as `view/ledger` shows it.
"""

from helpers.model.ledger import Ledger
from helpers.view import ledger, row_limit
from helpers.view.markup import grid, joined, render

MARKS = {"plain": "○", "changed": "●", "failed": "✕"}
MOST = 60  # rows of a matrix; a longer ledger is a table


def text(model: Ledger) -> str:
    """Return the matrix as a text table under a line that says what the dots are."""
    if not fits(model):
        return ledger.text(model)
    headings = [model.subject, *model.headings]
    rows = [[e.subject, *(MARKS[v.tone] for v in e.verdicts)] for e in model.entries]
    rows.append([f"{MARKS['changed']} of {len(model.entries)}", *map(str, counts(model))])
    return joined(model.title, legend(model), grid(headings, rows), model.note)


def html(model: Ledger) -> str:
    """Return the matrix as an HTML table whose first column heads its row."""
    if not fits(model):
        return ledger.html(model)
    return render(
        "dots.html",
        model=row_limit.trimmed(model),
        marks=MARKS,
        legend=legend(model),
        counts=counts(model),
    )


def fits(model: Ledger) -> bool:
    """Return whether dots tell all that the ledger says: a word each for as before and changed."""
    verdicts = {verdict for entry in model.entries for verdict in entry.verdicts}
    tones = [verdict.tone for verdict in verdicts]
    noted = any(entry.note for entry in model.entries)
    return not noted and len(tones) == len(set(tones)) and len(model.entries) <= MOST


def legend(model: Ledger) -> str:
    """Return what each dot stands for, those first that are as before."""
    words = {v.tone: v.word for entry in model.entries for v in entry.verdicts}
    return "   ".join(f"{MARKS[tone]} {words[tone]}" for tone in MARKS if tone in words)


def counts(model: Ledger) -> list[int]:
    """Return how many rows have changed, per heading."""
    columns = zip(*(entry.verdicts for entry in model.entries), strict=True)
    return [sum(verdict.tone == "changed" for verdict in column) for column in columns]
