"""The interpreter's slot for a frame evaluator (PEP 523), read and set by address.

Mirrors `_PyInterpreterState_GetEvalFrameFunc` and `_PyInterpreterState_SetEvalFrameFunc`
(Python/pystate.c), which are called as they are.
"""

import ctypes


def address_installed() -> int:
    """Return the address of the evaluator that the interpreter calls now."""
    return _called("_PyInterpreterState_GetEvalFrameFunc", _interpreter())


def install(address: int) -> None:
    """Have the interpreter call the evaluator at this address; it must have been installed once."""
    _called("_PyInterpreterState_SetEvalFrameFunc", _interpreter(), address)


def _interpreter() -> int:
    return _called("PyInterpreterState_Get")


def _called(name: str, *addresses: int):
    function = ctypes.pythonapi[name]
    function.restype = ctypes.c_void_p
    # No argtypes: they make an ArgumentError of the RecursionError of a stack that is full.
    return function(*map(ctypes.c_void_p, addresses))
