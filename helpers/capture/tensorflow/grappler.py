"""A run of a tf.function -> its graph before and after Grappler, TensorFlow's graph optimizer.

Grappler rewrites a graph before it runs: it computes constants, merges equal nodes and removes
unneeded ones. TensorFlow reports both graphs at the first run of a function, for the function and
for each function that it calls (`RunMetadata.function_graphs` in
tensorflow/core/protobuf/config.proto).
"""

from dataclasses import replace

from ...internals import tensorflow_private, tensorflow_traces
from ...model.graph_differences import GraphDiff
from ...safety.restoring import running_user_code
from ..cpython.frameworks_of_callables import refuse_other_framework
from .graph_diff import compare_graphs
from .graph_nodes import format_plain_name
from .graph_source import trace_function
from .tf_functions import make_tf_function, require_tf_function
from .tf_graph import build_graph

NOTE = (
    "Both graphs come from the run itself. What happened to each node is inferred from the "
    "two graphs, not reported by Grappler."
)


def record_grappler(fn, /, *args, **kwargs) -> GraphDiff:
    """Run `fn(*args, **kwargs)` as a graph, and return what Grappler made of each node.

    Raise RuntimeError inside a trace, where nothing runs, and if the run reported no graph.
    """
    refuse_other_framework(fn, args, "watch_optimisation", "TensorFlow")
    import tensorflow as tf

    # TensorFlow reports graphs only at the first run, so a new tf.function is made of the same
    # code.
    function = make_tf_function(require_tf_function(fn).python_function)
    if tf.inside_function():
        raise RuntimeError("nothing runs while TensorFlow traces; call watch_optimisation outside")
    concrete = trace_function(function, args, kwargs)

    graph_pairs = _run_for_graphs(function, args, kwargs)
    if not graph_pairs:
        raise RuntimeError("this run produced no graphs; does the function contain any op?")
    own_pair = _find_own_pair(graph_pairs, concrete)

    name = format_plain_name(concrete.graph.name)
    before = build_graph(own_pair.pre_optimization_graph, title=f"{name}, as Grappler gets it")
    after = build_graph(own_pair.post_optimization_graph, title=f"{name}, as it runs")
    counts = f"{len(before.nodes)} nodes before Grappler, {len(after.nodes)} as it runs"
    return replace(compare_graphs(before, after, f"{name}: {counts}"), note=NOTE)


def _run_for_graphs(function, args: tuple, kwargs: dict) -> list:
    """Run a tf.function, and return the pairs of graphs that TensorFlow reports.

    There is a pair for the function and one for each function that it calls. Each has a
    `pre_optimization_graph`, before Grappler, and a `post_optimization_graph`, after it.
    """
    with (
        tensorflow_traces.count_retraces_apart(),
        tensorflow_private.collect_run_metadata() as export_metadata,
        running_user_code(),
    ):
        function(*args, **kwargs)
        return list(export_metadata().function_graphs)


def _find_own_pair(graph_pairs: list, concrete):
    """Return the pair of graphs that belongs to a ConcreteFunction itself.

    The functions that it calls have pairs, too. TensorFlow does not say which pair is whose, so the
    pair is chosen that has the most nodes with names of the function's own ops.
    """
    own_names = {operation.name for operation in concrete.graph.get_operations()}

    def count_own_nodes(pair) -> int:
        """Return how many nodes of a pair have the name of an op of the function."""
        return sum(node.name in own_names for node in pair.pre_optimization_graph.node)

    return max(graph_pairs, key=count_own_nodes)
