"""Checks the attributes of an op, and sets each by the C function for its kind. An attribute has a
name and a value, such as "transpose_a" and True. Its *kind* is one of TF_AttrType, such as BOOL. In
this module `op` is the address of a TFE_Op, and `key` is the name of an attribute as bytes.

Mirrors SetOpAttrs of tensorflow/python/eager/pywrap_tfe_src.cc, with its words for a wrong value.
The kind comes from the definition of the op, not from the value, so `True` and 1 are not confused.
Functions, and lists of shapes, floats and bools, are left out.
"""

import ctypes
from collections.abc import Callable
from typing import NamedTuple

from .c_api import BYTE, FLOAT, INT, INT64, SIZE, TEXT, Status, api, failure

# TF_AttrType of tensorflow/c/c_api.h
STRING, INTEGER, REAL, BOOL, TYPE, SHAPE = range(6)
# codes of tf.errors
INVALID = 3
UNIMPLEMENTED = 12


def set_attributes(op: int, attrs: tuple, status: Status) -> None:
    """Set the attributes of an op. `attrs` is (name, value, name, value, …)."""
    if len(attrs) % 2:
        raise failure(INVALID, "Expecting attrs tuple to have even length.")
    names = attrs[::2]
    values = attrs[1::2]
    for name, value in zip(names, values, strict=True):
        _set_attribute(op, name, value, status)


def _set_attribute(op, name, value, status) -> None:
    """Set one attribute by the C function for its kind, which the op's definition says.

    Raise an exception of tf.errors for an unknown name, a wrong value, or a kind that is left out.
    """
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
    """Convert the Python value of an attribute for C: bytes, an int or a float, or a list of them.

    `kind` is "String", "Int", "Float", "Bool" or "Type". A wrong value raises TensorFlow's error;
    `end` is appended to its message.
    """
    attribute_kind = next(candidate for candidate in KINDS.values() if candidate.name == kind)
    parse = _parse_list if is_list else _parse_value
    try:
        return parse(attribute_kind, name.encode(), value)
    except type(failure(INVALID, "")) as error:  # tf.errors.InvalidArgumentError
        raise failure(INVALID, error.message + end) from None


def _parse_value(kind, key, value):
    """Convert a value for C. `kind` is an AttributeKind, `key` the attribute's name."""
    return kind.parse(key, value)


def _parse_list(kind, key, values) -> list:
    """Convert each of the values for C; raise TensorFlow's error for what is no sequence."""
    if not hasattr(values, "__getitem__"):
        raise _make_type_error("sequence value", key, values)
    return [kind.parse(key, value) for value in list(values)]


def _set_value(op, key, kind, value) -> None:
    """Set one value by the C function for its kind."""
    set_attribute = getattr(api(), f"TFE_OpSetAttr{kind.name}")
    data = _parse_value(kind, key, value)
    if kind.name == "String":  # C gets the length of the text as well
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
    """Set a shape, which is a sequence of sizes, a TensorShape, or None for an unknown rank.

    An unknown size is None in Python. C takes -1 for an unknown size, and for an unknown rank.
    """
    # A TensorShape of unknown rank has `rank` None. A list has no `rank`, but a length, so its rank
    # is known: `getattr` then returns 0.
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
        raise _make_type_error("a string value", key, value)
    return value.encode() if isinstance(value, str) else value


def _parse_integer(key, value, name="int64_t", bits=64) -> int:
    """Return an int, or a bool as 1 or 0.

    Raise OverflowError if a signed integer of C with so many bits cannot hold it. `name` is this
    type's name for the message about a value that is no int.
    """
    if not isinstance(value, int):
        raise _make_type_error(f"{name} value", key, value)
    limit = 2 ** (bits - 1)
    if not -limit <= value < limit:
        raise OverflowError(f"attr {key.decode()} must fit {bits} bits")
    return int(value)


def _parse_float(key, value) -> float:
    """Return a float; an int is refused, as TensorFlow does."""
    if not isinstance(value, float):
        raise _make_type_error("float value", key, value)
    return value


def _parse_bool(key, value) -> bool:
    """Return True or False; 1 and 0 are refused."""
    if not isinstance(value, bool):
        raise _make_type_error("bool value", key, value)
    return value


def _parse_type(key, value) -> int:
    """Return the enum number of a dtype, given as a DType or as that number."""
    if not isinstance(value, int) and not hasattr(value, "_type_enum"):
        raise _make_type_error("a DType.dtype", key, value)
    number = getattr(value, "_type_enum", value)
    return _parse_integer(key, number, "int", 32)


def _make_type_error(expected, key, value):
    """Return TensorFlow's error for a wrong type; `expected` is such as "a string value"."""
    name = key.decode()
    kind = type(value).__name__
    return failure(INVALID, f"Expecting {expected} for attr {name}, got {kind}")


class AttributeKind(NamedTuple):
    """How C sets attributes of one kind."""

    #: The end of the name of the C function: TFE_OpSetAttr…
    name: str
    #: (attribute's name as bytes, Python value) -> the value for C.
    parse: Callable
    #: The type of one value in C.
    c_type: type


# number in TF_AttrType -> AttributeKind
KINDS = {
    STRING: AttributeKind("String", _parse_string, TEXT),
    INTEGER: AttributeKind("Int", _parse_integer, INT64),
    REAL: AttributeKind("Float", _parse_float, FLOAT),
    BOOL: AttributeKind("Bool", _parse_bool, BYTE),
    TYPE: AttributeKind("Type", _parse_type, INT),
}
