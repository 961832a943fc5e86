"""Nothing -> twenty graphs of the course, as its verbs make them."""

import functools
from collections.abc import Iterator

from helpers.model.graph import Edge, Graph, Node


def graphs() -> Iterator[tuple[str, Graph]]:
    """Yield a name and a graph; torch and TensorFlow are needed."""
    yield from _names()
    yield from _fx()
    yield from _tensorflow()
    yield from _others()


def _names():
    import helpers
    from helpers.capture.references.name_timeline import names_timeline

    for name, fn in {"a tangle": _tangle, "lists of lists": _nested, "holders": _holders}.items():
        yield f"names: {name}", names_timeline(fn).steps[-1].panel("names and objects")
    yield "names: places that hold it", helpers.show_binding_map(_nested).model


def _tangle():
    def old(): ...

    def new(): ...

    op, table = old, {"op": old}
    alias, shared, copied = op, table, dict(table)

    def by_default(call=op): ...

    def by_name():
        return op()

    op = table["op"] = new
    return alias, by_default, by_name, shared, copied


def _nested():
    a = [1, 2]
    b = [a, a]
    c = {"a": a, "b": b}
    d = (c, a, "x")
    return d


def _holders():
    def op(): ...

    @functools.wraps(op)
    def wrapper():
        return op()

    class Layer:
        fn = op

    layer = Layer()
    layer.op = op
    table, partial, bound = {"op": op, "wrapper": wrapper}, functools.partial(op), layer.fn
    return table, partial, bound


def _fx():
    import torch
    from torch.fx import symbolic_trace

    from helpers.capture.torch.fx_graph import fx_graph

    def residual(x):
        for _ in range(4):
            x = x + torch.relu(x.sin() * x.cos())
        return x

    def attention(q, k, v):
        scores = torch.softmax(q @ k.transpose(0, 1) / 8, 1)
        return scores @ v + q, scores

    def tree(a, b, c, d):
        return ((a + b) * (c + d)).sum() + (a * d - b * c).sum()

    def fan(x):
        return torch.stack([x + 1, x * 2, x.sin(), x.cos(), x.exp(), x.abs()]).sum()

    def lstm(x, h, c, w):
        parts = torch.chunk(x @ w + h, 4)
        i, f, o, g = (torch.sigmoid(parts[number]) for number in range(4))
        c = f * c + i * g
        return o * torch.tanh(c), c

    for fn in (residual, attention, tree, fan, lstm):
        yield f"fx: {fn.__name__}", fx_graph(symbolic_trace(fn))


def _tensorflow():
    import tensorflow as tf

    from helpers.capture.tensorflow.tf_graph import tf_graph
    from tests.benchmarks.diagram import layers_graph

    @tf.function
    def loop(x):
        while x < 9.0:
            x = x * 2.0 + 1.0
        return x

    @tf.function
    def training(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(tf.nn.relu(x * 2.0) ** 2)
        return tape.gradient(loss, x)

    @tf.function
    def branches(x):
        return x + 1.0 if tf.reduce_sum(x) > 0.0 else x - tf.cos(x)

    @tf.function
    def dense(x):
        for width in (4, 3):
            x = tf.nn.tanh(x @ tf.ones((x.shape[1], width)) + tf.zeros((width,)))
        return tf.nn.softmax(x)

    argument = tf.TensorSpec((2, 2))
    for fn, given in ((loop, tf.TensorSpec(())), (training, argument), (branches, argument)):
        yield f"tf: {fn.__name__}", tf_graph(fn.get_concrete_function(given).graph)
    yield "tf: dense", tf_graph(dense.get_concrete_function(argument).graph)
    for count in (30, 300):
        yield f"tf: {count} nodes in layers", tf_graph(layers_graph(count))


def _others():
    import torch

    import helpers

    x = torch.ones(3, requires_grad=True)
    y = x.sin() * x.cos() + x
    yield "grad_fn", helpers.show_grad_fn((y * y.exp()).sum()).model
    yield "the evaluator", helpers.show_evaluator(_nested).model
    log = helpers.watch_ops(lambda: torch.relu(torch.ones(3) @ torch.ones(3, 2)) + 1).model
    yield "ops that ran", helpers.show_op_graph("ops", log=log).model
    seeds = ((0, 1), (0, 2), (1, 3), (2, 3), (1, 4), (2, 5), (3, 6), (4, 6), (5, 6), (0, 6), (3, 7))
    nodes = tuple(Node(str(number), f"box {number}") for number in range(8))
    yield "a small net", Graph("net", nodes, tuple(Edge(str(a), str(b)) for a, b in seeds))
    wide = [(a, b) for a in range(6) for b in range(6, 12) if (a * 7 + b * 5) % 4 == 0]
    nodes = tuple(Node(str(number), f"box {number}") for number in range(12))
    yield "two columns", Graph("net", nodes, tuple(Edge(str(a), str(b)) for a, b in wide))
