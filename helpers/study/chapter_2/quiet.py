"""While a check is at work, TensorFlow keeps its advice on retracing to itself.

It counts the traces of a Python function over all that were made of it, so a cure would be warned
of what was wrong before (`python/eager/polymorphic_function/polymorphic_function.py`).
"""

from collections.abc import Iterator
from contextlib import contextmanager

ADVICE = "triggered tf.function retracing"


@contextmanager
def quiet() -> Iterator[None]:
    """Hold back that one warning in this block; all others are told as ever."""
    import tensorflow as tf

    logger = tf.get_logger()

    def other(record):
        return ADVICE not in str(record.msg)

    logger.addFilter(other)
    try:
        yield
    finally:
        logger.removeFilter(other)
