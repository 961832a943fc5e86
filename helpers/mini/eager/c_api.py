"""TensorFlow's shared library -> its C functions, with the types that ctypes needs.

Mirrors tensorflow/c/tf_status.h and tensorflow/c/eager/c_api.h. The two C++ functions between an
EagerTensor and its handle are those of tensorflow/python/eager/pywrap_tensor.h; they are asked for
by the names that the compiler gave them.
"""

import ctypes
from functools import cache
from types import SimpleNamespace

from helpers.safety.arguments import kind_of

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
    "TFE_OpSetAttrFunctionName": (None, POINTER, TEXT, TEXT, SIZE),
    "TFE_OpSetAttrStringList": (
        *(None, POINTER, TEXT, ctypes.POINTER(TEXT), ctypes.POINTER(SIZE), INT),
    ),
    "TFE_OpSetAttrIntList": (None, POINTER, TEXT, ctypes.POINTER(INT64), INT),
    "TFE_OpSetAttrFloatList": (None, POINTER, TEXT, ctypes.POINTER(FLOAT), INT),
    "TFE_OpSetAttrBoolList": (None, POINTER, TEXT, ctypes.POINTER(BYTE), INT),
    "TFE_OpSetAttrTypeList": (None, POINTER, TEXT, ctypes.POINTER(INT), INT),
    "TFE_OpSetAttrShapeList": (
        *(None, POINTER, TEXT, ctypes.POINTER(ctypes.POINTER(INT64)), ctypes.POINTER(INT)),
        *(INT, POINTER),
    ),
    "TFE_Execute": (None, POINTER, ctypes.POINTER(POINTER), ctypes.POINTER(INT), POINTER),
    "TFE_DeleteTensorHandle": (None, POINTER),
}
HANDLE_OF = "_Z18EagerTensor_HandlePK7_object"  # EagerTensor_Handle(PyObject const*)
TENSOR_OF = "_Z21EagerTensorFromHandleP16TFE_TensorHandleb"  # EagerTensorFromHandle(…, bool)


@cache
def api() -> SimpleNamespace:
    """Return the C functions by name. RuntimeError where this TensorFlow does not export them.

    ctypes lets go of the GIL during each call, as `TFE_Py_Execute` does around `TFE_Execute`.
    """
    library = ctypes.CDLL(_file())
    return SimpleNamespace(
        **{name: _function(library, name, *PROTOTYPES[name]) for name in PROTOTYPES}
    )


def handle_of(tensor) -> int:
    """Return the address of an EagerTensor's handle; the tensor keeps it alive. TypeError if none.

    The C++ function does not look at what it is given, so that is done here.
    """
    _, eager_tensor = _tensorflow()
    if type(tensor) is not eager_tensor:
        raise TypeError(f"only an EagerTensor has a handle, not {kind_of(tensor)}")
    return _pair()[0](tensor)


def tensor_of(handle: int):
    """Return an EagerTensor that owns the handle at this address. ValueError for no address."""
    if not handle:
        raise ValueError("there is no handle at address 0")
    return _pair()[1](handle, False)


def live_context() -> int:
    """Return the address of TensorFlow's own TFE_Context, made now if no op has run yet."""
    context, _ = _tensorflow()
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

    @property
    def message(self) -> str:
        """Return TensorFlow's words."""
        return api().TF_Message(self.address).decode(errors="replace")

    def check(self, suffix: str = "") -> None:
        """Raise TensorFlow's own exception type with its words if something went wrong."""
        if self.code:
            raise failure(self.code, self.message + suffix)


def failure(code: int, message: str) -> Exception:
    """Return the exception of tf.errors that has this code."""
    from tensorflow.python.framework import errors

    return errors.exception_type_from_error_code(code)(None, None, message)


def _tensorflow():
    from tensorflow.python.eager import context
    from tensorflow.python.framework import ops

    return context, ops.EagerTensor


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
