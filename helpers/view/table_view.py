"""Listings, ledgers and steps -> tables: fixed-width text, or HTML to be walked by header.

Of very many rows the first and the last are shown, and the others are counted.
"""

from dataclasses import replace

from helpers.model.ledger import Entry, Ledger, Verdict
from helpers.model.listing import Listing
from helpers.model.steps import Steps
from helpers.view import View, row_limit
from helpers.view.markup import TONE_MARKS, grid, joined, render

ROWS = "the model has all of them (`.model.rows`)"
ENTRIES = "the model has all of them (`.model.entries`)"
MEANINGS = {
    "changed": "new, or not as before",
    "failed": "wrong, or an error",
    "refused": "refused",
}  # of a mark, where the ledger does not say
SHORT, LONG = 12, 32  # characters of a verdict that stand in one line
DOTS = {"plain": "○", "changed": "●", "failed": "✕"}
MOST_DOTS = 60  # rows of a matrix of dots; a longer ledger is a table
MOST_NESTED = 8  # boxes in each other; more rows are a table
NESTED = ("function", "code", "op", "cell", "tensor", "name", "frame", "object")  # their kinds
LONGEST_WAY = "▸ on a longest way   pale: an input or a constant"


def _table_text(model: Listing, room: int = row_limit.TEXT_ROOM) -> str:
    """Return the listing as a text table, title above and note below."""
    body, rest = row_limit.text_table(_headings(model), _rows(model), ROWS, room)
    return joined(model.title, body, rest, model.note)


def _table_html(model: Listing, room: int = row_limit.ROOM) -> str:
    """Return the listing as an HTML table with a caption and column headers.

    In a column of nothing but yes and no, a no is pale, and the yes stand out.
    """
    headings, rows = _headings(model), _rows(model)
    columns = enumerate(zip(*rows, strict=True))
    shown, rest = row_limit.html_rows(headings, rows, ROWS, room)
    return render(
        "table.html",
        model=model,
        headings=headings,
        columns=model.columns,
        flags={number for number, words in columns if set(words) == {"yes", "no"}},
        rows=shown,
        left_out=rest,
    )


def _headings(model: Listing) -> list[str]:
    return [row_limit.cut(column.heading) for column in model.columns]


def _rows(model: Listing) -> list[list[str]]:
    return row_limit.cut_cells(model.cells())


def _nested_html(model: Listing) -> str:
    """Return one box per row, each in the one before; its first value is its name."""
    if not 0 < len(model.rows) <= MOST_NESTED:
        return _table_html(model)
    headings = _headings(model)
    boxes = [
        {"name": row[0], "kind": kind, "says": list(zip(headings, row, strict=True))[1:]}
        for row, kind in zip(_rows(model), NESTED, strict=False)
    ]
    return render("nested.html", model=model, boxes=boxes)


def _lanes_html(model: Steps) -> str:
    """Return a column per step of a graph: what stands in one column can run side by side.

    A longest way is marked from its first node to its last; inputs and constants are paler.
    """
    part = row_limit.fold([len(lane) * 400 + 200 for lane in model.lanes])
    return render(
        "lanes.html",
        model=model,
        lanes=model.lanes[: part.head],
        path=frozenset(model.path),
        legend=LONGEST_WAY,
        left_out=row_limit.first(part.head, part.total).says(ROWS, "Steps"),
    )


# -- ledgers ---------------------------------------------------------------------------------------


def _ledger_text(model: Ledger, room: int = row_limit.TEXT_ROOM) -> str:
    """Return one row per thing tried, one verdict per heading; a mark repeats its tone."""
    headings = [model.subject, *model.headings]
    rows = [
        [e.subject, *(f"{TONE_MARKS[v.tone]} {v.word}".strip() for v in e.verdicts)]
        for e in model.entries
    ]
    if any(entry.note for entry in model.entries):
        headings.append("why")
        rows = [[*row, entry.note] for row, entry in zip(rows, model.entries, strict=True)]
    headings, *rows = row_limit.cut_cells([headings, *rows])
    body, rest = row_limit.text_table(headings, rows, ENTRIES, room)
    return joined(model.title, body, _legend(model), rest, model.note)


