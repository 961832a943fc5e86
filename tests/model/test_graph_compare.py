"""The diff of two graphs: each rule on the smallest pair that shows it, and no guess beyond it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.capture.tensorflow.graph_diff import compare_graphs
from helpers.model.graphs import Edge, Graph, Node


def graph(*lines):
    """Each line: `name op input input …`; the ops in, out, const and id have kinds of their own."""
    kinds = {"in": "input", "out": "output", "const": "constant", "id": "pass"}
    nodes, edges = [], []
    for line in lines:
        name, op, *inputs = line.split()
        base, _, value = op.partition("=")
        nodes.append(Node(name, name, kinds.get(base, "op"), op=base, attributes=(("v", value),)))
        edges += [Edge(source, name) for source in inputs]
    return Graph("g", tuple(nodes), tuple(edges))


def words(before, after):
    diff = compare_graphs(graph(*before), graph(*after))
    return {key: f.word for f in diff.findings for key in f.before or f.after}


X, FOLDED = "x in", "a const=2, b const=3, c mul a b, y mul x c, z out y"
TWINS, MERGED = "a sin x, b sin x, y add a b, z out y", "a sin x, y add a a, z out y"
# what the two graphs have besides x -> what becomes of the nodes of the first
RULES = {
    "the same": ("y sin x, z out y", "y sin x, z out y", "y kept, z kept"),
    "no result needs it": ("d exp x, e neg d, z out x", "z out x", "z kept, d removed, e removed"),
    "an end that is still there is a result": ("d exp x, y sin x", "y sin x", "d removed"),
    "an op on constants": (FOLDED, "c const=6, y mul x c, z out y", "a folded, b folded, c folded"),
    "a constant out of an input": ("c neg x, z out c", "c const=6, z out c", "c changed"),
    "twins": (TWINS, MERGED, "b merged"),
    "twins of twins": (
        "z out y, y add q p, q neg b, p neg a, b sin x, a sin x",
        "a sin x, p neg a, y add p p, z out y",
        "b merged, q merged, y kept",
    ),
    "an op of its own": (TWINS.replace("b sin", "b cos"), MERGED, "b changed"),
    "identity": ("t flip x, u flip t, i id u, y sin i, z out y", "y sin x, z out y", "t bypassed"),
    "a row of one op": ("t flip x, u flip t, y sin u, z out y", "y sin x, z out y", "t cancelled"),
    "a fused op": ("a sin x, b neg a, z out b", "ab sinneg x, z out ab", "a changed, ab added"),
    "new": ("z out x", "d exp x, z out x", "d added"),
}


@pytest.mark.parametrize(("before", "after", "said"), RULES.values(), ids=RULES)
def test_each_rule_on_the_smallest_pair_that_shows_it(before, after, said):
    found = words([X, *before.split(", ")], [X, *after.split(", ")])
    assert dict(each.split() for each in said.split(", ")).items() <= found.items()


def test_what_the_graphs_do_not_explain_is_called_changed():
    one, other = (graph("x in", "w in", f"y {op} x w", "z out y") for op in ("add", "mul"))
    how = compare_graphs(one, other).found("changed")[0].how
    assert re.findall("add|mul", how) == ["add", "mul"]  # what it was, and what it is
    after = words(("x in", "w in", "a sin x", "z out a"), ("x in", "w in", "z out w"))
    assert after["a"] == "changed"


def differences(before, after):
    """Each: the labels of the arrows from `a`, which has three outputs, to `b`, in order."""

    def made(labels):
        nodes = (Node("a", "a", op="split"), Node("b", "b", op="sub"))
        return Graph("g", nodes, tuple(Edge("a", "b", label) for label in labels))

    findings = compare_graphs(made(before), made(after)).findings
    return [finding.how for finding in findings if "b" in finding.before][0]


def test_another_output_of_the_same_node_is_said():
    assert differences(["", "output 1"], ["", "output 1"]) == ""
    another = differences([""], ["output 1"])
    assert another and differences(["", "output 1"], ["output 2", ""]) == another
    assert differences([""], ["control"]) == another
    turned = differences(["", "output 1"], ["output 1", ""])
    assert turned and turned != another


OPS = ["sin", "neg", "add", "const=1", "const=2", "id", "in"]


@st.composite
def dags(draw):
    lines = []
    for at in range(draw(st.integers(1, 9))):
        op = draw(st.sampled_from(OPS))
        count = 0 if at == 0 or "const" in op or op == "in" else draw(st.integers(0, 2))
        inputs = [f"n{draw(st.integers(0, at - 1))}" for _ in range(count)]
        lines.append(" ".join([f"n{at}", op, *inputs]))
    return [*lines, f"z out n{len(lines) - 1}"]


@given(dags(), dags())
def test_every_node_of_both_graphs_has_its_place(before, after):
    diff = compare_graphs(graph(*before), graph(*after))
    said = [key for finding in diff.findings for key in finding.before]
    assert sorted(said) == sorted(node.key for node in diff.before.nodes)
    there = {key for finding in diff.findings for key in finding.after}
    assert there == {node.key for node in diff.after.nodes}
