"""helpers/view/diagram/nesting.py: branches are boxes in the box of their caller."""

from xml.etree import ElementTree

from helpers.model.bodies import BODY, nested
from helpers.model.graph import Edge, Graph, Node
from helpers.view.diagram import graph_drawing
from helpers.view.diagram.graph_drawing import svg
from helpers.view.diagram.graph_view import NUMBERED
from helpers.view.diagram.graph_view import graph as diagram
from helpers.view.picture import width
from tests.model.test_bodies import branched

SVG = "{http://www.w3.org/2000/svg}"


def frames(graph):
    """Return (class, left, top, right, bottom) of every frame, in pixels of the whole picture."""
    found = []

    def walk(element, x, y):
        for child in element:
            if child.tag == f"{SVG}g" and "transform" in child.attrib:
                right, down = child.get("transform")[10:-1].split()
                walk(child, x + float(right), y + float(down))
            elif child.get("class", "").startswith("frame"):
                left, top = x + float(child.get("x")), y + float(child.get("y"))
                wide, high = float(child.get("width")), float(child.get("height"))
                found.append((child.get("class"), left, top, left + wide, top + high))

    walk(ElementTree.fromstring(svg(graph)), 0, 0)
    return found


def test_branches_stand_beside_each_other_in_their_caller():
    caller, first, second = frames(branched())
    assert "op" in caller[0] and first[0] == second[0] == "frame body"
    assert first[3] < second[1], "side by side"
    for branch in (first, second):
        assert caller[1] < branch[1] and caller[2] < branch[2]
        assert branch[3] < caller[3] and branch[4] < caller[4]


def test_each_branch_is_named_in_picture_and_text():
    graph = branched()
    assert [words in svg(graph) for words in (">then</text>", ">else</text>")] == [True] * 2
    lines = diagram.text(graph).split("\n")
    assert lines[lines.index("  then of cond:") + 1] == "      a ──▶ b"
    assert "#1" not in diagram.text(graph), "names in two branches are no two of one name"


def test_boxes_of_one_name_are_numbered_and_that_is_said():
    graph = branched(Edge("x", "cond:else/b"))  # flat
    assert "a #2" in diagram.text(graph) and NUMBERED in diagram.text(graph)


def test_a_nest_with_a_cycle_is_drawn_flat():
    graph = branched(Edge("cond", "x"))
    assert not graph_drawing.leads_down(nested(graph))
    assert "frame" not in svg(graph).partition("</style>")[2]


def many_parts(count):
    """Return a graph whose node calls a body of many pairs that no arrow joins."""
    entry = "loop:body"
    nodes = [Node("loop", "loop", "op"), Node(entry, "body", "call", group=entry, op=BODY)]
    edges = [Edge("loop", entry, "body")]
    for n in range(count):
        pair = [f"{entry}/{n}{letter}" for letter in "ab"]
        nodes += [Node(key, f"a part of the body {key[-2:]}", "op", group=entry) for key in pair]
        edges += [Edge(entry, pair[0]), Edge(*pair)]
    return Graph("many", tuple(nodes), tuple(edges))


def test_parts_that_have_no_room_beside_each_other_flow_below_each_other():
    few, many = (svg(many_parts(count)) for count in (3, 12))
    assert width(few) < width(many) <= graph_drawing.NEST_ROOM + 2 * graph_drawing.PAD
    caller, body = frames(many_parts(12))
    assert caller[1] < body[1] and body[3] < caller[3] and body[4] < caller[4]
