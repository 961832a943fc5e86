"""While a check is at work, TensorFlow keeps its warnings to itself: the check says what is wrong.

It counts the traces of a Python function over all that were made of it, so a cure would be warned
of what was wrong before (`python/eager/polymorphic_function/polymorphic_function.py`).
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet() -> Iterator[None]:
    """Hold back TensorFlow's warnings in this block; its errors are told as ever."""
    import tensorflow as tf

    logger = tf.get_logger()

    def grave(record):
        return record.levelno >= logging.ERROR

    logger.addFilter(grave)
    try:
        yield
    finally:
        logger.removeFilter(grave)
