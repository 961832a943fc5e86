"""A ledger -> a table with a line for each entry and a mark with each verdict.
An *entry* has a subject, a verdict for each heading, and maybe a note. A *verdict* is a word with a
*tone*, such as `good` or `failed`, which decides its mark: `✓`, `✕`.
"""

from dataclasses import replace

from ..model.tables import Entry, Ledger
from .ceilings import cut_cells, cut_text, limit_rows
from .markup import TONE_MARKS, render
from .plain_text import join_nonempty, render_grid
from .table_folding import fold_rows

WHERE_ALL_ENTRIES = "the model has all of them (`.model.entries`)"
SHORT_VERDICT = 12  # characters of a verdict that fit on one line
NOTE_HEADING = "why"

# Tone -> what its mark means, if the ledger itself does not say it.
MEANINGS = {
    "good": "as it should be",
    "changed": "new or changed",
    "refused": "refused",
    "failed": "wrong, or an error",
}


def render_ledger_text(model: Ledger) -> str:
    """Return a ledger as a plain text table."""
    headings, *rows = _list_ledger_cells(model)
    shown, left_out_note = limit_rows(rows, WHERE_ALL_ENTRIES)
    lines = []
    for row in shown:
        lines += _split_note(row)
    table = render_grid(headings, lines)
    return join_nonempty(model.title, table, _explain_tones(model), left_out_note, model.note)


def render_ledger_html(model: Ledger) -> str:
    """Return a ledger as HTML; the last rows of a long one are in a fold."""
    entries, left_out_note = limit_rows(model.entries, WHERE_ALL_ENTRIES)
    shown = replace(model, entries=entries)
    headings, *cells = _list_ledger_cells(shown)
    return render(
        "ledger.html",
        model=shown,
        headings=headings,
        fold=fold_rows(headings, cells, entries, kept_count=0),  # None for a short ledger
        why=_has_notes(shown),  # whether there is a column of notes
        own=SHORT_VERDICT,
        legend=_explain_tones(model),
        left_out=left_out_note,
    )


def _has_notes(model: Ledger) -> bool:
    """Return whether some entry has a note, which needs a column."""
    return any(entry.note for entry in model.entries)


def _list_ledger_cells(model: Ledger) -> list[list[str]]:
    """Return the headings as the first row, and below them the cells of every entry, all cut.

    The last column has the notes of the entries. It is left out if no entry has one.
    """
    has_notes = _has_notes(model)
    headings = [model.subject, *model.headings]
    if has_notes:
        headings.append(NOTE_HEADING)

    rows = [headings]
    for entry in model.entries:
        row = _list_entry_cells(entry)
        if has_notes:
            row.append(entry.note)
        rows.append(row)
    return cut_cells(rows)


def _list_entry_cells(entry: Entry) -> list[str]:
    """Return the subject of an entry, and its verdicts, each after its mark."""
    row = [entry.subject]
    for verdict in entry.verdicts:
        mark = TONE_MARKS[verdict.tone]
        row.append(f"{mark} {verdict.word}".strip())
    return row


def _split_note(row: list[str]) -> list[list[str]]:
    """Return a row for each line of the note, which is the last cell of `row`.

    The other cells stand in the first of these rows, and are empty in the others.
    """
    *cells, note = row
    first_line, *other_lines = note.split("\n")
    blanks = [""] * len(cells)
    return [[*cells, first_line], *([*blanks, line] for line in other_lines)]


def _explain_tones(model: Ledger) -> str:
    """Return the legend: what the marks of the tones in this ledger mean.

    A mark is left out if all its verdicts begin with the same word, such as `failed: …`, because
    the word explains the mark. A mark to which the ledger itself gives a meaning is not left out.
    """
    first_words_by_tone = {}  # tone -> the first words of its verdicts
    for entry in model.entries:
        for verdict in entry.verdicts:
            first_word = verdict.word.partition(" ")[0].strip(":,")
            first_words_by_tone.setdefault(verdict.tone, set()).add(first_word)

    meanings_of_ledger = dict(model.marks)
    explanations = []
    for tone, usual_meaning in MEANINGS.items():
        first_words = first_words_by_tone.get(tone, set())
        is_explained_by_ledger = tone in meanings_of_ledger and len(first_words) > 0
        if is_explained_by_ledger or len(first_words) > 1:
            meaning = meanings_of_ledger.get(tone, usual_meaning)
            explanations.append(f"{TONE_MARKS[tone]} {cut_text(meaning)}")
    return "   ".join(explanations)