def _ledger_html(model: Ledger, room: int = row_limit.ROOM) -> str:
    """Return the ledger as an HTML table whose first column heads its row."""
    words = [[e.subject, e.note, *(v.word for v in e.verdicts)] for e in model.entries]
    part = row_limit.fold(row_limit.costs(words), room)
    dots = Entry("…", (Verdict(""),) * len(model.headings))
    return render(
        "ledger.html",
        model=replace(model, entries=tuple(part.of(model.entries, dots))),
        why=any(entry.note for entry in model.entries),
        own=_room_of_words(model),
        legend=_legend(model),
        left_out=part.says(ENTRIES),
    )


def _room_of_words(model: Ledger) -> int:
    """Return how long a word stands in one line, in characters.

    Where one column of words is long, beside verdicts and a why, the why gives way to it.
    """
    columns = zip(*(entry.verdicts for entry in model.entries), strict=True)
    longer = [words for words in columns if max(len(v.word) for v in words) > SHORT]
    noted = any(entry.note for entry in model.entries)
    return LONG if noted and len(longer) == 1 else SHORT


def _legend(model: Ledger) -> str:
    """Return what each mark stands for, but for those whose words all begin alike and say it."""
    words, said = {}, dict(model.marks)
    for verdict in (verdict for entry in model.entries for verdict in entry.verdicts):
        words.setdefault(verdict.tone, set()).add(verdict.word.partition(" ")[0].strip(":,"))
    return "   ".join(
        f"{TONE_MARKS[tone]} {row_limit.cut(said.get(tone, meaning))}"
        for tone, meaning in MEANINGS.items()
        if tone in said and tone in words or len(words.get(tone, ())) > 1
    )


def fits_dots(model: Ledger) -> bool:
    """Return whether dots tell all that the ledger says: a word each for as before and changed."""
    verdicts = {verdict for entry in model.entries for verdict in entry.verdicts}
    tones = [verdict.tone for verdict in verdicts]
    noted = any(entry.note for entry in model.entries)
    return not noted and len(tones) == len(set(tones)) and len(model.entries) <= MOST_DOTS


def explain_dots(model: Ledger) -> list[str]:
    """Return what each dot stands for, those first that are as before."""
    words = {v.tone: v.word for entry in model.entries for v in entry.verdicts}
    return [f"{DOTS[tone]} {words[tone]}" for tone in DOTS if tone in words]


def count_changed(model: Ledger) -> list[int]:
    """Return how many rows have changed, per heading."""
    columns = zip(*(entry.verdicts for entry in model.entries), strict=True)
    return [sum(verdict.tone == "changed" for verdict in column) for column in columns]


def dots_text(model: Ledger, columns=None) -> str:
    """Return a matrix of dots, what is as before and what changed, under what the dots are.

    `columns`: heading -> the words of each row before its dots; those of the subject if not given.
    """
    if not fits_dots(model):
        return _ledger_text(model)
    columns = columns or {model.subject: [entry.subject for entry in model.entries]}
    rows = [
        [*words, *(DOTS[verdict.tone] for verdict in entry.verdicts)]
        for words, entry in zip(zip(*columns.values(), strict=True), model.entries, strict=True)
    ]
    total = [f"{DOTS['changed']} of {len(rows)}", *[""] * (len(columns) - 1)]
    rows.append([*total, *map(str, count_changed(model))])
    body = grid([*columns, *model.headings], rows)
    return joined(model.title, "   ".join(explain_dots(model)), body, model.note)


def _dots_html(model: Ledger) -> str:
    """Return the matrix as an HTML table whose first column heads its row."""
    if not fits_dots(model):
        return _ledger_html(model)
    return render(
        "dots.html",
        model=model,
        marks=DOTS,
        legend="   ".join(explain_dots(model)),
        counts=count_changed(model),
    )


table = View(_table_text, _table_html)
nested = View(_table_text, _nested_html)
lanes = View(_table_text, _lanes_html)
ledger = View(_ledger_text, _ledger_html)
dots = View(dots_text, _dots_html)
