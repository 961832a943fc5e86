"""The attributes of an op: each is checked and set by the C function for its kind.

Mirrors SetOpAttrs of tensorflow/python/eager/pywrap_tfe_src.cc, with its words for a wrong value.
The kind is asked of the op, so `True` and 1 are not confused. Functions, and lists of shapes,
floats and bools, are left out.
"""

import ctypes
from collections.abc import Callable
from typing import NamedTuple

from .c_api import BYTE, FLOAT, INT, INT64, SIZE, TEXT, Status, api, failure

# TF_AttrType of tensorflow/c/c_api.h
STRING, INTEGER, REAL, BOOL, TYPE, SHAPE = range(6)
# tf.errors' codes
INVALID = 3
UNIMPLEMENTED = 12


def set_attributes(op: int, attrs: tuple, status: Status) -> None:
    """Set `attrs`, which alternate name and value, on the op at this address."""
    if len(attrs) % 2:
        raise failure(INVALID, "Expecting attrs tuple to have even length.")
    names = attrs[::2]
    values = attrs[1::2]
    for name, value in zip(names, values, strict=True):
        _set_attribute(op, name, value, status)


def _set_attribute(op, name, value, status) -> None:
    """Set one attribute. Raise tf.errors' exceptions for a wrong name or value."""
    key = name.encode()
    list_flag = BYTE()
    kind = api().TFE_OpGetAttrType(op, key, ctypes.byref(list_flag), status.address)
    status.check()
    is_list = bool(list_flag.value)

    if kind == SHAPE and not is_list:
        _set_shape(op, key, value, status)
    elif is_list and kind in (STRING, INTEGER, TYPE):
        _set_list(op, key, KINDS[kind], value)
    elif not is_list and kind in KINDS:
        _set_value(op, key, KINDS[kind], value)
    else:
        type_name = f"list type {kind}" if is_list else f"type {kind}"
        raise failure(UNIMPLEMENTED, f"Attr {name} has unhandled {type_name}")


def parsed(kind: str, name: str, value, is_list: bool = False, end: str = ""):
    """Return an attribute's value as C wants it: bytes, an int, a float; for a list a list of them.

    `kind`: String, Int, Float, Bool or Type. `end` follows TensorFlow's words for a wrong one.
    """
    attribute_kind = next(known for known in KINDS.values() if known.name == kind)
    parse = _parse_list if is_list else _parse_value
    try:
        return parse(attribute_kind, name.encode(), value)
    except type(failure(INVALID, "")) as error:
        raise failure(INVALID, error.message + end) from None


def _parse_value(kind, key, value):
    """Return a value as C wants it; `kind` is an AttributeKind, `key` the attribute's name."""
    return kind.parse(key, value)


def _parse_list(kind, key, values) -> list:
    """Return each of the values as C wants it."""
    if not hasattr(values, "__getitem__"):
        raise _expecting("sequence value", key, values)
    return [kind.parse(key, value) for value in list(values)]


def _set_value(op, key, kind, value) -> None:
    """Set one value by the C function for its kind."""
    set_attribute = getattr(api(), f"TFE_OpSetAttr{kind.name}")
    data = _parse_value(kind, key, value)
    if kind.name == "String":
        set_attribute(op, key, data, len(data))
    else:
        set_attribute(op, key, data)


def _set_list(op, key, kind, values) -> None:
    """Set a list of values by the C function for its kind."""
    set_attribute = getattr(api(), f"TFE_OpSetAttr{kind.name}List")
    data = _parse_list(kind, key, values)
    count = len(data)
    array = (kind.c_type * count)(*data)
    if kind.name == "String":
        lengths = (SIZE * count)(*map(len, data))
        set_attribute(op, key, array, lengths, count)
    else:
        set_attribute(op, key, array, count)


def _set_shape(op, key, value, status) -> None:
    """Set a shape: a sequence of sizes or a TensorShape. An unknown size or rank is None.

    C has -1 for both.
    """
    # A TensorShape of unknown rank has None as its `rank`; a list has no `rank`, and its rank is
    # known.
    has_rank = value is not None and getattr(value, "rank", 0) is not None
    sizes = []
    if has_rank:
        sizes = [-1 if size is None else _parse_integer(key, size) for size in value]
    rank = len(sizes) if has_rank else -1
    array = (INT64 * len(sizes))(*sizes)
    api().TFE_OpSetAttrShape(op, key, array, rank, status.address)
    status.check()


def _parse_string(key, value) -> bytes:
    """Return text as bytes, and bytes as they are."""
    if not isinstance(value, (str, bytes)):
        raise _expecting("a string value", key, value)
    return value.encode() if isinstance(value, str) else value


def _parse_integer(key, value, name="int64_t", bits=64) -> int:
    """Return an int, True as 1; OverflowError if the type of C with so many bits cannot hold it."""
    if not isinstance(value, int):
        raise _expecting(f"{name} value", key, value)
    limit = 2 ** (bits - 1)
    if not -limit <= value < limit:
        raise OverflowError(f"attr {key.decode()} must fit {bits} bits")
    return int(value)


def _parse_float(key, value) -> float:
    """Return a float; an int is refused, as TensorFlow does."""
    if not isinstance(value, float):
        raise _expecting("float value", key, value)
    return value


def _parse_bool(key, value) -> bool:
    """Return True or False; 1 and 0 are refused."""
    if not isinstance(value, bool):
        raise _expecting("bool value", key, value)
    return value


def _parse_type(key, value) -> int:
    """Return the number of a dtype, which may be given as that number or as a DType."""
    if not isinstance(value, int) and not hasattr(value, "_type_enum"):
        raise _expecting("a DType.dtype", key, value)
    number = getattr(value, "_type_enum", value)
    return _parse_integer(key, number, "int", 32)


def _expecting(expected, key, value):
    """Return the error for a value of the wrong type, in TensorFlow's words."""
    name = key.decode()
    kind = type(value).__name__
    return failure(INVALID, f"Expecting {expected} for attr {name}, got {kind}")


class AttributeKind(NamedTuple):
    """How attributes of one kind are set."""

    #: How the C function's name ends: TFE_OpSetAttr…
    name: str
    #: (attribute's name as bytes, Python value) -> the value for C.
    parse: Callable
    #: The type of one value in C.
    c_type: type


KINDS = {
    STRING: AttributeKind("String", _parse_string, TEXT),
    INTEGER: AttributeKind("Int", _parse_integer, INT64),
    REAL: AttributeKind("Float", _parse_float, FLOAT),
    BOOL: AttributeKind("Bool", _parse_bool, BYTE),
    TYPE: AttributeKind("Type", _parse_type, INT),
}
