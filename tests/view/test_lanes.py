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
