"""Calls of TensorFlow's graph functions -> the ops of their graphs, one by one, in this thread.

A graph is run by threads of TensorFlow's own, which a forked process does not have; an eager op
runs in the thread that asks for it (tensorflow/core/common_runtime/eager/execute.cc).
"""

from itertools import chain

INPUTS = ("Placeholder", "_Arg")
CALLS = ("PartitionedCall", "StatefulPartitionedCall")
LOOPS = ("While", "StatelessWhile")
CHOICES = ("If", "StatelessIf")


def run_in_this_thread() -> None:
    """Let each call of a graph function run so from now on; for a process that ends soon."""
    from tensorflow.python.eager import context

    context.Context.call_function = _call


def _call(own, name: str, inputs: list, count: int):
    """Stand in for `Context.call_function` (tensorflow/python/eager/context.py)."""
    from tensorflow.python.framework.function_def_to_graph import function_def_to_graph

    graph = function_def_to_graph(own.get_function_def(name), [t.shape for t in inputs])
    values = {id(t): value for t, value in zip(graph.inputs, inputs, strict=True)}
    for op in graph.get_operations():
        if op.type not in INPUTS:
            found = _run(own, op, [values[id(t)] for t in op.inputs])
            values |= {id(t): value for t, value in zip(op.outputs, found, strict=True)}
    return [values[id(t)] for t in graph.outputs]


def _run(own, op, inputs: list) -> list:
    import tensorflow as tf
    from tensorflow.python.eager import execute

    if op.type == "Const":
        return [tf.constant(tf.make_ndarray(op.get_attr("value")), op.get_attr("dtype"))]
    if op.type in CALLS:
        return _call(own, op.get_attr("f").name, inputs, len(op.outputs))
    if op.type in LOOPS:
        return _looped(own, op.get_attr("cond").name, op.get_attr("body").name, inputs)
    if op.type in CHOICES:
        name = op.get_attr("then_branch" if inputs[0].numpy() else "else_branch").name
        return _call(own, name, inputs[1:], len(op.outputs))
    known = {one.name for one in op.op_def.attr}
    pairs = ((name, _attr(op, name)) for name in op.node_def.attr if name in known)
    attrs = tuple(chain.from_iterable(pairs))
    return execute.execute(op.type.encode(), len(op.outputs), inputs, attrs, own) or []


def _looped(own, asked: str, body: str, values: list) -> list:
    """Run a loop op: a kernel of it would call its functions in other threads."""
    while _call(own, asked, values, 1)[0].numpy():
        values = _call(own, body, values, len(values))
    return values


def _attr(op, name: str):
    from tensorflow.python.framework.tensor_shape import TensorShape

    value = op.get_attr(name)
    kind = op.node_def.attr[name].WhichOneof("value")
    return value.name if kind == "func" else TensorShape(value) if kind == "shape" else value
