"""A learner's traced step -> a ledger of its calls, and whether its results are used and read.

A step may be called for show: its result thrown away, or made without a look at the data.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from operator import is_not

from helpers.capture.tensorflow.trace_ledger import watch
from helpers.study.check import Unfit

MOST = 2  # traces
CALL_PYTHON = {"EagerPyFunc", "PyFunc", "PyFuncStateless"}
EAGER = (
    "tf.config.run_functions_eagerly(True) is on, so nothing is traced; switch it off with "
    "tf.config.run_functions_eagerly(False)"
)


def uncallable(**answers) -> str | None:
    """Say which of the named answers is no function."""
    for name, answer in answers.items():
        if not callable(answer):
            return f"{name} must be a function, not {type(answer).__name__}"
    return None


def untraced(**steps) -> str | None:
    """Say which of the named steps is no tf.function: the ledger would make one of its own."""
    for name, step in steps.items():
        if not hasattr(step, "get_concrete_function"):
            return f"{name} must be a tf.function itself: its own traces are counted"
    return None


class Spied:
    """A step with its ledger; `changed` is what stands between its result and its caller."""

    def __init__(self, step):
        import tensorflow as tf

        if tf.config.functions_run_eagerly():
            raise Unfit(EAGER)
        self.kept, self.changed, self.last = watch(step), None, None

    def __call__(self, *args, **kwargs):
        """Call the step; what the caller gets may be `changed` on the way."""
        result = self.kept(*args, **kwargs)
        self.last = (args, kwargs)
        return result if self.changed is None else self.changed(result)

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

    def called_wrongly(self, times: int, batches, by: str, many: str) -> str | None:
        """Say that `by` did not call it once for each batch, of which there are `many` in words."""
        if times == len(batches):
            return None
        return f"{by} called step {times} times for {many}; call it once for each"

    def traced_wrongly(self, name: str, many: str) -> str | None:
        """Say that it, by its `name`, has made too many traces by now, or none."""
        if self.traces > MOST:
            return f"{many} still make {self.traces} traces{self.cause}"
        if any(entry.verdict == "eager" for entry in self.kept.model.entries):
            return f"{many} make no trace: {name} must be a tf.function that is not run eagerly"
        if found := python_ops(self.kept.function):
            return f"{name} is not traced: its graph calls Python back, by {found[0]}"
        return None

    def reads(self) -> bool:
        """Tell whether its last result would be another if the tensors it got were others."""
        import tensorflow as tf

        args, kwargs = self.last

        def other(leaf):
            return leaf + 1 if isinstance(leaf, tf.Tensor) and leaf.dtype.is_floating else leaf

        before = flat(self.kept(*args, **kwargs))
        after = flat(self.kept(*tf.nest.map_structure(other, args), **map_values(other, kwargs)))
        return before != after


@contextmanager
def left_alone(batches, by: str) -> Iterator[list]:
    """Give a list of the batches; Unfit if that is another one when the block ends."""
    given = list(batches)
    yield given
    if len(given) != len(batches) or any(map(is_not, given, batches)):
        raise Unfit(f"{by} changes the list of batches that it is given; leave it as it is")


def python_ops(function) -> list[str]:
    """Return the ops in a tf.function's graphs that call Python back, as tf.py_function does."""
    return sorted(graph_ops(function) & CALL_PYTHON)


def graph_ops(function) -> set[str]:
    """Return the kinds of the ops in a tf.function's graphs, and in the functions of those."""
    found = set()
    for trace in function._list_all_concrete_functions():
        graph = trace.graph.as_graph_def()
        bodies = graph.node, *(inner.node_def for inner in graph.library.function)
        found |= {node.op for nodes in bodies for node in nodes}
    return found


def map_values(change, kwargs: dict) -> dict:
    """Return keyword arguments with each leaf changed."""
    import tensorflow as tf

    return {name: tf.nest.map_structure(change, value) for name, value in kwargs.items()}


def doubled(result):
    """Return twice what a step returned, whatever it is made of."""
    import tensorflow as tf

    return tf.nest.map_structure(lambda leaf: leaf * 2, result)


def flat(result) -> list:
    """Return the numbers of a result, one after the other; Unfit where there are others."""
    import tensorflow as tf

    return [number for leaf in tf.nest.flatten(result) for number in numbers(leaf).ravel().tolist()]


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
