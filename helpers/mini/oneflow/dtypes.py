"""The data types of blobs, by name; the original's enum DataType has these and no bool."""

import numpy as np

from helpers.mini.oneflow.errors import OpError, listed, shown
from helpers.safety.arguments import is_a

MOST_AXES, LARGEST = 64, 2**63 - 1  # as many as numpy takes
_mro = type.__dict__["__mro__"].__get__

DTYPES = ("float16", "float32", "float64", "int8", "int32", "int64", "uint8")
FLOATS = DTYPES[:3]


def dtype_name(value, what):
    """Return the name of a dtype given as flow.float32, np.float32 or "float32"."""
    name = None
    if type(value) is str or is_a(value, np.dtype) or _is_scalar_type(value):
        try:
            name = np.dtype(value).name
        except (TypeError, ValueError):
            name = None
    if name not in DTYPES:
        raise OpError(
            f"{what}: {shown(value)} is no data type of a blob; there are {listed(DTYPES)}"
        )
    return name


def shape_tuple(value, what):
    """Return a shape as a tuple of ints >= 0."""
    if not is_list(value):
        raise OpError(f"{what}: a shape is a tuple such as (5,), got {shown(value)}")
    if len(value) > MOST_AXES or not all(is_size(n) for n in value):
        raise OpError(f"{what}: a shape holds whole numbers from 0 up, got {shown(value)}")
    return tuple(int(n) for n in value)


def is_size(value):
    """Say whether a value can be one number of a shape."""
    fine = is_a(value, int, np.integer) and type(value) is not bool
    return fine and 0 <= int(value) <= LARGEST


def is_list(value):
    """Say whether it is a list or a tuple, and of no class of its own."""
    return type(value) is list or type(value) is tuple


def is_number(value):
    """Say whether a value is a number that arithmetic can take: an int or a float, no bool."""
    fine = is_a(value, int, float, np.integer, np.floating) and type(value) is not bool
    return fine and not (is_a(value, int) and int.bit_length(value) > 1000)


def _is_scalar_type(value):
    """Say whether it is a type of numpy's scalars, or one of Python's numbers."""
    if not issubclass(type(value), type):
        return False
    return any(base is np.generic for base in _mro(value)) or any(
        value is known for known in (int, float, bool)
    )
