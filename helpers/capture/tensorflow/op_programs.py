"""Small programs that run ops on different routes, by which a logger of ops can be tried. A *route*
is the way on which TensorFlow reaches the kernel of an op: the fast path from Python, the slow
path, a graph, a tf.function, a gradient. A logger that hooks into one route misses the others.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from importlib import import_module


def run_ops(*names: str) -> None:
    """Run a MatMul for each name "MatMul", and an AddV2 for any other name."""
    matrix = import_module("tensorflow").constant([[1.0]])
    for name in names:
        if name == "MatMul":
            matrix @ matrix
        else:
            matrix + matrix


def run_routes(names: Iterable[str]) -> None:
    """Run one op, or a few, on each of the routes with these names, which are keys of `ROUTES`."""
    for name in names:
        run_route = ROUTES[name]
        run_route(import_module("tensorflow"))


# Each function below is a value of `ROUTES`; `run_routes` calls it with the module tensorflow.


def _run_op(tf) -> None:
    """Run one op on the fast path."""
    run_ops("Add")


def _run_fallback(tf) -> None:
    """Run an op on a list, for which TensorFlow takes the slow path."""
    tf.negative([1.0], name="minus")


def _build_v1_graph(tf) -> None:
    """Build a graph of version 1; nothing runs."""
    with tf.Graph().as_default():
        tf.sin(tf.constant(1.0, name="one"), name="wave")


def _run_tf_function(tf) -> None:
    """Run a tf.function. It is traced only the first time that this route is run."""
    square = _trace_square(tf)
    square(tf.constant(2.0))


@cache
def _trace_square(tf):
    """Return a ConcreteFunction that squares a number; it is traced only once in a process."""
    return _trace(tf, lambda x: x * x)


def _run_trace(tf) -> None:
    """Trace a new tf.function; nothing runs."""
    _trace(tf, lambda x: tf.cos(x) * x)


def _trace(tf, function: Callable):
    """Return the ConcreteFunction of a Python function of one float."""
    return tf.function(function, autograph=False).get_concrete_function(tf.constant(1.0))


def _run_gradient(tf) -> None:
    """Run an op, and compute its gradient."""
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sin(x)
    tape.gradient(y, x)


def _run_refused_op(tf) -> None:
    """Run an op that refuses its arguments."""
    with suppress(tf.errors.InvalidArgumentError):
        tf.constant(1.0) + tf.constant(1)


# The name of a route -> the function that runs ops on it.
ROUTES = {
    "an op": _run_op,
    "a fallback": _run_fallback,
    "a graph": _build_v1_graph,
    "a tf.function": _run_tf_function,
    "the trace of a tf.function": _run_trace,
    "a gradient": _run_gradient,
    "a refused op": _run_refused_op,
}
