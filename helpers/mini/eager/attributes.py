"""Attributes -> set on an op, each by the C function for its kind.

Mirrors SetOpAttrs, SetOpAttrScalar and SetOpAttrList of tensorflow/python/eager/pywrap_tfe_src.cc,
with their words for a wrong value. The kind is asked of the op, so `True` and 1 are not confused.
"""

import ctypes

from helpers.mini.eager.c_api import BYTE, FLOAT, INT, INT64, SIZE, TEXT, Status, api, failure

STRING, INTEGER, REAL, BOOL, TYPE, SHAPE, _TENSOR, _PLACEHOLDER, FUNCTION = range(9)
INVALID, UNIMPLEMENTED = 3, 12


def set_attributes(op: int, attrs: tuple, status: Status) -> None:
    """Set `attrs`, which alternate name and value, on the op at this address.

    Raises what TensorFlow would: InvalidArgumentError, UnimplementedError.
    """
    if len(attrs) % 2:
        raise failure(INVALID, "Expecting attrs tuple to have even length.")
    for name, value in zip(attrs[::2], attrs[1::2], strict=True):
        is_list = BYTE()
        key = name.encode() if isinstance(name, str) else name
        kind = api().TFE_OpGetAttrType(op, key, ctypes.byref(is_list), status.address)
        status.check()
        known = _LISTS if is_list.value else _SCALARS
        if kind not in known:
            list_ = "list " if is_list.value else ""
            words = f"Attr {key.decode()} has unhandled {list_}type {kind}"
            raise failure(UNIMPLEMENTED, words)
        known[kind](op, key, value, status)


def parsed(kind: str, name: str, value, is_list: bool = False, end: str = ""):
    """Return an attribute's value as C wants it: bytes, an int, a float; for a list a list of them.

    `kind`: String, Int, Float, Bool or Type. Raises InvalidArgumentError with TensorFlow's words,
    and `end` behind them, for a value of another Python type.
    """
    parse, key = _PARSERS[kind], name.encode()
    try:
        return [parse(key, one) for one in _sequence(key, value)] if is_list else parse(key, value)
    except type(failure(INVALID, "")) as error:
        raise failure(INVALID, error.message + end) from None


def _scalar_of(parse, function):
    def set_scalar(op, key, value, status):
        getattr(api(), function)(op, key, parse(key, value))

    return set_scalar


def _set_string(op, key, value, status):
    data = _string(key, value)
    api().TFE_OpSetAttrString(op, key, data, len(data))


def _set_shape(op, key, value, status):
    dims = _dims(key, value, f"Expecting None or sequence value for attr{key.decode()}")
    count = -1 if dims is None else len(dims)
    api().TFE_OpSetAttrShape(op, key, (INT64 * max(count, 0))(*dims or ()), count, status.address)
    status.check()


def _set_function(op, key, value, status):
    named = value if isinstance(value, (str, bytes)) else getattr(value, "name", None)
    if not isinstance(named, (str, bytes)):
        raise failure(
            INVALID,
            f"unable to set function value attribute from a {_type_name(value)} object. If you "
            "think this is an error, please file an issue at "
            "https://github.com/tensorflow/tensorflow/issues/new",
        )
    data = _string(key, named)
    api().TFE_OpSetAttrFunctionName(op, key, data, len(data))


def _set_strings(op, key, values, status):
    data = [_string(key, value) for value in _sequence(key, values)]
    lengths = (SIZE * len(data))(*map(len, data))
    api().TFE_OpSetAttrStringList(op, key, (TEXT * len(data))(*data), lengths, len(data))


def _set_shapes(op, key, values, status):
    shapes = [
        _dims(key, value, f"Expecting None or sequence value for element{i} of attr {key.decode()}")
        for i, value in enumerate(_sequence(key, values))
    ]
    rows = [(INT64 * len(dims or ()))(*dims or ()) for dims in shapes]
    counts = [-1 if dims is None else len(dims) for dims in shapes]
    pointers = [ctypes.cast(row, ctypes.POINTER(INT64)) for row in rows]
    api().TFE_OpSetAttrShapeList(
        op,
        key,
        (ctypes.POINTER(INT64) * len(rows))(*pointers),
        (INT * len(rows))(*counts),
        len(rows),
        status.address,
    )
    status.check()


