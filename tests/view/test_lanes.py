"""Steps as columns: each node once, the longest way marked, what is left out counted."""

import re

from helpers.capture.tensorflow.graph_steps import steps
from helpers.model.graph import Edge, Graph, Node
from helpers.view.table_view import lanes

KINDS = {"x": "input", "k": "constant"}


def graph(*pairs):
    names = dict.fromkeys(name for pair in pairs for name in pair)
    nodes = tuple(Node(name, name, KINDS.get(name, "op")) for name in names)
    return Graph("g", nodes, tuple(Edge(*pair) for pair in pairs))


def columns(html):
    cells = html.split("<td")[1:]
    return [re.findall(r">([^<>\n]+)</div>", cell) for cell in cells]


def test_each_step_is_a_column_and_the_longest_way_is_marked():
    found = steps(graph(("x", "a"), ("x", "b"), ("a", "c"), ("b", "c"), ("k", "c")))
    assert [set(column) for column in columns(lanes.html(found))] == [
        {"▸ x", "k"},
        {"a", "▸ b"} if "b" in found.path else {"▸ a", "b"},
        {"▸ c"},
    ]


def test_of_many_nodes_the_first_are_drawn_and_the_others_counted():
    html = lanes.html(steps(graph(*(("x", f"n{n}") for n in range(30)))))
    _, many = columns(html)
    assert len(many) == 9 and many[-1] == "and 22 more"


def test_hostile_names_stay_names():
    html = lanes.html(steps(graph(("<script>", "b\x00"))))
    assert "<script" not in html and "\x00" not in html


def test_the_text_is_the_table_of_steps():
    assert "side by side" in lanes.text(steps(graph(("x", "a"))))


def test_the_mark_of_the_longest_way_is_explained():
    assert "▸ on a longest way" in lanes.html(steps(graph(("x", "a"))))
