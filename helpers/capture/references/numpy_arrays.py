"""NumPy's arrays -> the objects that an array refers to, which the collector does not see.

NumPy is never imported here: without it there are no arrays.
"""

from ...safety import restoring
from ...safety.arguments import real_isinstance


def find_array_type() -> type | None:
    """Return the class of NumPy's arrays, if somebody has imported it."""
    return getattr(restoring.module("numpy"), "ndarray", None)


def list_array_contents(value: object) -> list:
    """Return the base of an array and the objects in it; nothing for what is no array."""
    kind = find_array_type()
    if kind is None or not real_isinstance(value, kind):
        return []
    # Through the class itself: a subclass may have properties of these names.
    base = kind.base.__get__(value)
    if kind.dtype.__get__(value).char == "O":  # an array of objects
        return [base, *kind.flat.__get__(value)]
    return [] if base is None else [base]
