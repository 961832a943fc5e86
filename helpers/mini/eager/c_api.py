"""Calls C functions of TensorFlow's shared library through ctypes. A *handle* is the C++ object
with the data of an EagerTensor. A *status* is the object in which a C function writes its error.

Mirrors tensorflow/c/tf_status.h and tensorflow/c/eager/c_api.h. Two C++ functions convert between
an EagerTensor and its handle. They are found by the names that the compiler gave them.
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

# name of a C function -> (type of its result, types of its arguments …)
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
    """Return an object with the C functions of `PROTOTYPES` as attributes, such as `TFE_NewOp`.

    RuntimeError if this build of TensorFlow does not export one of them.
    """
    library = ctypes.CDLL(_library_file())
    functions = {}
    for name, (result, *arguments) in PROTOTYPES.items():
        functions[name] = _find_function(library, name, result, *arguments)
    return SimpleNamespace(**functions)


def handle_of(tensor) -> int:
    """Return the address of an EagerTensor's handle. It is valid as long as the tensor lives."""
    from tensorflow.python.framework import ops

    if type(tensor) is not ops.EagerTensor:
        raise TypeError(f"only an EagerTensor has a handle, not {real_type_name(tensor)}")
    return _conversions().handle_of(tensor)


def tensor_of(handle: int):
    """Return a new EagerTensor that owns the handle at this address. ValueError for address 0."""
    if not handle:
        raise ValueError("there is no handle at address 0")
    return _conversions().tensor_of(handle, False)


def live_context() -> int:
    """Return the address of TensorFlow's TFE_Context, which every op runs in.

    TensorFlow keeps it in a capsule. It is made now if no op has run yet.
    """
    from tensorflow.python.eager import context

    current = context.context()
    current.ensure_initialized()
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype = POINTER
    get_pointer.argtypes = [ctypes.py_object, TEXT]
    return get_pointer(current._handle, None)


class Status:
    """A TF_Status: C functions write their error into it. A `with` block makes and frees it."""

    def __enter__(self):
        """Make the TF_Status; its address is what C functions take."""
        self.address = api().TF_NewStatus()
        return self

    def __exit__(self, *_):
        """Free it."""
        api().TF_DeleteStatus(self.address)

    @property
    def code(self) -> int:
        """Return 0 if the last C function succeeded, else a code of tf.errors."""
        return api().TF_GetCode(self.address)

    def check(self, suffix: str = "") -> None:
        """Raise TensorFlow's exception if the last C function failed; `suffix` ends its message."""
        if self.code:
            message = api().TF_Message(self.address).decode(errors="replace")
            raise failure(self.code, message + suffix)


def failure(code: int, message: str) -> Exception:
    """Return an exception with this message, of the type in tf.errors for this code."""
    from tensorflow.python.framework import errors

    return errors.exception_type_from_error_code(code)(None, None, message)


def _library_file() -> str:
    """Return the path of the library through which all symbols of TensorFlow can be found."""
    from tensorflow.python import _pywrap_tensorflow_internal

    # This library has few symbols of its own. dlsym also searches the libraries that it depends on.
    return _pywrap_tensorflow_internal.__file__


@cache
def _conversions() -> SimpleNamespace:
    """Return an object with the two C++ functions `handle_of` and `tensor_of`.

    PyDLL does not release the GIL during a call, which functions that touch Python objects need.
    """
    library = ctypes.PyDLL(_library_file())
    return SimpleNamespace(
        handle_of=_find_function(library, HANDLE_OF, POINTER, ctypes.py_object),
        tensor_of=_find_function(library, TENSOR_OF, ctypes.py_object, POINTER, ctypes.c_bool),
    )


def _find_function(library, name, result, *arguments):
    """Return the function `name` of a library; set the ctypes of its result and arguments.

    Raise RuntimeError if the library does not export the name.
    """
    try:
        function = library[name]
    except AttributeError:
        raise RuntimeError(f"this build of TensorFlow does not export {name}") from None
    function.restype = result
    function.argtypes = arguments
    return function