def _list_of(parse, kind, function):
    def set_list(op, key, values, status):
        parsed = [parse(key, value) for value in _sequence(key, values)]
        getattr(api(), function)(op, key, (kind * len(parsed))(*parsed), len(parsed))

    return set_list


def _sequence(key, values):
    if not (isinstance(values, (list, tuple, str, bytes)) or hasattr(values, "__getitem__")):
        raise _expecting("sequence value", key, values)
    return list(values)


def _string(key, value) -> bytes:
    if not isinstance(value, (str, bytes)):
        raise _expecting("a string value", key, value)
    return value.encode() if isinstance(value, str) else value


def _integer(key, value, name="int64_t", bits=64) -> int:
    if not isinstance(value, int):
        raise _expecting(f"{name} value", key, value)
    if not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
        raise OverflowError(f"attr {key.decode()} must fit {bits} bits")
    return int(value)


def _real(key, value) -> float:
    if not isinstance(value, float):
        raise _expecting("float value", key, value)
    return float(value)


def _bool(key, value) -> bool:
    if not isinstance(value, bool):
        raise _expecting("bool value", key, value)
    return value


def _type(key, value) -> int:
    if not isinstance(value, int) and not hasattr(value, "_type_enum"):
        raise _expecting("a DType.dtype", key, value)
    return _integer(key, getattr(value, "_type_enum", value), "int", 32)


def _dims(key, value, expecting) -> list[int] | None:
    """Return a shape's sizes with -1 for unknown ones; None if even their number is unknown."""
    if value is None or getattr(value, "rank", 0) is None:
        return None
    if not hasattr(value, "__getitem__"):
        raise failure(INVALID, f"{expecting}, got {_type_name(value)}")
    return [-1 if size is None else _size(key, size) for size in list(value)]


def _size(key, size) -> int:
    if isinstance(size, int):
        return _integer(key, size)
    if not hasattr(size, "_value"):
        raise failure(
            INVALID, f"Expecting a Dimension for attr {key.decode()}, got {_type_name(size)}"
        )
    return -1 if size._value is None else _integer(key, size._value)


def _expecting(what, key, value):
    return failure(INVALID, f"Expecting {what} for attr {key.decode()}, got {_type_name(value)}")


def _type_name(value) -> str:
    """Return what C calls tp_name: built-in and heap types have their bare name there."""
    kind = type(value)
    bare = kind.__flags__ & (1 << 9) or kind.__module__ == "builtins"
    return kind.__name__ if bare else f"{kind.__module__}.{kind.__name__}"


_PARSERS = {"String": _string, "Int": _integer, "Float": _real, "Bool": _bool, "Type": _type}
_SCALARS = {
    STRING: _set_string,
    INTEGER: _scalar_of(_integer, "TFE_OpSetAttrInt"),
    REAL: _scalar_of(_real, "TFE_OpSetAttrFloat"),
    BOOL: _scalar_of(_bool, "TFE_OpSetAttrBool"),
    TYPE: _scalar_of(_type, "TFE_OpSetAttrType"),
    SHAPE: _set_shape,
    FUNCTION: _set_function,
}
_LISTS = {
    STRING: _set_strings,
    INTEGER: _list_of(_integer, INT64, "TFE_OpSetAttrIntList"),
    REAL: _list_of(_real, FLOAT, "TFE_OpSetAttrFloatList"),
    BOOL: _list_of(_bool, BYTE, "TFE_OpSetAttrBoolList"),
    TYPE: _list_of(_type, INT, "TFE_OpSetAttrTypeList"),
    SHAPE: _set_shapes,
}
