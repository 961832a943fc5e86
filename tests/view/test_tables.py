"""Table and ledger: the text has every fact, the HTML escapes them, both are the same twice."""

from dataclasses import dataclass, replace

import pytest

from helpers.model.ledger import Entry, Ledger, Verdict
from helpers.model.listing import Column, Listing
from helpers.view import ink
from helpers.view.markup import jointed
from helpers.view.table_view import ledger, table

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


def test_text_keeps_a_row_on_one_line():
    assert len(table.text(listing("a\nb")).splitlines()) == 5
    assert "a\\nb" in table.text(listing("a\nb"))


def test_backticks_make_code_of_words_and_stay_in_code():
    shown = Listing("t", listing().columns, (Row("`a`", "call `f()`"),))
    assert "call <code>f()</code>" in table.html(shown) and "`a`" in table.html(shown)


@pytest.mark.parametrize(("tone", "mark"), [("changed", "●"), ("failed", "✕")])
def test_tone_is_told_by_a_mark_and_not_by_colour_alone(tone, mark):
    assert mark in ledger.text(board(tone=tone)) and mark in ledger.html(board(tone=tone))


def test_why_is_a_column_only_where_there_is_one():
    assert "why" not in ledger.text(board()) and "why" in ledger.text(board(note="because"))


def marked(*words, marks=()):
    entries = tuple(Entry(word, (Verdict(word, "changed"),)) for word in words)
    return Ledger("title", "subject", ("heading",), entries, marks=marks)


def test_a_mark_says_what_it_stands_for_where_its_words_do_not():
    for shown in (ledger.text(marked("1", "2")), ledger.html(marked("1", "2"))):
        assert "● new, or not as before" in shown
    assert "not as before" not in ledger.text(marked("trace", "trace, again"))
    assert "not as before" not in ledger.text(board())


def test_a_ledger_may_say_what_its_marks_stand_for():
    told = marked("1", marks=(("changed", "<fewer>"), ("failed", "never here")))
    assert "● <fewer>" in ledger.text(told) and "● &lt;fewer&gt;" in ledger.html(told)
    assert "never here" not in ledger.text(told) + ledger.html(told)


def test_a_no_is_pale_where_a_column_says_nothing_but_yes_and_no():
    columns = Column("name", "name"), Column("found", "found")
    both = Listing("title", columns, (Row("no", True), Row("b", False)))
    pale = f'color:{ink.PALE}">no</td>'
    assert table.html(both).count(pale) == 1
    assert pale not in table.html(Listing("title", columns, both.rows[1:]))


def test_short_arguments_stand_in_one_line_and_the_why_gives_way():
    call = "float32 [3], 2, ['a', 'b']"
    entry = Entry("1", (Verdict(call), Verdict("hit")), "a why")
    made = Ledger("title", "call", ("arguments", "verdict"), (entry,))
    assert ledger.html(made).count("white-space:nowrap") > ledger.html(
        replace(made, entries=(replace(entry, note=""),))
    ).count("white-space:nowrap")


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
    assert jointed(words).split("<wbr/>") == parts
