"""A GraphDef of 300 nodes is drawn no slower than by python-graphviz with `dot`."""

from functools import partial
from time import perf_counter

from helpers.capture.tensorflow.tf_graph import tf_graph
from helpers.view.diagram.graph_view import graph
from tests.benchmarks.harness import Goal, needs


def goals():
    needs("tensorflow", "graphviz", program="dot")
    graph_def = layers_graph(300)
    dot = partial(drawn_by_dot, graph_def)
    for name, draw in {"folded": graph.html, "all boxes": graph.svg}.items():
        ours = partial(drawn, draw, graph_def)
        yield Goal(f"300 nodes, {name}", ours, "dot", dot, at_most=1, rounds=7, clock=perf_counter)


def drawn(draw, graph_def):
    return draw(tf_graph(graph_def))


def drawn_by_dot(graph_def):
    import graphviz

    dot = graphviz.Digraph(format="svg", graph_attr={"rankdir": "LR"})
    for node in graph_def.node:
        dot.node(node.name, f"{node.name}\n{node.op}", shape="box")
        for source in node.input:
            dot.edge(source, node.name)
    return dot.pipe()


def layers_graph(count):
    """Return a GraphDef of exactly `count` nodes: layers of two branches, scopes in scopes."""
    import tensorflow as tf

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
