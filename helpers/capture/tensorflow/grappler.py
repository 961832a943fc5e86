"""A call of a tf.function -> its graph before and after Grappler, as the run's metadata has them.

The executor hands both graphs out when a function is made ready for its first run
(RunMetadata.function_graphs, tensorflow/core/protobuf/config.proto). So a function of its own is
made from the same Python function, and the caller's traces and counts stay as they are.
"""

from helpers.capture.tensorflow.graph import tf_graph, traced
from helpers.capture.tensorflow.graph_diff import compare
from helpers.capture.tensorflow.node_def import plain_name
from helpers.capture.tensorflow.tracing.ledger import as_tf_function, watched_of
from helpers.capture.text.error import instead, said
from helpers.model.graph_diff import GraphDiff
from helpers.safety.arguments import is_a, kind_of, printable
from helpers.safety.interpreter_state import theirs
from helpers.safety.patches import patched

NOTE = (
    "Both graphs come from the run itself. What became of each node is inferred from these two "
    "alone; Grappler was not asked."
)


def watch_grappler(fn, *args, **kwargs) -> GraphDiff:
    """Run `fn(*args, **kwargs)` once in graph mode and return what became of each of its nodes.

    `fn`: a tf.function or a Python function that TensorFlow can trace. TypeError otherwise;
    ValueError says why it cannot be traced or run; what an op raises comes through; RuntimeError
    if the run gave no graphs, or nothing can run now.
    """
    import tensorflow as tf

    known = watched_of(fn)
    given = known.function if known else fn
    function = is_a(given, tf.types.experimental.PolymorphicFunction)
    python = given.python_function if function else given
    if is_a(given, tf.types.experimental.ConcreteFunction):
        raise TypeError("watch_optimisation needs the tf.function, not one of its traces")
    if not callable(python) or is_a(python, type):
        needed = f"watch_optimisation needs a function to run, not {kind_of(fn)}"
        raise TypeError(f"{needed}{instead(fn)}")
    if tf.inside_function():
        raise RuntimeError("nothing runs while TensorFlow traces: call watch_optimisation outside")
    own_function = as_tf_function(python)
    concrete = traced(own_function, args, kwargs)
    wanted = {operation.name for operation in concrete.graph.get_operations()}
    graphs = _graphs_of_a_run(own_function, args, kwargs, wanted)
    name = printable(plain_name(concrete.graph.name))
    before = tf_graph(graphs.pre_optimization_graph, title=f"{name}, as Grappler gets it")
    after = tf_graph(graphs.post_optimization_graph, title=f"{name}, as it runs")
    counts = f"{len(before.nodes)} nodes before Grappler, {len(after.nodes)} as it runs"
    diff = compare(before, after, f"{name}: {counts}")
    return GraphDiff(diff.title, before, after, diff.findings, NOTE)


def _graphs_of_a_run(function, args, kwargs, wanted):
    """Return the function graphs that share the most names with `wanted`.

    An eager op that runs beside it for the first time leaves graphs of its own.
    """
    from tensorflow.python.framework.errors import OpError

    with patched(_METADATA, collected=True):
        try:
            with theirs():
                function(*args, **kwargs)
        except (KeyboardInterrupt, OpError):
            raise
        except BaseException as error:  # the arguments' own, while they are made into tensors
            raise ValueError(f"it cannot run with these arguments: {said(error)}") from None
        graphs = list(_METADATA.exported().function_graphs)
    if not graphs:
        raise RuntimeError("this run handed out no graphs; does the function hold any op?")
    return max(graphs, key=lambda g: sum(n.name in wanted for n in g.pre_optimization_graph.node))


class _Metadata:
    """The collection of run metadata as an attribute, so that `patched` ends it however a run ends.

    TensorFlow does not say whether it collects; a collection of the caller's own ends as well.
    """

    def __init__(self):
        self.__dict__["collected"] = False

    def __setattr__(self, name: str, on: bool) -> None:
        from tensorflow.python.eager import context

        (context.enable_run_metadata if on else context.disable_run_metadata)()
        self.__dict__[name] = on

    def exported(self):
        """Return what was collected, as a RunMetadata."""
        from tensorflow.python.eager import context

        return context.export_run_metadata()


_METADATA = _Metadata()
