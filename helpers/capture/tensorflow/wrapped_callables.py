"""A callable -> the functions, methods, partials and tf.functions that it wraps or closes on."""

from contextlib import suppress
from functools import partial

from ...internals import tensorflow_private
from ...safety.arguments import real_isinstance
from .tf_functions import PYTHON_FUNCTIONS

MOST_CALLABLES = 20
# Where a decorator, a tf.function and a partial keep the function that they wrap.
WRAPPING_ATTRIBUTES = ("__wrapped__", "_python_function", "func")


def list_wrapped_callables(outermost) -> list:
    """Return a callable and all that it wraps or closes on, the outermost first.

    Only Python functions, methods, partials and tf.functions count. Others are left out.
    """
    kinds = (*PYTHON_FUNCTIONS, partial, tensorflow_private.Function)
    found = {}
    waiting = [outermost]
    for candidate in waiting:  # the list grows meanwhile
        is_known = id(candidate) in found
        if is_known or not real_isinstance(candidate, *kinds) or len(found) >= MOST_CALLABLES:
            continue
        found[id(candidate)] = candidate
        waiting += [getattr(candidate, name, None) for name in WRAPPING_ATTRIBUTES]
        waiting += list_cell_contents(candidate)
    return list(found.values())


def list_cell_contents(function) -> list:
    """Return the values that a callable closes on; [] if it has no closure."""
    contents = []
    for cell in getattr(function, "__closure__", None) or ():
        with suppress(ValueError):  # a cell without contents
            contents.append(cell.cell_contents)
    return contents
