"""The diagram: every fact in the text, a picture that survives, and folding that says so."""

import base64
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.model.graph import Edge, Graph, Node
from helpers.view.diagram import graph_view
from helpers.view.diagram.graph_drawing import STEP, spots_across, svg
from helpers.view.diagram.graph_folding import fold
from helpers.view.diagram.graph_view import graph as diagram
from helpers.view.diagram.layered_layout import layered
from helpers.view.diagram.routing import curve_down
from helpers.view.diagram.shapes import Spot
from tests.samples import sample

NASTY = "<script>&\x00\ud800"


def chain(count, group=""):
    nodes = tuple(Node(str(i), f"node {i}", group=group) for i in range(count))
    edges = tuple(Edge(str(i), str(i + 1), "next") for i in range(count - 1))
    return Graph("a chain", nodes, edges)


def parsed(graph):
    return ElementTree.fromstring(svg(graph))


def boxes(graph):
    found = [e for e in parsed(graph).findall(".//{*}svg") if "box" in e.get("class")]
    return [tuple(float(e.get(side)) for side in ("x", "y", "width", "height")) for e in found]


def overlap(a, b):
    return a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and a[1] < b[1] + b[3] and b[1] < a[1] + a[3]


def test_text_has_a_line_per_arrow_and_every_loose_box():
    graph = Graph(
        "t", (Node("a", "A"), Node("b", "B", detail="int"), Node("c", "C")), (Edge("a", "b", "x"),)
    )
    assert diagram.text(graph).splitlines() == ["t", "  A ── x ──▶ B (int)", "  C"]


def test_html_holds_an_image_that_is_described_and_the_text():
    html = diagram.html(chain(3))
    source = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', html).group(1)
    ElementTree.fromstring(base64.b64decode(source))
    assert 'alt="a chain: 3 boxes, 2 arrows, listed below"' in html
    assert "node 0 ── next ──▶ node 1" in html


def test_a_long_label_is_cut_in_the_picture_and_whole_in_the_text():
    graph = Graph("t", (Node("a", "x" * 200),), ())
    (label,) = parsed(graph).findall(".//{*}text")
    (tip,) = parsed(graph).findall("{*}g/{*}title")
    assert len(label.text) < 60 and tip.text == "x" * 200 and "x" * 200 in diagram.text(graph)


def test_sixty_boxes_are_drawn_and_sixty_one_are_folded():
    assert len(boxes(fold(chain(60, "g")))) == 60
    folded = fold(chain(61, "g"))
    assert [node.detail for node in folded.nodes] == ["61 boxes, folded"]
    assert "61 boxes are too many" in folded.note and "Folded: g" in folded.note
    assert "node 60" in diagram.html(chain(61, "g"))


def test_what_has_no_group_is_left_out_and_counted():
    folded = fold(chain(100))
    assert len(folded.nodes) == 60 and "Left out: the last 40." in folded.note


keys = st.integers(0, 11)


@settings(deadline=None, max_examples=sample(10, 100))
@given(st.lists(st.tuples(keys, keys), max_size=30))
def test_no_two_boxes_overlap_and_all_lie_inside(pairs):
    nodes = tuple(Node(str(i), f"n{i}") for i in range(12))
    graph = Graph("t", nodes, tuple(Edge(str(a), str(b)) for a, b in pairs))
    placed, root = boxes(graph), parsed(graph)
    assert len(placed) == 12
    assert not any(overlap(a, b) for i, a in enumerate(placed) for b in placed[:i])
    assert all(x >= 0 and x + w <= float(root.get("width")) for x, _, w, _ in placed)
    assert all(y >= 0 and y + h <= float(root.get("height")) for _, y, _, h in placed)


@settings(deadline=None, max_examples=sample(10, 100))
@given(st.lists(st.tuples(keys, keys), max_size=20))
def test_the_same_graph_is_drawn_the_same_twice(pairs):
    nodes = tuple(Node(str(i), f"n{i}") for i in range(12))
    graph = Graph("t", nodes, tuple(Edge(str(a), str(b)) for a, b in pairs))
    assert svg(graph) == svg(graph)


def test_arrows_that_lead_the_same_way_are_one_with_both_labels():
    edges = (Edge("a", "b", "[0]"), Edge("a", "b", "[1]"))
    graph = Graph("t", (Node("a", "a"), Node("b", "b")), edges)
    assert "[0], [1]" in svg(graph) and svg(graph).count('class="arrow"') == 1
    assert diagram.text(graph).count("──▶") == 2


@pytest.mark.parametrize("fan", [False, True])
@pytest.mark.parametrize("step", [STEP, graph_view.LABELLED])
def test_a_label_on_a_way_down_covers_no_head(fan, step):
    start, end = Spot(0, 0, 80), Spot(200, step, 80)
    line, x, y = curve_down([start, end], fan)
    half, head, plus = 9, 11, 4
    assert start.bottom < y - half and y + half <= end.y - head - plus
    assert start.centre < x < end.centre


def test_an_arrow_over_a_layer_passes_between_the_boxes():
    nodes = tuple(Node(k, k) for k in "abc")
    graph = Graph("t", nodes, (Edge("a", "b"), Edge("b", "c"), Edge("a", "c")))
    layout = layered(graph)
    assert [len(path) for path in layout.paths] == [2, 2, 3]
    spots = spots_across(layout, dict.fromkeys("abc", 60), 70)()
    bend = spots[layout.paths[2][1]]
    assert not spots["b"].y - 16 < bend.middle < spots["b"].bottom + 16


def test_a_constant_stands_beside_its_first_reader():
    boxes = tuple(Node(k, k, "constant" if k == "k" else "op") for k in "abck")
    graph = Graph("t", boxes, (Edge("a", "b"), Edge("b", "c"), Edge("k", "c")))
    assert layered(graph).layers == (("a",), ("b", "k"), ("c",))


def test_a_deep_graph_leads_downwards_and_stays_narrow():
    root = parsed(chain(40))
    assert float(root.get("width")) < 300 < 40 * 80 < float(root.get("height"))
    tops = [y for _, y, _, _ in boxes(chain(40))]
    assert tops == sorted(tops) and len(set(tops)) == 40


@settings(deadline=None, max_examples=sample(10, 100))
@given(st.lists(st.tuples(st.integers(0, 29), st.integers(0, 29)), max_size=20))
def test_no_two_boxes_of_a_deep_graph_overlap_and_all_lie_inside(pairs):
    deep, jumps = chain(30), tuple(Edge(str(min(p)), str(max(p))) for p in pairs if p[0] != p[1])
    graph = Graph("t", (*deep.nodes, Node("x", "x" * 30)), (*deep.edges, *jumps, Edge("3", "x")))
    placed, root = boxes(graph), parsed(graph)
    assert float(root.get("height")) > 30 * 80
    assert not any(overlap(a, b) for i, a in enumerate(placed) for b in placed[:i])
    assert all(x >= 0 and x + w <= float(root.get("width")) for x, _, w, _ in placed)
