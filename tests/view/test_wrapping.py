"""helpers/view/diagram/wrapping.py: a layer wider than a page becomes several, all arrows down."""

from helpers.model.graph import Edge, Graph, Node
from helpers.view import picture
from helpers.view.diagram.graph_drawing import svg
from helpers.view.diagram.layered_layout import _wrapped as wrapped

WIDTHS = dict.fromkeys("abcdefr", 100)


def fan(*extra):
    """Return six boxes that one box leads to, and a last one that reads them all."""
    nodes = tuple(Node(key, f"{key} with a long name", "op", "x" * 24) for key in "sabcdefr")
    edges = [Edge("s", key) for key in "abcdef"] + [Edge(key, "r") for key in "abcdef"]
    return Graph("t", nodes, (*edges, *extra))


def test_a_layer_wraps_and_every_arrow_still_leads_down():
    layer = {"s": 0, **dict.fromkeys("abcdef", 1), "r": 2}
    found = wrapped(layer, fan(), {"s": 100, **WIDTHS}, 400)
    assert list(found) == list(layer)
    assert sorted(found.values()) == [0, 1, 1, 1, 2, 2, 2, 3]
    assert all(found[edge.source] < found[edge.target] for edge in fan().edges)


def test_what_nothing_leads_to_goes_down_nearer_to_its_reader():
    layer = {"s": 0, "c": 1, "a": 1, "b": 1, "r": 2}
    edges = Edge("s", "a"), Edge("s", "b"), Edge("a", "r"), Edge("b", "r"), Edge("c", "r")
    graph = Graph("t", tuple(Node(key, key) for key in layer), edges)
    found = wrapped(layer, graph, {"s": 100, **WIDTHS}, 250)
    assert found["c"] == 2 and found["a"] == 1 and found["r"] == 3


def test_a_tree_that_is_narrower_across_stays_across():
    nodes = [Node(f"{n}", f"leaf number {n}", "guard", "what it asks for") for n in range(14)]
    graph = Graph("t", (Node("top", "top"), *nodes), tuple(Edge("top", n.key) for n in nodes))
    drawn = svg(graph)
    assert picture.width(drawn) < 500 and drawn.count('class="arrow') >= len(nodes)
