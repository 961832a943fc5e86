"""Arrows in reading order: what leads to a box is told before what leaves it, and none is lost."""

from hypothesis import given
from hypothesis import strategies as st

from helpers.model.graph import Edge
from helpers.view.diagram.graph_view import in_reading_order

EDGES = st.lists(st.builds(Edge, *[st.sampled_from("abcdef")] * 2, st.sampled_from(["", "x"])))


def ordered(*pairs):
    return [f"{e.source}{e.target}" for e in in_reading_order(tuple(Edge(*p) for p in pairs))]


def test_an_arrow_waits_for_the_last_one_that_leads_to_its_box():
    assert ordered("bc", "ab", "xb") == ["ab", "xb", "bc"]
    assert ordered("xa", "ab", "bc", "ya") == ["xa", "ya", "ab", "bc"]


def test_a_cycle_begins_with_the_first_arrow():
    assert ordered("ab", "ba", "bc", "aa") == ["ab", "ba", "bc", "aa"]


@given(EDGES)
def test_no_arrow_is_lost(edges):
    found = in_reading_order(tuple(edges))
    assert sorted(map(repr, found)) == sorted(map(repr, edges))


@given(EDGES.map(lambda edges: [e for e in edges if e.source < e.target]))
def test_without_a_cycle_nothing_leads_to_a_box_that_was_left(edges):
    left = set()
    for edge in in_reading_order(tuple(edges)):
        assert edge.target not in left
        left.add(edge.source)
