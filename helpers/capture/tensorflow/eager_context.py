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
    """Restore TensorFlow's op callbacks and the functions that run ops when the block ends.

    A learner's code in the block may add and remove callbacks. It may also replace the functions of
    `pywrap_tfe` that run each op (ENTRY_POINTS). Yield the list of the callbacks from before.
    """
    pywrap_tfe = tensorflow_private.pywrap_tfe
    entry_points = {name: getattr(pywrap_tfe, name) for name in ENTRY_POINTS}
    callbacks_before = read_callbacks()
    with patched(pywrap_tfe, **entry_points):
        try:
            yield callbacks_before
        finally:
            # All callbacks are removed and added again, because the learner's code may have changed
            # their order.
            for callback in read_callbacks():
                tensorflow_private.op_callbacks.remove_op_callback(callback)
            for callback in callbacks_before:
                tensorflow_private.op_callbacks.add_op_callback(callback)


def add_idle_callback():
    """Add an op callback that does nothing, and return it. A caller measures what it costs."""

    def callback(op_type, inputs, attrs, outputs, op_name=None, graph=None):
        """Return the outputs of an op as they are. TensorFlow passes them to the next callback."""
        return outputs

    tensorflow_private.op_callbacks.add_op_callback(callback)
    return callback


@contextmanager
def recording_op_names() -> Iterator[list[str]]:
    """Record the name of each op that runs in the block, as an op callback learns it.

    Yield the list of names, such as ["MatMul", "AddV2"], to which the callback appends.
    """
    names = []

    def callback(op_type, inputs, attrs, outputs, op_name=None, graph=None):
        """Append the name of an op. TensorFlow calls this after each op of the thread."""
        # For an op in a graph, `op_type` is bytes, and for an eager op a str.
        names.append(op_type.decode() if isinstance(op_type, bytes) else op_type)
        return outputs

    with tensorflow_private.report_ops(callback):
        yield names
