"""A learner's traced step -> a ledger of its calls, and whether its results are used and read.

A step may be called for show: its result thrown away, or made without a look at the data.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from operator import is_not

from helpers.capture.tensorflow.trace_ledger import watch
from helpers.safety.limits import when_stopped
from helpers.study.engine import Unfit, same_result

MOST = 2  # traces
CALL_PYTHON = {"EagerPyFunc", "PyFunc", "PyFuncStateless"}
EAGER = (
    "tf.config.run_functions_eagerly(True) is on, so nothing is traced; switch it off with "
    "tf.config.run_functions_eagerly(False)"
)


def untraced(name: str, step) -> str | None:
    """Say that a step is no tf.function: the ledger would make one of its own."""
    if not callable(step):
        return f"{name} must be a function, not {type(step).__name__}"
    if not hasattr(step, "get_concrete_function"):
        return f"{name} must be a tf.function itself: its own traces are counted"
    return None


class Spied:
    """A step with its ledger; its results are doubled on their way while `doubles` is set."""

    def __init__(self, step):
        import tensorflow as tf

        if tf.config.functions_run_eagerly():
            raise Unfit(EAGER)
        self.kept, self.doubles, self.last = watch(step), False, None

    def __call__(self, *args, **kwargs):
        """Call the step."""
        import tensorflow as tf

        result, self.last = self.kept(*args, **kwargs), (args, kwargs)
        return tf.nest.map_structure(lambda leaf: leaf * 2, result) if self.doubles else result

    @property
    def calls(self) -> int:
        """Return how often it was called."""
        return sum(entry.calls for entry in self.kept.model.entries)

    @property
    def traces(self) -> int:
        """Return how many traces were made in its calls."""
        return self.kept.model.traces

    @property
    def cause(self) -> str:
        """Return why it traced last, in the ledger's words."""
        causes = self.kept.model.causes
        return f"; the ledger says why: {causes[-1]}" if causes else ""

    def traced_wrongly(self, name: str, many: str) -> str | None:
        """Say that it, by its `name`, has made too many traces by now, or none."""
        if self.traces > MOST:
            return f"{many} still make {self.traces} traces{self.cause}"
        if any(entry.verdict == "eager" for entry in self.kept.model.entries):
            return f"{many} make no trace: {name} must be a tf.function that is not run eagerly"
        if found := sorted(graph_ops(self.kept.function) & CALL_PYTHON):
            return f"{name} is not traced: its graph calls Python back, by {found[0]}"
        return None

    def only_for_show(self, by: str, run) -> str | None:
        """Say that its results are not used, or that it reads nothing; `run()` runs the whole."""
        import tensorflow as tf

        before, self.doubles = run(), True
        after, self.doubles = run(), False
        if same_result(after, before):
            return f"{by} calls step, but its results do not come from there"
        args, kwargs = self.last

        def other(leaf):
            return leaf + 1 if isinstance(leaf, tf.Tensor) and leaf.dtype.is_floating else leaf

        changed = tf.nest.map_structure(other, (args, kwargs))
        results = self.kept(*args, **kwargs), self.kept(*changed[0], **changed[1])
        flat = [[numbers(leaf).tolist() for leaf in tf.nest.flatten(each)] for each in results]
        return "step gives the same for other data: it does not read them" * (flat[0] == flat[1])


@contextmanager
def stoppable() -> Iterator[None]:
    """Let a check cancel the graphs that run in this block: C++ hears no signal.

    Mirrors what a timeout would do (`tensorflow/python/eager/cancellation.py`).
    """
    from tensorflow.python.eager import cancellation

    manager = cancellation.CancellationManager()
    with cancellation.CancellationManagerContext(manager), when_stopped(manager.start_cancel):
        yield


@contextmanager
def left_alone(batches, by: str) -> Iterator[list]:
    """Give a list of the batches; Unfit if that is another one when the block ends."""
    given = list(batches)
    with stoppable():
        yield given
    if len(given) != len(batches) or any(map(is_not, given, batches)):
        raise Unfit(f"{by} changes the list of batches that it is given; leave it as it is")


def graph_ops(function) -> set[str]:
    """Return the kinds of the ops in a tf.function's graphs, and in the functions of those."""
    found = set()
    for trace in function._list_all_concrete_functions():
        graph = trace.graph.as_graph_def()
        bodies = graph.node, *(inner.node_def for inner in graph.library.function)
        found |= {node.op for nodes in bodies for node in nodes}
    return found


def numbers(value):
    """Return a value of whatever array type as an array of numbers. Unfit if it is none."""
    import numpy as np

    try:
        if value is not None:  # which would become a nan
            return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, NotImplementedError):
        pass
    kind = getattr(getattr(value, "dtype", None), "name", type(value).__name__)
    raise Unfit(f"a result must be made of numbers, not {kind}")
