"""A ledger -> a scoreboard: one row per thing tried, one worded verdict per heading.

Of very many rows the first and the last are shown, and the others are counted.
"""

from dataclasses import replace

from helpers.model.ledger import Entry, Ledger, Verdict
from helpers.view import row_limit
from helpers.view.markup import TONE_MARKS, grid, joined, render

MEANINGS = {
    "changed": "new, or not as before",
    "failed": "wrong, or an error",
    "refused": "refused",
}  # of a mark, where the ledger does not say
SHORT, LONG = 12, 32  # characters of a verdict that stand in one line
ALL = "the model has all of them (`.model.entries`)"


def text(model: Ledger, room: int = row_limit.TEXT_ROOM) -> str:
    """Return the ledger as a text table; a mark before a word repeats its tone."""
    model = row_limit.trimmed(model)
    headings = [row_limit.cut(words) for words in (model.subject, *model.headings)]
    rows = [[entry.subject, *map(_marked, entry.verdicts)] for entry in model.entries]
    if any(entry.note for entry in model.entries):
        headings.append("why")
        rows = [[*row, entry.note] for row, entry in zip(rows, model.entries, strict=True)]
    rows = [[row_limit.cut(cell) for cell in row] for row in rows]
    part = row_limit.text_fold(headings, rows, room)
    body = grid(headings, part.of(rows, lambda: row_limit.dots(headings)))
    return joined(model.title, body, legend(model), part.says(ALL), model.note)


def html(model: Ledger, room: int = row_limit.ROOM) -> str:
    """Return the ledger as an HTML table whose first column heads its row."""
    model = row_limit.trimmed(model)
    entries = [_cut(entry) for entry in model.entries]
    words = [[e.subject, e.note, *(v.word for v in e.verdicts)] for e in entries]
    part = row_limit.fold(row_limit.costs(words), room)
    dots = Entry("…", (Verdict(""),) * len(model.headings))
    shown = replace(model, entries=tuple(part.of(entries, lambda: dots)))
    return render(
        "ledger.html",
        model=shown,
        why=any(entry.note for entry in model.entries),
        own=_own(model),
        legend=legend(model),
        left_out=part.says(ALL),
    )


def _own(model: Ledger) -> int:
    """Return how long a word stands in one line, in characters.

    Where one column of words is long, beside verdicts and a why, the why gives way to it.
    """
    columns = zip(*(entry.verdicts for entry in model.entries), strict=True)
    longer = [words for words in columns if max(len(v.word) for v in words) > SHORT]
    noted = any(entry.note for entry in model.entries)
    return LONG if noted and len(longer) == 1 else SHORT


def legend(model: Ledger) -> str:
    """Return what each mark stands for, but for those whose words all begin alike and say it."""
    words, said = {}, dict(model.marks)
    for verdict in (verdict for entry in model.entries for verdict in entry.verdicts):
        words.setdefault(verdict.tone, set()).add(verdict.word.partition(" ")[0].strip(":,"))
    return "   ".join(
        f"{TONE_MARKS[tone]} {row_limit.cut(said.get(tone, meaning))}"
        for tone, meaning in MEANINGS.items()
        if tone in said and tone in words or len(words.get(tone, ())) > 1
    )


def _cut(entry: Entry) -> Entry:
    """Return the entry; where its words are far too long for a cell, a copy with them cut."""
    if max(map(len, (entry.subject, entry.note, *(v.word for v in entry.verdicts)))) <= (
        row_limit.LONGEST_CELL
    ):
        return entry
    verdicts = tuple(replace(v, word=row_limit.cut(v.word)) for v in entry.verdicts)
    return Entry(row_limit.cut(entry.subject), verdicts, row_limit.cut(entry.note))


def _marked(verdict) -> str:
    return f"{TONE_MARKS[verdict.tone]} {verdict.word}".strip()
