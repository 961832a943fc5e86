"""Attributes of ops: six of the original's 14 attr types, their checks."""

from typing import NamedTuple

import numpy as np

from helpers.mini.oneflow.errors import OpError, listed, shown
from helpers.safety.arguments import by_type

TYPES = {
    "bool": bool,
    "int32": int,
    "int64": int,
    "float": float,
    "double": float,
    "string": str,
}
REQUIRED = object()  # an attribute without a default
SEPARATORS = "\x1e\x1f"  # they part the words that are sent to a compiled definition


MOST_REAL = float(np.finfo(np.float64).max)


class AttrDef(NamedTuple):
    """One attribute of an op type: its type's name, its default (REQUIRED: none)."""

    type: str
    default: object = REQUIRED


def attr_def(where, default, type_name):
    """Return an AttrDef; without a type name the default's own type decides."""
    if type_name is None:
        names = {bool: "bool", int: "int64", float: "double", str: "string"}
        type_name = by_type(names, default)
    if type(type_name) is not str or type_name not in TYPES:
        given = shown(default) if type_name is None else shown(type_name)
        raise OpError(f"{where}: {given} gives no attr type; there are {listed(TYPES)}")
    if default is REQUIRED:
        return AttrDef(type_name)
    return AttrDef(type_name, attr_value(where, type_name, default))


def attr_value(where, type_name, value):
    """Return the value as the attr type keeps it (a float is rounded to 32 bits)."""
    wanted = TYPES[type_name]
    fits = type(value) is wanted or (wanted is float and type(value) is int)
    if not fits:
        raise OpError(f"{where} is a {type_name}, got {shown(value)}")
    if wanted is float and type(value) is int and abs(value) > MOST_REAL:
        raise OpError(f"{where} is a {type_name}, which cannot hold {shown(value)}")
    if type_name in ("int32", "int64") and value not in _range(type_name):
        raise OpError(f"{where} is an {type_name}, which cannot hold {shown(value)}")
    if type_name == "string" and any(mark in value for mark in SEPARATORS):
        raise OpError(f"{where} holds one of the two characters 0x1e and 0x1f, kept for transport")
    if type_name == "float":
        return float(np.float32(value))
    return wanted(value)


def _range(type_name):
    limits = np.iinfo(type_name)
    return range(limits.min, limits.max + 1)
