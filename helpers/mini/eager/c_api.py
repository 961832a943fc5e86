"""TensorFlow's shared library -> its C functions.

Mirrors tensorflow/c/tf_status.h and tensorflow/c/eager/c_api.h; the two C++ functions between an
EagerTensor and its handle are asked for by the names that the compiler gave them.
"""

import ctypes
from functools import cache
from types import SimpleNamespace

from ...safety.arguments import real_type_name

POINTER = ctypes.c_void_p
TEXT = ctypes.c_char_p
INT = ctypes.c_int
INT64 = ctypes.c_int64
BYTE = ctypes.c_ubyte
SIZE = ctypes.c_size_t
FLOAT = ctypes.c_float

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
        None,
        POINTER,
        TEXT,
        ctypes.POINTER(TEXT),
        ctypes.POINTER(SIZE),
        INT,
    ),
    "TFE_OpSetAttrIntList": (None, POINTER, TEXT, ctypes.POINTER(INT64), INT),
    "TFE_OpSetAttrTypeList": (None, POINTER, TEXT, ctypes.POINTER(INT), INT),
    "TFE_Execute": (None, POINTER, ctypes.POINTER(POINTER), ctypes.POINTER(INT), POINTER),
    "TFE_DeleteTensorHandle": (None, POINTER),
}
# Two functions in C++, whose names the compiler has mangled.
HANDLE_OF = "_Z18EagerTensor_HandlePK7_object"  # EagerTensor_Handle(PyObject const*)
TENSOR_OF = "_Z21EagerTensorFromHandleP16TFE_TensorHandleb"  # EagerTensorFromHandle(…, bool)


@cache
def api() -> SimpleNamespace:
    """Return the C functions by name. RuntimeError where this TensorFlow does not export them."""
    library = ctypes.CDLL(_library_file())
    functions = {}
    for name, (result, *arguments) in PROTOTYPES.items():
        functions[name] = _find_function(library, name, result, *arguments)
    return SimpleNamespace(**functions)


def handle_of(tensor) -> int:
    """Return the address of an EagerTensor's handle, which the tensor keeps alive."""
    from tensorflow.python.framework import ops

    if type(tensor) is not ops.EagerTensor:
        raise TypeError(f"only an EagerTensor has a handle, not {real_type_name(tensor)}")
    return _conversions().handle_of(tensor)


def tensor_of(handle: int):
    """Return an EagerTensor that owns the handle at this address. ValueError for no address."""
    if not handle:
        raise ValueError("there is no handle at address 0")
    return _conversions().tensor_of(handle, False)


def live_context() -> int:
    """Return the address of TensorFlow's own TFE_Context, made now if no op has run yet."""
    from tensorflow.python.eager import context

    current = context.context()
    current.ensure_initialized()
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype = POINTER
    get_pointer.argtypes = [ctypes.py_object, TEXT]
    return get_pointer(current._handle, None)


class Status:
    """A TF_Status: where a C function writes what went wrong. `with` gives it back at the end."""

    def __enter__(self):
        """Make the TF_Status; its address is what C functions take."""
        self.address = api().TF_NewStatus()
        return self

    def __exit__(self, *_):
        """Free it."""
        api().TF_DeleteStatus(self.address)

    @property
    def code(self) -> int:
        """Return 0 when all is well, else one of tf.errors' codes."""
        return api().TF_GetCode(self.address)

    def check(self, suffix: str = "") -> None:
        """Raise TensorFlow's own exception type with its words if something went wrong."""
        if self.code:
            message = api().TF_Message(self.address).decode(errors="replace")
            raise failure(self.code, message + suffix)


def failure(code: int, message: str) -> Exception:
    """Return an exception with this message, of the type of tf.errors that has this code."""
    from tensorflow.python.framework import errors

    return errors.exception_type_from_error_code(code)(None, None, message)


def _library_file() -> str:
    """Return the path of the library by which all symbols of TensorFlow are found."""
    from tensorflow.python import _pywrap_tensorflow_internal

    return _pywrap_tensorflow_internal.__file__  # a stub; dlsym looks into what it depends on


@cache
def _conversions() -> SimpleNamespace:
    """Return the two functions between an EagerTensor and its handle."""
    library = ctypes.PyDLL(_library_file())  # keeps the GIL: these two touch Python objects
    return SimpleNamespace(
        handle_of=_find_function(library, HANDLE_OF, POINTER, ctypes.py_object),
        tensor_of=_find_function(library, TENSOR_OF, ctypes.py_object, POINTER, ctypes.c_bool),
    )


def _find_function(library, name, result, *arguments):
    """Return a function of a library, with the ctypes of its result and its arguments.

    Raise RuntimeError if the library has none of that name.
    """
    try:
        function = library[name]
    except AttributeError:
        raise RuntimeError(f"this build of TensorFlow does not export {name}") from None
    function.restype = result
    function.argtypes = arguments
    return function
