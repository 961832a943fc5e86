"""The data types of blobs, by name, and the types of attributes: six of the original's 14.

The original's enum DataType has these and no bool.
"""

from typing import NamedTuple

import numpy as np

from helpers.mini.oneflow.errors import OpError, listed, need, shown

MOST_AXES, LARGEST = 64, 2**63 - 1  # as many as numpy takes
DTYPES = ("float16", "float32", "float64", "int8", "int32", "int64", "uint8")
FLOATS = DTYPES[:3]
TYPES = {"bool": bool, "int32": int, "int64": int, "float": float, "double": float, "string": str}
REQUIRED = object()  # an attribute without a default
SEPARATORS = "\x1e\x1f"  # they part the words that are sent to a compiled definition
MOST_REAL = float(np.finfo(np.float64).max)


def dtype_name(value, what):
    """Return the name of a dtype given as flow.float32, np.float32 or "float32"."""
    name = None
    if isinstance(value, (str, type, np.dtype)):
        try:
            name = np.dtype(value).name
        except (TypeError, ValueError):
            name = None
    known = name in DTYPES
    need(known, f"{what}: {shown(value)} is no data type of a blob; there are {listed(DTYPES)}")
    return name


def shape_tuple(value, what):
    """Return a shape as a tuple of ints >= 0."""
    need(is_list(value), f"{what}: a shape is a tuple such as (5,), got {shown(value)}")
    fine = len(value) <= MOST_AXES and all(map(is_size, value))
    need(fine, f"{what}: a shape holds whole numbers from 0 up, got {shown(value)}")
    return tuple(map(int, value))


def is_size(value):
    """Say whether a value can be one number of a shape."""
    fine = isinstance(value, (int, np.integer)) and type(value) is not bool
    return fine and 0 <= int(value) <= LARGEST


def is_list(value):
    """Say whether it is a list or a tuple, and of no class of its own."""
    return type(value) in (list, tuple)


def is_number(value):
    """Say whether a value is a number that arithmetic can take: an int or a float, no bool."""
    fine = isinstance(value, (int, float, np.integer, np.floating)) and type(value) is not bool
    return fine and not (isinstance(value, int) and value.bit_length() > 1000)


class AttrDef(NamedTuple):
    """One attribute of an op type: its type's name, its default (REQUIRED: none)."""

    type: str
    default: object = REQUIRED


def attr_def(where, default, type_name):
    """Return an AttrDef; without a type name the default's own type decides."""
    given = shown(default) if type_name is None else shown(type_name)
    if type_name is None:
        names = {bool: "bool", int: "int64", float: "double", str: "string"}
        type_name = names.get(type(default))
    if type(type_name) is not str or type_name not in TYPES:
        raise OpError(f"{where}: {given} gives no attr type; there are {listed(TYPES)}")
    if default is REQUIRED:
        return AttrDef(type_name)
    return AttrDef(type_name, attr_value(where, type_name, default))


def attr_value(where, type_name, value):
    """Return the value as the attr type keeps it (a float is rounded to 32 bits)."""
    wanted = TYPES[type_name]
    fits = type(value) is wanted or (wanted is float and type(value) is int)
    need(fits, f"{where} is a {type_name}, got {shown(value)}")
    if type(value) is int and wanted is not bool:
        most = np.iinfo(type_name).max if wanted is int else MOST_REAL
        kind = f"an {type_name}" if wanted is int else f"a {type_name}"
        fits = -most - (wanted is int) <= value <= most
        need(fits, f"{where} is {kind}, which cannot hold {shown(value)}")
    if type_name == "string" and any(mark in value for mark in SEPARATORS):
        raise OpError(f"{where} holds one of the two characters 0x1e and 0x1f, kept for transport")
    return float(np.float32(value)) if type_name == "float" else wanted(value)
