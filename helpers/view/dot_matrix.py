"""A ledger whose verdicts say only a word each -> a matrix of dots.
A *ledger* is a table with a verdict in each cell, such as `changed`. The *tone* of a verdict, such
as `good`, decides its mark. Each tone has a dot here: `●` for `changed`, `○` for `plain`.
"""

from ..model.tables import Ledger
from .ledger_table import render_ledger_html, render_ledger_text
from .markup import TONE_MARKS, render
from .plain_text import join_nonempty, render_grid

DOTS = TONE_MARKS | {"plain": "○"}
MOST_DOTS = 60  # rows of a matrix of dots; a longer ledger is a table


def can_be_dots(model: Ledger) -> bool:
    """Return whether dots tell all that a ledger says.

    They do if the ledger is short, no entry has a note, and all verdicts of a tone have the same
    word, so that a legend can explain each dot.
    """
    if len(model.entries) > MOST_DOTS:
        return False
    if any(entry.note for entry in model.entries):
        return False

    verdicts = set()  # equal verdicts, with the same word and the same tone, are in it once
    for entry in model.entries:
        verdicts.update(entry.verdicts)
    tones = {verdict.tone for verdict in verdicts}
    return len(tones) == len(verdicts)


def explain_dots(model: Ledger) -> list[str]:
    """Return the legend: each dot with its word, such as `● changed`, in the order of `DOTS`."""
    words = {}  # tone -> the word of its verdicts
    for entry in model.entries:
        for verdict in entry.verdicts:
            words[verdict.tone] = verdict.word
    return [f"{dot} {words[tone]}" for tone, dot in DOTS.items() if tone in words]


def count_changed(model: Ledger) -> list[int]:
    """Return for each heading how many entries have a verdict of the tone `changed`."""
    columns = zip(*(entry.verdicts for entry in model.entries), strict=True)
    counts = []
    for verdicts in columns:
        changed = [verdict for verdict in verdicts if verdict.tone == "changed"]
        counts.append(len(changed))
    return counts


def render_dots_text(model: Ledger, columns: dict[str, list[str]] | None = None) -> str:
    """Return a matrix of dots as text, or a table if dots would not tell all.

    `columns` are the columns before the dots: heading -> the words of each row. The default is one
    column with the subjects.
    """
    if not can_be_dots(model):
        return render_ledger_text(model)

    if columns is None:
        columns = {model.subject: [entry.subject for entry in model.entries]}
    words_by_row = zip(*columns.values(), strict=True)
    rows = []
    for words, entry in zip(words_by_row, model.entries, strict=True):
        dots = [DOTS[verdict.tone] for verdict in entry.verdicts]
        rows.append([*words, *dots])

    # The last row counts what has changed under each heading.
    blanks = [""] * (len(columns) - 1)
    counts = [str(count) for count in count_changed(model)]
    total = f"{DOTS['changed']} of {len(rows)}"
    rows.append([total, *blanks, *counts])

    headings = [*columns, *model.headings]
    matrix = render_grid(headings, rows)
    legend = "   ".join(explain_dots(model))
    return join_nonempty(model.title, legend, matrix, model.note)


def render_dots_html(model: Ledger) -> str:
    """Return a matrix of dots as HTML, or a table if dots would not tell all."""
    if not can_be_dots(model):
        return render_ledger_html(model)

    legend = "   ".join(explain_dots(model))
    counts = count_changed(model)
    return render("dots.html", model=model, marks=DOTS, legend=legend, counts=counts)
