"""While a check is at work, nobody warns: the check says what is wrong, in its own words.

TensorFlow counts the traces of a Python function over all that were made of it, so a cure would be
warned of what was wrong before (`python/eager/polymorphic_function/polymorphic_function.py`); and
Python warns of the code that a check makes of an answer.
"""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet() -> Iterator[None]:
    """Hold back warnings in this block, Python's and TensorFlow's; errors are told as before."""
    logger = logging.getLogger("tensorflow")

    def grave(record):
        return record.levelno >= logging.ERROR

    logger.addFilter(grave)
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        logger.removeFilter(grave)
