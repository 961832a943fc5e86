"""Steps: what could run side by side, the longest way, and cycles that have no step."""

from hypothesis import given
from hypothesis import strategies as st

from helpers.capture.tensorflow.graph_steps import list_steps
from helpers.model.graphs import Edge, Graph, Node


def graph(count, *pairs):
    nodes = tuple(Node(str(i), str(i)) for i in range(count))
    return Graph("g", nodes, tuple(Edge(str(a), str(b)) for a, b in pairs))


def test_two_branches_stand_in_one_step():
    listing = list_steps(graph(4, (0, 1), (0, 2), (1, 3), (2, 3)))
    assert [row.nodes for row in listing.rows] == ["0", "1, 2", "3"] and listing.widest == 2
    assert len(listing.path) == 3 and "0 → " in listing.note


def test_a_cycle_and_what_waits_for_it_have_no_step():
    listing = list_steps(graph(4, (0, 1), (1, 2), (2, 1), (2, 3)))
    assert listing.path == ("0",) and [row.nodes for row in listing.rows] == ["0"]
    assert "3 nodes" in listing.note


pairs = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=30)


@given(pairs)
def test_a_node_comes_one_step_after_the_last_that_it_reads(links):
    forward = [(a, b) for a, b in links if a < b]
    listing = list_steps(graph(10, *forward))
    at = {key: row.step for row in listing.rows for key in row.nodes.split(", ")}
    if " and " not in "".join(row.nodes for row in listing.rows):
        for key in map(str, range(10)):
            reads = [at[str(a)] for a, b in forward if str(b) == key]
            assert at[key] == 1 + max(reads, default=-1)
    assert len(listing.path) == len(listing.rows)
    path = [int(key) for key in listing.path]
    assert {*zip(path, path[1:], strict=False)} <= {*forward}
