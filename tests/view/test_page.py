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


def test_runs_stand_in_pictures_of_their_own_under_their_names():
    both = together("both", {"one": chain(3), NASTY: chain(4)})
    html = figures.html(both)
    assert len(pictures(html)) == 2 and "<figcaption" in html and ">one<" in html
    assert "<script" not in html and AGAIN in figures.text(both)
