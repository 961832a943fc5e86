"""Graphs: folding, layers, straight arrows, labels, bodies; pictures that fit a page."""

import re
from xml.etree import ElementTree

from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.model.graph_bodies import nest_bodies
from helpers.model.graphs import Edge, Graph, Node
from helpers.view.diagram import graph_drawing
from helpers.view.diagram.arrow_lines import list_points
from helpers.view.diagram.drawing import Arrow, Rectangle
from helpers.view.diagram.graph_drawing import draw_graph as svg
from helpers.view.diagram.graph_folding import fold_graph
from helpers.view.diagram.graph_view import graph as diagram
from helpers.view.diagram.label_placement import place_labels
from helpers.view.images import SMALLEST
from tests.model.test_bodies import branched
from tests.samples import sample


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


def test_a_map_of_names_ends_in_one_column_and_fits_the_page():
    nodes = (*(Node(n, n, "name") for n in "abc"), *(Node(n, n, "holder") for n in "xy"))
    ends = Node("f", "f()", "function"), Node("2", "2")
    pairs = ("ax", "by", "xf", "x2", "cf", "yx")
    edges = tuple(Edge(*pair, "a label of some length" * (pair[0] in "xy")) for pair in pairs)
    graph = Graph("names", nodes + ends, edges)
    lefts = [box[0] for box in boxes(graph)]
    assert lefts[0] == lefts[1] == lefts[2] < min(lefts[3:5])
    assert lefts[5] == lefts[6] == max(lefts)
    assert float(parsed(graph).get("width")) * SMALLEST <= graph_drawing.FITS


def test_sixty_boxes_are_drawn_and_sixty_one_are_folded():
    assert len(boxes(fold_graph(chain(60, "g")))) == 60
    folded = fold_graph(chain(61, "g"))
    assert [node.detail for node in folded.nodes] == ["61 boxes, folded"]
    assert re.findall(r"\d+", folded.note) == ["61"]
    assert "node 60" in diagram.html(chain(61, "g"))


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


def scoped(*groups, edges=()):
    nodes = tuple(Node(f"n{i}", f"node {i}", group=group) for i, group in enumerate(groups))
    return Graph("t", nodes, tuple(Edge(f"n{a}", f"n{b}") for a, b in edges))


def details(graph):
    return {node.label: node.detail for node in graph.nodes if node.kind == "group"}


def test_what_was_found_stays_out_of_the_fold_with_its_neighbours():
    graph = scoped(*["a/b"] * 100, edges=[(i, i + 1) for i in range(99)]).find("node 50")
    shown = fold_graph(graph)
    assert [node.label for node in shown.nodes if node.kind != "group"] == [
        "node 49",
        "node 50",
        "node 51",
    ]
    assert shown.found == ("n50",) and details(shown) == {"a/b": "97 boxes, folded"}
    assert "found: node 50" in diagram.text(graph) and "▸ node 50" in svg(shown)


scopes = st.lists(st.sampled_from(["a", "b", "c/"]), max_size=4).map("/".join)


@given(st.lists(scopes, min_size=1, max_size=40), st.integers(1, 30), st.data())
def test_a_fold_is_never_larger_than_asked_and_counts_every_box(groups, most, data):
    node = st.integers(0, len(groups) - 1)
    graph = scoped(*groups, edges=data.draw(st.lists(st.tuples(node, node), max_size=20)))
    shown = fold_graph(graph, most)
    assert len(shown.nodes) <= max(most, 0) or len(graph.nodes) <= most
    folded_counts = [int(n.detail.split()[0]) for n in shown.nodes if n.kind == "group"]
    counted = sum(folded_counts) + len(shown.nodes) - len(folded_counts)
    assert counted <= len(graph.nodes)
    if len(shown.nodes) < most:  # so no box is left out
        assert counted == len(graph.nodes)
    assert fold_graph(graph, most) == shown


def test_each_branch_is_named_in_picture_and_text():
    graph = branched()
    assert [words in svg(graph) for words in (">then</text>", ">else</text>")] == [True] * 2
    lines = diagram.text(graph).split("\n")
    assert lines[lines.index("  then of cond:") + 1] == "      a ──▶ b"
    assert "#1" not in diagram.text(graph), "names in two branches are no two of one name"


def test_a_nest_with_a_cycle_is_drawn_flat():
    graph = branched(Edge("cond", "x"))
    assert not graph_drawing.is_acyclic(nest_bodies(graph))
    assert "frame" not in svg(graph).partition("</style>")[2]


LINE = "M0 40 C0 70,{x} 70,{x} 96"


def arrow(x, at, plate=60, label="words"):
    return Arrow(LINE.format(x=x), label, label_x=at, label_y=66, plate_width=plate)


def test_a_label_moves_under_no_box():
    box = Rectangle(-190, 60, 60, 40)
    (moved,) = place_labels([arrow(-300, -150)], [box])
    assert (moved.label_x, moved.label_y) != (-150, 66) and not moved.is_crowded
    assert (moved.label_x, moved.label_y) in list_points(moved.line)
    (covered,) = place_labels([arrow(-300, -150)], [Rectangle(-500, 0, 1000, 200)])
    assert covered.is_crowded
