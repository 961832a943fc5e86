"""The models answer what a notebook asserts."""

import pytest

from helpers.model.graphs import Edge, Graph, Node
from helpers.model.stage_records import Panel, Step
from helpers.model.tables import Entry, Ledger, Verdict

LEDGER = Ledger(
    "t",
    "route",
    ("before", "after"),
    (
        Entry("alias", (Verdict("old"), Verdict("old"))),
        Entry("global", (Verdict("old"), Verdict("new", "changed"))),
    ),
)


def test_ledger_gives_the_word_of_a_subject_under_a_heading():
    assert LEDGER.word("global", "after") == "new"
    assert LEDGER.subjects("old", "after") == ("alias",)


@pytest.mark.parametrize(("subject", "heading"), [("nobody", "after"), ("alias", "never")])
def test_ledger_names_what_it_does_not_have(subject, heading):
    with pytest.raises((KeyError, ValueError), match="nobody|never"):
        LEDGER.word(subject, heading)


def test_graph_refuses_two_nodes_of_one_key_and_an_edge_to_nowhere():
    with pytest.raises(ValueError, match="share a key"):
        Graph("t", (Node("a", "a"), Node("a", "b")), ())
    with pytest.raises(ValueError, match="'b'"):
        Graph("t", (Node("a", "a"),), (Edge("a", "b"),))


def test_step_gives_a_panel_by_its_title():
    step = Step("s", 1, (Panel("printed", "x"),))
    assert step.panel("printed") == "x"
    with pytest.raises(KeyError, match="stack"):
        step.panel("stack")
