"""TensorFlow's eager context -> its op callbacks, and what they report.

An op callback is a function that TensorFlow calls after each op of a thread
(tensorflow/python/framework/op_callbacks.py).
"""

from collections.abc import Iterator
from contextlib import contextmanager

from ...internals import tensorflow_private
from ...internals.tensorflow_private import ENTRY_POINTS
from ...safety.restoring import patched


def read_callbacks() -> list:
    """Return the op callbacks of this thread."""
    return list(tensorflow_private.context.context().op_callbacks)


@contextmanager
def restoring_callbacks() -> Iterator[list]:
    """Restore the op callbacks, and the functions that run ops, when the block ends.

    The block gets the list of the callbacks that there were. A learner's code in it may add and
    remove callbacks, and may replace the two functions.
    """
    pywrap_tfe = tensorflow_private.pywrap_tfe
    entry_points = {name: getattr(pywrap_tfe, name) for name in ENTRY_POINTS}
    callbacks_before = read_callbacks()
    with patched(pywrap_tfe, **entry_points):
        try:
            yield callbacks_before
        finally:
            # All of them, because the learner's code may have removed some, or changed their order.
            for callback in read_callbacks():
                tensorflow_private.op_callbacks.remove_op_callback(callback)
            for callback in callbacks_before:
                tensorflow_private.op_callbacks.add_op_callback(callback)


def add_idle_callback():
    """Add an op callback that does nothing, and return it."""

    def callback(op_type, inputs, attrs, outputs, op_name=None, graph=None):
        """Return the outputs of an op as they are: TensorFlow gives them to the next callback."""
        return outputs

    tensorflow_private.op_callbacks.add_op_callback(callback)
    return callback


@contextmanager
def recording_op_names() -> Iterator[list[str]]:
    """Record the names of the ops that TensorFlow itself reports in the block.

    The block gets the list, which grows meanwhile.
    """
    names = []

    def callback(op_type, inputs, attrs, outputs, op_name=None, graph=None):
        """Note the name of an op: TensorFlow calls this after each op of the thread."""
        # TensorFlow gives bytes for an op in a graph.
        names.append(op_type.decode() if isinstance(op_type, bytes) else op_type)
        return outputs

    with tensorflow_private.op_callback(callback):
        yield names
