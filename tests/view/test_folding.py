"""Folding: the deepest and largest scopes first, what was found stays, and the note says it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.model.graph import Edge, Graph, Node
from helpers.view.diagram import graph as diagram
from helpers.view.diagram.folding import fold
from tests.benchmarks.diagram import layers_graph


def scoped(*groups, edges=()):
    nodes = tuple(Node(f"n{i}", f"node {i}", group=group) for i, group in enumerate(groups))
    return Graph("t", nodes, tuple(Edge(f"n{a}", f"n{b}") for a, b in edges))


def details(graph):
    return {node.label: node.detail for node in graph.nodes if node.kind == "group"}


def test_the_deepest_scopes_fold_first_and_the_largest_of_them():
    graph = scoped(*["a/b/c"] * 5, *["a/b/d"] * 3, *["e"] * 40)
    assert details(fold(graph, 44)) == {"a/b/c": "5 boxes, folded"}
    assert details(fold(graph, 43)) == {"a/b/c": "5 boxes, folded", "a/b/d": "3 boxes, folded"}


def test_an_outer_scope_swallows_the_inner_ones_and_counts_them_all():
    graph = scoped(*["a/b"] * 5, *["a/c"] * 4, "a", "x")
    assert details(fold(graph, 2)) == {"a": "10 boxes, folded"}
    assert "Folded: a." in fold(graph, 2).note


def test_a_scope_of_very_many_scopes_folds_to_runs_of_neighbours():
    groups = [f"net/layer{i}" for i in range(100) for _ in range(3)]
    shown = details(fold(scoped(*groups)))
    assert shown["net/layer0 … layer6"] == "21 boxes, folded" and len(shown) == 15
    assert set(details(fold(scoped(*groups), 7))) == {"net"}


def test_arrows_inside_a_fold_are_gone_and_arrows_out_of_it_lead_from_the_box():
    graph = scoped(*["a"] * 3, "", "", edges=[(0, 1), (1, 2), (2, 3), (3, 4)])
    assert [(e.source, e.target) for e in fold(graph, 3).edges] == [("group a", "n3"), ("n3", "n4")]


def test_what_was_found_stays_out_of_the_fold_with_its_neighbours():
    graph = scoped(*["a/b"] * 100, edges=[(i, i + 1) for i in range(99)]).find("node 50")
    shown = fold(graph)
    assert [node.label for node in shown.nodes if node.kind != "group"] == [
        "node 49",
        "node 50",
        "node 51",
    ]
    assert shown.found == ("n50",) and details(shown) == {"a/b": "97 boxes, folded"}
    assert "found: node 50" in diagram.text(graph) and "▸ node 50" in diagram.svg(shown)


def test_too_many_finds_are_counted():
    graph = scoped(*["a"] * 100).find("node")
    assert "The first 20 of 100 found" in fold(graph).note and len(fold(graph).nodes) == 21


def test_the_text_starts_with_the_folded_form_and_counts_what_is_beyond_it():
    graph = scoped(*["a"] * 300, edges=[(i, i + 1) for i in range(299)])
    lines = diagram.text(graph).splitlines()
    assert lines[:2] == ["t", "  a (300 boxes, folded)"] and "Arrow by arrow:" in lines
    assert lines[-1] == "… and 199 more lines; the model has them all."


scopes = st.lists(st.sampled_from(["a", "b", "c/"]), max_size=4).map("/".join)


@given(st.lists(scopes, min_size=1, max_size=40), st.integers(1, 30), st.data())
def test_a_fold_is_never_larger_than_asked_and_counts_every_box(groups, most, data):
    node = st.integers(0, len(groups) - 1)
    graph = scoped(*groups, edges=data.draw(st.lists(st.tuples(node, node), max_size=20)))
    shown = fold(graph, most)
    assert len(shown.nodes) <= max(most, 0) or len(graph.nodes) <= most
    if "Left out" not in shown.note:
        inside = [int(n.detail.split()[0]) for n in shown.nodes if n.kind == "group"]
        assert sum(inside) + len(shown.nodes) - len(inside) == len(graph.nodes)
    assert fold(graph, most) == shown


def test_a_graph_def_of_three_hundred_nodes_folds_to_what_one_sees_at_once():
    pytest.importorskip("tensorflow")
    from helpers.capture.tensorflow.tf_graph import tf_graph

    graph = tf_graph(layers_graph(300))
    assert len(graph.nodes) == 300 and len(fold(graph).nodes) <= 60
