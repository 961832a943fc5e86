"""A graph that fits a page: a picture per run, as narrow as can be, and the text form below."""

import base64
import re

from helpers.model.graph import Edge, Graph, Node
from helpers.model.op_log import AGAIN, together
from helpers.view.diagram.graph_view import figures

NASTY = "<script>alert(1)</script>"


def chain(length: int, label: str = "op") -> Graph:
    nodes = tuple(Node(f"n{n}", f"{n} {label}") for n in range(length))
    edges = tuple(Edge(f"n{n}", f"n{n + 1}") for n in range(length - 1))
    return Graph("chain", nodes, (*edges, Edge("n0", f"n{length - 1}", AGAIN)))


def pictures(html: str) -> list[str]:
    return [base64.b64decode(found).decode() for found in re.findall(r"base64,([^\"]+)", html)]


def test_a_long_chain_is_narrow_and_its_marked_arrow_is_thick():
    (picture,) = pictures(figures.html(chain(9)))
    assert int(re.search(r'width="(\d+)"', picture)[1]) < 300
    assert picture.count('class="arrow again"') == 1 and AGAIN in picture


def test_boxes_of_one_layer_stand_apart():
    leaves = tuple(Node(f"leaf {n}", "x" * (4 + 9 * n)) for n in range(5))
    graph = Graph(
        "fan", (Node("root", "root"), *leaves), tuple(Edge("root", n.key) for n in leaves)
    )
    (picture,) = pictures(figures.html(graph))
    boxes = re.findall(r'<svg class="box[^"]*" x="(\d+)" y="(\d+)" width="(\d+)"', picture)
    low = sorted((int(y), int(x), int(x) + int(width)) for x, y, width in boxes if int(y) > 20)
    rows = {y: [one for one in low if one[0] == y] for y, _, _ in low}  # too wide a layer wraps
    assert len(low) == 5 and max(map(len, rows.values())) > 1
    for row in rows.values():
        assert all(a[2] < b[1] for a, b in zip(row, row[1:], strict=False))


def test_runs_stand_in_pictures_of_their_own_under_their_names():
    both = together("both", {"one": chain(3), NASTY: chain(4)})
    html = figures.html(both)
    assert len(pictures(html)) == 2 and "<figcaption" in html and ">one<" in html
    assert "<script" not in html and AGAIN in figures.text(both)


def test_nothing_to_draw_is_no_picture():
    assert "<img" not in figures.html(Graph("empty", (), ()))
