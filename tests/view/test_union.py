"""One animated picture of all moments: what does not move keeps its place."""

from dataclasses import replace
from xml.etree import ElementTree

from helpers.model.graphs import Edge, Graph, Node
from helpers.view.diagram.animated_graph import COLUMN_GAP, place_union
from helpers.view.diagram.animated_graph import draw_animated_graph as picture
from helpers.view.diagram.graph_union import GraphUnion

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "<img src=x onerror=alert(1)></svg><script>&\"'"


def names(**targets):
    """Return the graph of names that lead to objects, each told by its word."""
    nodes = [Node(f"name {name}", name, "name") for name in targets]
    nodes += [Node(word, word, "function", "function") for word in dict.fromkeys(targets.values())]
    edges = [Edge(f"name {name}", word) for name, word in targets.items()]
    return Graph("", tuple(nodes), tuple(edges))


def bound(**targets):
    """Return the same graph with a label on each arrow."""
    graph = names(**targets)
    return replace(graph, edges=tuple(replace(edge, label="is") for edge in graph.edges))


def parsed(drawn):
    return ElementTree.fromstring(drawn.svg)


def keys(drawn):
    """Return data-key -> the words of the part, an arrow's being those for a screen reader."""
    groups = [g for g in parsed(drawn).iter(f"{SVG}g") if g.get("data-key")]
    said = {}
    for group in groups:
        words = group.get("data-words") or " ".join(filter(None, map(str.strip, group.itertext())))
        said.setdefault(group.get("data-key"), words)
    return said


def told(drawn, moment):
    """Return the words of what is there, with their state."""
    said = keys(drawn)
    return {said[key]: state for key, state in drawn.states[moment].items()}


def test_an_arrow_that_moves_leaves_a_ghost_for_one_moment():
    drawn = picture([bound(a="f", b="f"), bound(a="g", b="f"), bound(a="g", b="f")])
    assert told(drawn, 0)["a is f function"] == "shown"
    assert told(drawn, 1)["a is f function"] == "ghost"
    assert told(drawn, 1)["a is g function"] == "new"
    assert told(drawn, 1)["b is f function"] == "shown"
    assert "a is f function" not in told(drawn, 2)
    assert told(drawn, 2)["a is g function"] == "shown"


def test_a_label_takes_room_after_its_own_column_and_covers_no_box():
    graph = names(a="f", b="g")
    edges = *graph.edges, Edge("f", "f", "closure original"), Edge("f", "g")
    graphs = [Graph("", graph.nodes, edges)]
    name, first, last = map(place_union(GraphUnion(graphs))[1].get, ("name a", "f", "g"))
    assert first.x - name.right == COLUMN_GAP < last.x - first.right
    (plate,) = parsed(picture(graphs)).iter(f"{SVG}rect")
    left, wide = (int(plate.get(side)) for side in ("x", "width"))
    assert first.right < left < left + wide < last.x


def test_hostile_words_stay_words():
    graph = Graph(HOSTILE, (Node("a", HOSTILE, HOSTILE, HOSTILE),), (Edge("a", "a", HOSTILE),))
    drawn = picture([graph], HOSTILE)
    assert "<img" not in drawn.svg and "<script" not in drawn.svg
    assert drawn.svg.count("</svg>") == 1
    parsed(drawn)
