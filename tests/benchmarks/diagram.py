"""A GraphDef of 300 nodes is drawn no slower than by python-graphviz with `dot`; one run, a ratio.

Where `dot` or its Python package is missing, there is nothing to compare with.
"""

import shutil
from time import perf_counter

import pytest

from helpers.capture.tf_graphs import tf_graph
from helpers.view import diagram

tf = pytest.importorskip("tensorflow")
ROUNDS = 5


def layers_graph(count=300):
    """A GraphDef of exactly `count` nodes: layers of two branches, scopes in scopes."""
    made = tf.compat.v1.GraphDef()
    made.node.add(name="x", op="Placeholder")
    before, layer = "x", 0
    while len(made.node) < count:
        scope = f"model/layer_{layer}"
        for name, op, *inputs in (
            ("left/Sin", "Sin", before),
            ("left/Neg", "Neg", f"{scope}/left/Sin"),
            ("right/Cos", "Cos", before),
            ("right/Neg", "Neg", f"{scope}/right/Cos"),
            ("Add", "AddV2", f"{scope}/left/Neg", f"{scope}/right/Neg"),
        ):
            if len(made.node) < count:
                made.node.add(name=f"{scope}/{name}", op=op, input=inputs)
        before, layer = made.node[-1].name, layer + 1
    return made


def drawn_by_dot(graph_def):
    graphviz = pytest.importorskip("graphviz", reason="python-graphviz is not installed")
    dot = graphviz.Digraph(format="svg", graph_attr={"rankdir": "LR"})
    for node in graph_def.node:
        dot.node(node.name, f"{node.name}\n{node.op}", shape="box")
        for source in node.input:
            dot.edge(source, node.name)
    return dot.pipe()


def fastest(action):
    times = []
    for _ in range(ROUNDS):
        start = perf_counter()
        action()
        times.append(perf_counter() - start)
    return min(times)


@pytest.mark.skipif(not shutil.which("dot"), reason="dot is not installed: nothing to compare with")
def test_three_hundred_nodes_are_drawn_no_slower_than_by_dot(record_property):
    graph_def = layers_graph()
    assert len(graph_def.node) == 300
    dot = fastest(lambda: drawn_by_dot(graph_def))
    folded = fastest(lambda: diagram.html(tf_graph(graph_def))) / dot
    whole = fastest(lambda: diagram.svg(tf_graph(graph_def))) / dot
    record_property("folded_to_dot", folded)
    record_property("whole_to_dot", whole)
    print(f"folded: {folded:.2f} of dot's time; all 300 boxes: {whole:.2f}")
    assert folded <= 1 and whole <= 1


def test_the_graph_to_draw_is_what_it_says():
    graph = tf_graph(layers_graph())
    assert len(graph.nodes) == 300 and len(diagram.fold(graph).nodes) <= 60
