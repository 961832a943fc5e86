"""A callable -> the functions, methods, partials and tf.functions inside it.

Inside `tf.function(partial(model.step, n=2))` are the partial, the method `model.step` and its
function. They are found through attributes such as `__wrapped__`, and through closures.
"""

from contextlib import suppress
from functools import partial

from ...internals import tensorflow_private
from ...safety.arguments import real_isinstance
from .tf_functions import PYTHON_FUNCTIONS

MOST_CALLABLES = 20
# The attributes in which a decorator, a tf.function and a partial keep what they wrap.
WRAPPING_ATTRIBUTES = ("__wrapped__", "_python_function", "func")


def list_wrapped_callables(outermost) -> list:
    """Return a callable and the callables that it wraps or closes on, the outermost first.

    Only Python functions, methods, partials and tf.functions count, and at most MOST_CALLABLES.
    """
    kinds = (*PYTHON_FUNCTIONS, partial, tensorflow_private.Function)
    callables_by_id = {}
    waiting = [outermost]
    for candidate in waiting:  # the list grows meanwhile
        is_known = id(candidate) in callables_by_id
        is_full = len(callables_by_id) >= MOST_CALLABLES
        if is_known or is_full or not real_isinstance(candidate, *kinds):
            continue
        callables_by_id[id(candidate)] = candidate
        waiting += [getattr(candidate, name, None) for name in WRAPPING_ATTRIBUTES]
        waiting += list_cell_contents(candidate)
    return list(callables_by_id.values())


def list_cell_contents(function) -> list:
    """Return the values that a callable closes on; [] if it has no closure."""
    contents = []
    for cell in getattr(function, "__closure__", None) or ():
        with suppress(ValueError):  # a cell without contents
            contents.append(cell.cell_contents)
    return contents
