"""A graph that runs -> the same graph, which ends when its check stops it: C++ hears no signal.

Mirrors what a timeout would do (`tensorflow/python/eager/cancellation.py`).
"""

from collections.abc import Iterator
from contextlib import contextmanager

from helpers.safety.answer_limits import when_stopped


@contextmanager
def stoppable() -> Iterator[None]:
    """Let a check cancel the functions that TensorFlow runs in this block."""
    from tensorflow.python.eager import cancellation

    manager = cancellation.CancellationManager()
    with cancellation.CancellationManagerContext(manager), when_stopped(manager.start_cancel):
        yield
