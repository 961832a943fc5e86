"""The data types of blobs, by name; the original's enum DataType has these and no bool."""

import numpy as np

from helpers.mini.oneflow.errors import OpError, listed, shown

DTYPES = ("float16", "float32", "float64", "int8", "int32", "int64", "uint8")
FLOATS = DTYPES[:3]


def dtype_name(value, what):
    """Return the name of a dtype given as flow.float32, np.float32 or "float32"."""
    try:
        name = np.dtype(value).name if value is not None else None
    except (TypeError, ValueError):
        name = None
    if name not in DTYPES:
        raise OpError(
            f"{what}: {shown(value)} is no data type of a blob; there are {listed(DTYPES)}"
        )
    return name


def shape_tuple(value, what):
    """Return a shape as a tuple of ints >= 0."""
    if not isinstance(value, (tuple, list)):
        raise OpError(f"{what}: a shape is a tuple such as (5,), got {shown(value)}")
    if not all(is_size(n) for n in value):
        raise OpError(f"{what}: a shape holds whole numbers from 0 up, got {shown(value)}")
    return tuple(int(n) for n in value)


def is_size(value):
    """Say whether a value can be one number of a shape."""
    return isinstance(value, (int, np.integer)) and type(value) is not bool and value >= 0
