"""A call of a tf.function -> its graph before and after Grappler, as the run's metadata has them.

The executor hands both graphs out when a function is made ready for its first run
(RunMetadata.function_graphs, tensorflow/core/protobuf/config.proto). So a function of its own is
made from the same Python function, and the caller's traces and counts stay as they are.
"""

from helpers.capture.tf_graphs import tf_graph
from helpers.capture.tf_nodes import plain_name
from helpers.capture.words import type_name
from helpers.model.graph_compare import compare
from helpers.model.graph_diff import GraphDiff

NOTE = (
    "Both graphs come from the run itself. The words are told from these two graphs alone; "
    "Grappler was not asked what it did."
)


def watch_grappler(fn, *args, **kwargs) -> GraphDiff:
    """Run `fn(*args, **kwargs)` once in graph mode and return what became of each of its nodes.

    `fn`: a tf.function or a Python function that TensorFlow can trace. TypeError otherwise;
    RuntimeError if the run gave no graphs.
    """
    import tensorflow as tf

    python = getattr(fn, "python_function", fn)
    if not callable(python) or isinstance(python, type):
        raise TypeError(f"watch_optimisation needs a function to run, not {type_name(fn)}")
    traced = tf.function(python)
    concrete = traced.get_concrete_function(*args, **kwargs)
    wanted = {operation.name for operation in concrete.graph.get_operations()}
    graphs = _graphs_of_a_run(traced, args, kwargs, wanted)
    name = plain_name(concrete.graph.name)
    before = tf_graph(graphs.pre_optimization_graph, title=f"{name}, as traced")
    after = tf_graph(graphs.post_optimization_graph, title=f"{name}, as it runs")
    counts = f"{len(before.nodes)} nodes as traced, {len(after.nodes)} as it runs"
    diff = compare(before, after, f"{name}: {counts}")
    return GraphDiff(diff.title, before, after, diff.findings, NOTE)


def _graphs_of_a_run(traced, args, kwargs, wanted):
    """Return the function graphs that share the most names with `wanted`.

    An eager op that runs beside it for the first time leaves graphs of its own.
    """
    from tensorflow.python.eager import context

    context.enable_run_metadata()
    try:
        traced(*args, **kwargs)
    finally:
        metadata = context.export_run_metadata()
        context.disable_run_metadata()
    graphs = list(metadata.function_graphs)
    if not graphs:
        raise RuntimeError("this run handed out no graphs; does the function hold any op?")
    return max(graphs, key=lambda g: sum(n.name in wanted for n in g.pre_optimization_graph.node))
