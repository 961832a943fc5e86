"""TensorFlow's op callbacks -> what they report, and none left over when a block ends.

tensorflow/python/framework/op_callbacks.py keeps them, per thread, in the eager context. The
routes are small programs by which a logger of ops can be tried.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache

from helpers.internals import tensorflow_private
from helpers.internals.tensorflow_private import FAST, SLOW

DOORS = FAST, SLOW


def callbacks() -> list:
    """Return the op callbacks of this thread."""
    return list(tensorflow_private.context.context().op_callbacks)


@contextmanager
def callbacks_kept() -> Iterator[list]:
    """Put the op callbacks, and the functions at the two doors, back as they were."""
    doors, op_callbacks = tensorflow_private.doors, tensorflow_private.op_callbacks
    before, kept = callbacks(), {door: getattr(doors, door) for door in DOORS}
    try:
        yield before
    finally:
        # Also where a learner's code has removed some: `before` is what must be there.
        for callback in callbacks():
            if callback not in before:
                op_callbacks.remove_op_callback(callback)
        for callback in before:
            if callback not in callbacks():
                op_callbacks.add_op_callback(callback)
        for door, function in kept.items():
            setattr(doors, door, function)


def bystander():
    """Add an op callback that does nothing, and return it."""

    def callback(op_type, inputs, attrs, outputs, op_name=None, graph=None):
        return outputs  # the next callback gets what this one returns

    tensorflow_private.op_callbacks.add_op_callback(callback)
    return callback


@contextmanager
def reported() -> Iterator[list[str]]:
    """Give the list of ops that TensorFlow itself reports inside the block."""
    names = []

    def callback(op_type, inputs, attrs, outputs, op_name=None, graph=None):
        names.append(op_type.decode() if isinstance(op_type, bytes) else op_type)
        return outputs

    with tensorflow_private.op_callback(callback):
        yield names


def run_ops(*names: str) -> None:
    """Run a MatMul or an AddV2 for each name."""
    import tensorflow as tf

    a = tf.constant([[1.0]])
    for name in names:
        tf.matmul(a, a) if name == "MatMul" else a + a


def values() -> list[float]:
    """Return the sine of 2, from an op that runs and from one in a graph that is made here."""
    import tensorflow as tf

    x = tf.constant(2.0)
    return [float(tf.sin(x)), float(tf.function(lambda: tf.sin(x), autograph=False)())]


def run_routes(names: Iterable[str]) -> None:
    """Run one op, or a few, on each of these routes; their names are those of `ROUTES`."""
    for name in names:
        ROUTES[name]()


def _fall_back():
    import tensorflow as tf

    tf.negative([1.0], name="minus")


def _build():
    import tensorflow as tf

    with tf.Graph().as_default():
        tf.sin(tf.constant(1.0, name="one"), name="wave")


def _trace():
    import tensorflow as tf

    tf.function(lambda x: tf.cos(x) * x, autograph=False).get_concrete_function(tf.constant(1.0))


def _differentiate():
    import tensorflow as tf

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sin(x)
    tape.gradient(y, x)


def _refuse():
    import tensorflow as tf

    with suppress(tf.errors.InvalidArgumentError):
        tf.constant(1.0) + tf.constant(1)


def _call_traced():
    import tensorflow as tf

    _traced()(tf.constant(2.0))


@cache
def _traced():
    import tensorflow as tf

    return tf.function(lambda x: x * x, autograph=False).get_concrete_function(tf.constant(1.0))


ROUTES = {
    "an op": lambda: run_ops("Add"),
    "a fallback": _fall_back,
    "a graph": _build,
    "a tf.function": _call_traced,
    "the trace of a tf.function": _trace,
    "a gradient": _differentiate,
    "a refused op": _refuse,
}
