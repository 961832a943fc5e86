"""TensorFlow's shared library -> its C functions; and attributes, each set by the one for its kind.

Mirrors tensorflow/c/tf_status.h and tensorflow/c/eager/c_api.h; the two C++ functions between an
EagerTensor and its handle are asked for by the names that the compiler gave them. Attributes are
set as by SetOpAttrs of pywrap_tfe_src.cc, with its words for a wrong value. The kind is asked of
the op, so `True` and 1 are not confused. Functions, and lists of shapes, floats and bools, are left
out.
"""

import ctypes
from functools import cache
from types import SimpleNamespace

from ...safety.arguments import real_type_name

POINTER, TEXT, INT, INT64 = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_int64
BYTE, SIZE, FLOAT = ctypes.c_ubyte, ctypes.c_size_t, ctypes.c_float

# name -> what it returns, what it takes
PROTOTYPES = {
    "TF_NewStatus": (POINTER,),
    "TF_DeleteStatus": (None, POINTER),
    "TF_GetCode": (INT, POINTER),
    "TF_Message": (TEXT, POINTER),
    "TFE_NewOp": (POINTER, POINTER, TEXT, POINTER),
    "TFE_DeleteOp": (None, POINTER),
    "TFE_OpSetDevice": (None, POINTER, TEXT, POINTER),
    "TFE_OpAddInput": (None, POINTER, POINTER, POINTER),
    "TFE_OpAddInputList": (None, POINTER, ctypes.POINTER(POINTER), INT, POINTER),
    "TFE_OpGetAttrType": (INT, POINTER, TEXT, ctypes.POINTER(BYTE), POINTER),
    "TFE_OpSetAttrString": (None, POINTER, TEXT, TEXT, SIZE),
    "TFE_OpSetAttrInt": (None, POINTER, TEXT, INT64),
    "TFE_OpSetAttrFloat": (None, POINTER, TEXT, FLOAT),
    "TFE_OpSetAttrBool": (None, POINTER, TEXT, BYTE),
    "TFE_OpSetAttrType": (None, POINTER, TEXT, INT),
    "TFE_OpSetAttrShape": (None, POINTER, TEXT, ctypes.POINTER(INT64), INT, POINTER),
    "TFE_OpSetAttrStringList": (
        *(None, POINTER, TEXT, ctypes.POINTER(TEXT), ctypes.POINTER(SIZE), INT),
    ),
    "TFE_OpSetAttrIntList": (None, POINTER, TEXT, ctypes.POINTER(INT64), INT),
    "TFE_OpSetAttrTypeList": (None, POINTER, TEXT, ctypes.POINTER(INT), INT),
    "TFE_Execute": (None, POINTER, ctypes.POINTER(POINTER), ctypes.POINTER(INT), POINTER),
    "TFE_DeleteTensorHandle": (None, POINTER),
}
HANDLE_OF = "_Z18EagerTensor_HandlePK7_object"  # EagerTensor_Handle(PyObject const*)
TENSOR_OF = "_Z21EagerTensorFromHandleP16TFE_TensorHandleb"  # EagerTensorFromHandle(…, bool)


@cache
def api() -> SimpleNamespace:
    """Return the C functions by name. RuntimeError where this TensorFlow does not export them."""
    library = ctypes.CDLL(_file())
    found = {name: _function(library, name, *types) for name, types in PROTOTYPES.items()}
    return SimpleNamespace(**found)


def handle_of(tensor) -> int:
    """Return the address of an EagerTensor's handle, which the tensor keeps alive."""
    from tensorflow.python.framework import ops

    if type(tensor) is not ops.EagerTensor:
        raise TypeError(f"only an EagerTensor has a handle, not {real_type_name(tensor)}")
    return _pair()[0](tensor)


def tensor_of(handle: int):
    """Return an EagerTensor that owns the handle at this address. ValueError for no address."""
    if not handle:
        raise ValueError("there is no handle at address 0")
    return _pair()[1](handle, False)


def live_context() -> int:
    """Return the address of TensorFlow's own TFE_Context, made now if no op has run yet."""
    from tensorflow.python.eager import context

    current = context.context()
    current.ensure_initialized()
    ask = ctypes.pythonapi.PyCapsule_GetPointer
    ask.restype, ask.argtypes = POINTER, [ctypes.py_object, TEXT]
    return ask(current._handle, None)


class Status:
    """A TF_Status: where a C function writes what went wrong. `with` gives it back at the end."""

    def __enter__(self):
        self.address = api().TF_NewStatus()
        return self

    def __exit__(self, *_):
        api().TF_DeleteStatus(self.address)

    @property
    def code(self) -> int:
        """Return 0 when all is well, else one of tf.errors' codes."""
        return api().TF_GetCode(self.address)

    def check(self, suffix: str = "") -> None:
        """Raise TensorFlow's own exception type with its words if something went wrong."""
        if self.code:
            words = api().TF_Message(self.address).decode(errors="replace")
            raise failure(self.code, words + suffix)


