"""helpers/view/diagram/union.py: one picture of all moments; what does not move keeps its place."""

from xml.etree import ElementTree

from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.model.graphs import Edge, Graph, Node
from helpers.view.diagram import animated_graph
from helpers.view.diagram.animated_graph import animated_graph as picture
from tests.samples import sample

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "<img src=x onerror=alert(1)></svg><script>&\"'"


def names(**targets):
    """Return the graph of names that lead to objects, each told by its word."""
    nodes = [Node(f"name {name}", name, "name") for name in targets]
    nodes += [Node(word, word, "function", "function") for word in dict.fromkeys(targets.values())]
    edges = [Edge(f"name {name}", word) for name, word in targets.items()]
    return Graph("", tuple(nodes), tuple(edges))


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


def boxes(graphs):
    """Return left, top, right and bottom of each box, which are its spot's."""
    union = animated_graph.Union(graphs)
    _, spots = animated_graph.place_union(union)
    return [(s.x, s.y, s.right, s.bottom) for s in (spots[key] for key in union.boxes)]


def test_an_arrow_that_moves_leaves_a_ghost_for_one_moment():
    drawn = picture([names(a="f", b="f"), names(a="g", b="f"), names(a="g", b="f")])
    assert told(drawn, 0)["a refers to f function"] == "shown"
    assert told(drawn, 1)["a refers to f function"] == "ghost"
    assert told(drawn, 1)["a refers to g function"] == "new"
    assert told(drawn, 1)["b refers to f function"] == "shown"
    assert "a refers to f function" not in told(drawn, 2)
    assert told(drawn, 2)["a refers to g function"] == "shown"


def test_hostile_words_stay_words():
    graph = Graph(HOSTILE, (Node("a", HOSTILE, HOSTILE, HOSTILE),), (Edge("a", "a", HOSTILE),))
    drawn = picture([graph], HOSTILE)
    assert "<img" not in drawn.svg and "<script" not in drawn.svg
    assert drawn.svg.count("</svg>") == 1
    parsed(drawn)


moments = st.lists(
    st.dictionaries(st.sampled_from("abcdef"), st.sampled_from("uvwxyz")), max_size=6
)


@settings(deadline=None, max_examples=sample(10, 60))
@given(moments.filter(any))
def test_no_two_boxes_overlap_and_all_lie_inside(targets):
    graphs = [names(**found) for found in targets]
    drawn = picture(graphs)
    width, height = (float(parsed(drawn).get(side)) for side in ("width", "height"))
    placed = boxes(graphs)
    for number, (left, top, right, bottom) in enumerate(placed):
        assert left >= 0 and top >= 0 and right <= width and bottom <= height
        for other in placed[:number]:
            beside = right <= other[0] or other[2] <= left
            assert beside or bottom <= other[1] or other[3] <= top
