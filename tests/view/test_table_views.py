"""Tables, ledgers, matrices and code: every fact in the text, the same in HTML, within a page."""

import re
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.model.file_records import File, Files
from helpers.model.guard_records import GuardLine, GuardProgram
from helpers.model.op_records import Op, OpLog
from helpers.model.side_by_side import SideBySide, align_lines
from helpers.model.tables import Column, Entry, Ledger, Listing, Verdict
from helpers.model.transcripts import Transcript, Transcripts
from helpers.view.ledger_table import MEANINGS
from helpers.view.markup import allow_breaks
from helpers.view.plain_text import WIDEST, render_grid, wrap_columns, wrap_text
from helpers.view.source_views import files as view
from helpers.view.source_views import side_by_side, transcript
from helpers.view.table_view import ledger, table
from tests.model.pairs import made_up, right_of

NASTY = "<script>alert(1)</script>&\x00\ud800\n'\""


@dataclass(frozen=True)
class Row:
    name: str
    found: bool


def listing(*names):
    columns = (Column("name", "name", code=True), Column("found", "found"))
    return Listing("title", columns, tuple(Row(name, True) for name in names), "note")


def board(word="new", tone="changed", note=""):
    return Ledger(
        "title", "route", ("after",), (Entry(NASTY, (Verdict(word, tone),), note),), "note"
    )


@pytest.mark.parametrize("view", [table.text, table.html])
def test_table_shows_every_cell_heading_title_and_note(view):
    shown = view(listing("alpha", "beta"))
    for words in ("title", "name", "found", "alpha", "beta", "yes", "note"):
        assert words in shown


TONES = "good ✓ passed", "changed ● update", "refused ⊘ quiet", "failed ✕ failed"


@pytest.mark.parametrize("told", TONES)
def test_tone_is_told_by_a_mark_and_a_colour_that_fits(told):
    tone, mark, ink = told.split()
    page = ledger.html(board(tone=tone))
    assert mark in ledger.text(board(tone=tone)) and f"{mark}&nbsp;</span>" in page
    assert f"background-color:var(--who-{ink}-fill" in page


def test_the_first_column_stays_in_sight_and_numbers_are_at_the_right():
    page = table.html(replace(listing(), rows=(Row("a", "1,200"), Row("b", "7 %"))))
    assert page.count("position:sticky;left:0") == 3 == page.count("text-align:right")
    assert ledger.html(board(note="why")).count("position:sticky;left:0") == 2


def test_cells_fit_a_narrow_page_and_each_advice_is_a_line():
    names = "█" * 30, "A_GUARD_OF_A_LONG_NAME_INDEED", "x / x.abs().max()"
    rows = *listing(*names).rows, Row("x", "`a.b_c`")
    page = table.html(replace(listing(), rows=rows, note="told\nfirst `a`\nat https://a.b/c-d"))
    drawn = (
        "width:calc(30*min(1ch,1.2vw))",
        "A_<wbr/>GUARD_<wbr/>OF_",
        "min-width:18ch",
        "<code>a.<wbr/>b_<wbr/>c</code>",
    )
    assert all(words in page for words in (*drawn, ">first <code>a</code></li>", "inline-block;t"))


def marked(*words, marks=()):
    entries = tuple(Entry(word, (Verdict(word, "changed"),)) for word in words)
    return Ledger("title", "subject", ("heading",), entries, marks=marks)


def test_a_mark_says_what_it_stands_for_where_its_words_do_not():
    for shown in (ledger.text(marked("1", "2")), ledger.html(marked("1", "2"))):
        assert f"● {MEANINGS['changed']}" in shown
    assert f'inline-block">● {MEANINGS["changed"]}</span>' in ledger.html(marked("1", "2"))
    assert MEANINGS["changed"] not in ledger.text(marked("trace", "trace, again"))
    assert MEANINGS["changed"] not in ledger.text(board())
    own = ledger.text(marked("trace", "trace, again", marks=(("changed", "own words"),)))
    assert "● own words" in own and MEANINGS["changed"] not in own


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("a_module.a_class/x", ["a_module.", "a_class/", "x"]),
        (".0=1.5, 1 // 2 ...", [".0=1.5, 1 // 2 ..."]),
        ("f.<locals>", ["f.", "&lt;locals&gt;"]),
        ("→ BINARY_OP_ADD", ["→&nbsp;BINARY_", "OP_", "ADD"]),
    ],
)
def test_a_long_name_may_go_on_after_a_joint_and_a_number_may_not(words, parts):
    assert allow_breaks(words).split("<wbr/>") == parts


WORDS = st.text("abc de-f.", max_size=300)


def widest(text):
    return max(map(len, text.split("\n")))


@given(WORDS)
def test_a_long_line_goes_on_further_in_and_keeps_its_words(line):
    found = wrap_text("  " + line)
    assert widest(found) <= WIDEST
    assert "".join(found.split()) == "".join(line.split())
    assert all(more.startswith("      ") for more in found.split("\n")[1:])