def failure(code: int, message: str) -> Exception:
    """Return the exception of tf.errors that has this code."""
    from tensorflow.python.framework import errors

    return errors.exception_type_from_error_code(code)(None, None, message)


def _file() -> str:
    from tensorflow.python import _pywrap_tensorflow_internal

    return _pywrap_tensorflow_internal.__file__  # a stub; dlsym looks into what it depends on


@cache
def _pair():
    library = ctypes.PyDLL(_file())  # keeps the GIL: these two touch Python objects
    return (
        _function(library, HANDLE_OF, POINTER, ctypes.py_object),
        _function(library, TENSOR_OF, ctypes.py_object, POINTER, ctypes.c_bool),
    )


def _function(library, name, result, *arguments):
    try:
        found = library[name]
    except AttributeError:
        raise RuntimeError(f"this build of TensorFlow does not export {name}") from None
    found.restype, found.argtypes = result, arguments
    return found


STRING, INTEGER, REAL, BOOL, TYPE, SHAPE = range(6)
INVALID, UNIMPLEMENTED = 3, 12


def set_attributes(op: int, attrs: tuple, status: Status) -> None:
    """Set `attrs`, which alternate name and value, on the op at this address."""
    if len(attrs) % 2:
        raise failure(INVALID, "Expecting attrs tuple to have even length.")
    for name, value in zip(attrs[::2], attrs[1::2], strict=True):
        is_list, key = BYTE(), name.encode()
        kind = api().TFE_OpGetAttrType(op, key, ctypes.byref(is_list), status.address)
        status.check()
        if kind == SHAPE and not is_list.value:
            _set_shape(op, key, value, status)
        elif kind in (STRING, INTEGER, TYPE) or (kind in _KINDS and not is_list.value):
            _set(op, key, kind, value, bool(is_list.value))
        else:
            words = f"Attr {name} has unhandled {'list ' * is_list.value}type {kind}"
            raise failure(UNIMPLEMENTED, words)


def parsed(kind: str, name: str, value, is_list: bool = False, end: str = ""):
    """Return an attribute's value as C wants it: bytes, an int, a float; for a list a list of them.

    `kind`: String, Int, Float, Bool or Type. `end` follows TensorFlow's words for a wrong one.
    """
    parse = next(parse for stem, parse, _ in _KINDS.values() if stem == kind)
    try:
        return _parse(parse, name.encode(), value, is_list)
    except type(failure(INVALID, "")) as error:
        raise failure(INVALID, error.message + end) from None


def _parse(parse, key, value, is_list):
    if is_list and not hasattr(value, "__getitem__"):
        raise _expecting("sequence value", key, value)
    return [parse(key, one) for one in list(value)] if is_list else parse(key, value)


def _set(op, key, kind, value, is_list):
    stem, parse, c_type = _KINDS[kind]
    data = _parse(parse, key, value, is_list)
    more = [len(data)] if is_list or kind == STRING else []
    if is_list and kind == STRING:
        more.insert(0, (SIZE * len(data))(*map(len, data)))
    data = (c_type * len(data))(*data) if is_list else data
    getattr(api(), f"TFE_OpSetAttr{stem}{'List' * is_list}")(op, key, data, *more)


def _set_shape(op, key, value, status):
    known = value is not None and getattr(value, "rank", 0) is not None
    dims = [-1 if size is None else _integer(key, size) for size in value] if known else []
    count, dims = len(dims) if known else -1, (INT64 * len(dims))(*dims)
    api().TFE_OpSetAttrShape(op, key, dims, count, status.address)
    status.check()


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


def _as_it_is(kind, words):
    def parse(key, value):
        if not isinstance(value, kind):
            raise _expecting(words, key, value)
        return value

    return parse


def _type(key, value) -> int:
    if not isinstance(value, int) and not hasattr(value, "_type_enum"):
        raise _expecting("a DType.dtype", key, value)
    return _integer(key, getattr(value, "_type_enum", value), "int", 32)


def _expecting(what, key, value):
    return failure(INVALID, f"Expecting {what} for attr {key.decode()}, got {type(value).__name__}")


_KINDS = {  # the end of the function's name, what makes a Python value fit, its type in C
    STRING: ("String", _string, TEXT),
    INTEGER: ("Int", _integer, INT64),
    REAL: ("Float", _as_it_is(float, "float value"), FLOAT),
    BOOL: ("Bool", _as_it_is(bool, "bool value"), BYTE),
    TYPE: ("Type", _type, INT),
}
