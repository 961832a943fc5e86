"""Find the objects that a NumPy array refers to: the array that it is a view of (its `base`), and
the items of an array of objects. `gc.get_referents` reports neither.

NumPy is never imported here. If the program has not imported NumPy, there are no arrays.
"""

from ...safety import restoring
from ...safety.arguments import real_isinstance


def find_array_type() -> type | None:
    """Return the class `numpy.ndarray`, None if nobody has imported NumPy."""
    return getattr(restoring.find_loaded_module("numpy"), "ndarray", None)


def list_array_contents(value: object) -> list:
    """Return [base, *items] of an array of objects, [base] of another array that is a view.

    The base is the array of which `value` is a view. In the first form it may be None. The list is
    empty for an array of numbers with its own memory, and for what is no array.
    """
    array_type = find_array_type()
    if array_type is None or not real_isinstance(value, array_type):
        return []
    # These attributes are read through `ndarray`, because a subclass may have its own properties.
    base = array_type.base.__get__(value)
    is_array_of_objects = array_type.dtype.__get__(value).char == "O"
    if is_array_of_objects:
        return [base, *array_type.flat.__get__(value)]
    return [] if base is None else [base]
