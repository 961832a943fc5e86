"""TensorFlow's op callbacks -> what they report, and none left over when a block ends.

tensorflow/python/framework/op_callbacks.py keeps them, per thread, in the eager context.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

DOORS = ("TFE_Py_FastPathExecute", "TFE_Py_Execute")


def callbacks() -> list:
    """Return the op callbacks of this thread."""
    from tensorflow.python.eager import context

    return list(context.context().op_callbacks)


@contextmanager
def callbacks_kept() -> Iterator[list]:
    """Put the op callbacks, and the functions at the two doors, back as they were."""
    from tensorflow.python import pywrap_tfe
    from tensorflow.python.framework import op_callbacks

    before, kept = callbacks(), {door: getattr(pywrap_tfe, door) for door in DOORS}
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
            setattr(pywrap_tfe, door, function)


def bystander():
    """Add an op callback that does nothing, and return it."""
    from tensorflow.python.framework import op_callbacks

    def callback(op_type, inputs, attrs, outputs, op_name=None, graph=None):
        return None

    op_callbacks.add_op_callback(callback)
    return callback


@contextmanager
def reported() -> Iterator[list[str]]:
    """Give the list of ops that TensorFlow itself reports inside the block."""
    from tensorflow.python.framework import op_callbacks

    names = []

    def callback(op_type, inputs, attrs, outputs, op_name=None, graph=None):
        names.append(op_type.decode() if isinstance(op_type, bytes) else op_type)

    op_callbacks.add_op_callback(callback)
    try:
        yield names
    finally:
        # Removing one that is gone raises, and would hide what the block raised.
        if callback in callbacks():
            op_callbacks.remove_op_callback(callback)


def run_ops(*names: str) -> None:
    """Run a MatMul or an AddV2 for each name."""
    import tensorflow as tf

    a = tf.constant([[1.0]])
    for name in names:
        tf.matmul(a, a) if name == "MatMul" else a + a


def run_every_route() -> None:
    """Run a fallback, a tf.function that was traced before, and a gradient."""
    import tensorflow as tf

    function, x = _traced(), tf.constant(2.0)
    tf.negative([1.0])
    function(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sin(x)
    tape.gradient(y, x)


@cache
def _traced():
    import tensorflow as tf

    return tf.function(lambda x: x * x, autograph=False).get_concrete_function(tf.constant(1.0))