@given(st.lists(st.lists(WORDS, min_size=3, max_size=3), min_size=1, max_size=5))
def test_a_table_fits_and_keeps_what_its_cells_say(rows):
    table = render_grid(["one", "two", "three"], rows)
    assert widest(table) <= WIDEST
    _, cells = wrap_columns(["one", "two", "three"], rows)
    said = [["".join(cell.split()) for cell in row] for row in cells]
    assert said == [["".join(cell.split()) for cell in row] for row in rows]


CODE = (
    "import numpy as np\n\n\ndef forward(args):\n    '''Two\n    lines.'''\n    return args[0] * 2"
)


def test_text_numbers_the_lines_of_each_file():
    shown = Files("Two files", (File("k.py", CODE), File("d.py", "y = 2")))
    lines = view.text(shown).split("\n")
    assert "    4   def forward(args):" in lines and "d.py (1 line)" in lines
    assert "&nbsp;4&nbsp;&nbsp;&nbsp;</span>" in view.html(shown)


def pair_up(left, right, origin):
    return SideBySide("t", "yours", "made", align_lines(left, right, origin), "note")


def test_lines_stand_beside_the_lines_they_came_from():
    model = pair_up(["if a:", "    b", "else:", "    c"], ["made", "B", "C"], {2: 2, 3: 4})
    assert side_by_side.text(model).splitlines() == [
        "t",
        "yours     │ made",
        "          │   1 made",
        "  1 if a: │",
        "  2     b │   2 B",
        "  3 else: │",
        "  4     c │   3 C",
        "note",
    ]
    assert right_of(model, 2) == ("B",) and made_up(model) == ("made",)


def test_a_long_run_of_equal_lines_is_folded_where_the_model_folds(snapshot):
    lines = ["one", "two", "three", "four", "five"]
    pairs = align_lines(lines, ["new", *lines], {at + 1: at for at in range(1, 6)})
    whole = SideBySide("t", "a", "b", pairs)
    folds = replace(whole, folds=True)
    assert side_by_side.text(folds) == snapshot
    assert "three" in side_by_side.text(whole) and "three" not in side_by_side.html(folds)
    assert "… 3 " in side_by_side.html(folds)
    assert "two" in side_by_side.text(replace(folds, pairs=pairs[:-1]))  # four are a short run


SCRIPT = "<script>alert(1)</script>"
LIVED = Transcript("one", "print(1)", "1", "", 0)
DIED = Transcript("two", "", SCRIPT, f"ValueError: {SCRIPT}", -11)


def test_text_and_html_hold_every_fact():
    model = Transcripts("title", (LIVED, DIED), "note")
    for shown in (transcript.text(model), transcript.html(model)):
        for words in ("title", "one", "print(1)", LIVED.ending, DIED.ending, "note", "✕"):
            assert words and words in shown


# --- long tables are folded


def numbered(count, mark=0):
    return listing(*(f"{'● ' * (n == mark)}row {n}!" for n in range(1, count + 1)))


def called_often(count, mark=0):
    entries = (Entry(f"row {n}!", (Verdict("new", "changed" if n == mark else "plain"),), "why")
               for n in range(1, count + 1))  # fmt: skip
    return Ledger("title", "call", ("after",), tuple(entries), "note")


@pytest.mark.parametrize(("view", "make"), [(table, numbered), (ledger, called_often)])
@pytest.mark.parametrize(
    ("count", "mark", "seen"),
    [(12, 0, 12), (13, 0, 8), (60, 0, 8), (60, 3, 8), (60, 20, 20), (24, 20, 24), (60, 60, 60)],
)
def test_a_long_table_folds_after_eight_rows_or_the_last_that_is_marked(
    view, make, count, mark, seen
):
    page = view.html(make(count, mark))
    assert [f"row {n}!" in page for n in range(1, count + 1)] == [True] * count
    before, _, after = page.partition("<details")
    assert f"row {seen}!" in before and (f"row {seen + 1}!" in before) is False
    assert bool(after) == (seen < count)
    if after:
        summary = re.search("<summary.*?</summary>", page)[0]
        assert f">{count - seen} " in summary and "open" not in after.partition(">")[0]
        assert page.count('scope="col"') == 2 * before.count('scope="col"')  # both have headings
        assert re.findall("<col.*?>", before) == re.findall("<col.*?>", after)  # and one width
        assert page.count("position:sticky;left:0") == 2 + count  # the first column
    assert "<script" not in page and "note" in page


def test_the_row_that_is_the_point_stays_in_sight():
    ops = tuple(Op(n, f"op {n}!", (), (), "update" if n > 20 else "forward") for n in range(1, 61))
    column = Column("op", "op")
    before = table.html(OpLog("t", (column,), ops)).partition("<details")[0]
    assert "op 21!" in before and "op 22!" not in before
    lines = tuple(GuardLine(f"row {n}!", "", "", "refuses" if n == 15 else "holds")
                  for n in range(1, 61))  # fmt: skip
    before = table.html(GuardProgram("t", (Column("python", "p"),), lines)).partition("<details")[0]
    assert "row 15!" in before and "row 16!" not in before
    assert before.count("font-weight:700") == 1  # its one cell stands out
