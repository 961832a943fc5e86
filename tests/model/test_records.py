"""The models answer what a notebook asserts."""

import pytest

from helpers.model.graphs import Edge, Graph, Node
from helpers.model.stage_records import Panel, Step
from helpers.model.tables import Entry, Ledger, Verdict

OLD, NEW = Verdict("old"), Verdict("new", "changed")
ENTRIES = Entry("alias", (OLD, OLD)), Entry("global", (OLD, NEW))
LEDGER = Ledger("t", "route", ("before", "after"), ENTRIES)


def test_ledger_gives_the_word_of_a_subject_under_a_heading():
    assert LEDGER.word("global", "after") == "new"
    assert LEDGER.subjects("old", "after") == ("alias",)


@pytest.mark.parametrize(("subject", "heading"), [("nobody", "after"), ("alias", "never")])
def test_ledger_names_what_it_does_not_have(subject, heading, refused):
    refused((KeyError, ValueError), "nobody|never", LEDGER.word, subject, heading)


def test_graph_refuses_two_nodes_of_one_key_and_an_edge_to_nowhere(refused):
    refused(ValueError, "share a key", Graph, "t", (Node("a", "a"), Node("a", "b")), ())
    refused(ValueError, "'b'", Graph, "t", (Node("a", "a"),), (Edge("a", "b"),))


def test_step_gives_a_panel_by_its_title(refused):
    step = Step("s", 1, (Panel("printed", "x"),))
    assert step.panel("printed") == "x"
    refused(KeyError, "stack", step.panel, "stack")
