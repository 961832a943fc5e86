"""The program's own tracer and profiler -> what sets them again after a verb has set another.

`sys.setprofile(function)` has a C function of CPython's own call it. A profiler in C, as that of
cProfile up to 3.11, has another C function, and its object cannot be called by Python.
"""

import ctypes
import sys
from collections.abc import Callable
from functools import partial

from ..safety.restoring import is_ours
from .interpreter_frame import WORD

# CPython's own functions: a verb may set others in `sys` while it records.
SETPROFILE = sys.setprofile
GETPROFILE = sys.getprofile
# At its start, the state of a thread has the C function that traces and the one that profiles, and
# then the objects that they get, in the same order (Include/cpython/pystate.h).
_WORDS_READ = 32
_WORDS_BACK = 2  # from an object back to its function


def is_of_program(hook: object) -> bool:
    """Return whether this is a tracer or a profiler, and not one of the verbs'."""
    return hook is not None and not is_ours(hook)


def tracer_setter() -> Callable[[], None]:
    """Return what sets the tracer of this thread as it is now. It is no function in Python."""
    return _setter(sys.gettrace(), sys.settrace, "PyEval_SetTrace")


def profiler_setter() -> Callable[[], None]:
    """Return what sets the profiler of this thread as it is now. It is no function in Python."""
    return _setter(GETPROFILE(), SETPROFILE, "PyEval_SetProfile")


def _setter(hook: object, set_in_python: Callable, name_in_c: str) -> Callable[[], None]:
    """Return what sets a hook: by `set_in_python`, or if C made it, by a function of the C API.

    A hook of C's whose function is not found is not set again: None is set then.
    """
    if hook is None or callable(hook):
        return partial(set_in_python, hook)
    function = _function_in_c(hook)
    if function is None:
        return partial(set_in_python, None)
    set_in_c = ctypes.pythonapi[name_in_c]
    set_in_c.restype = None
    return partial(set_in_c, ctypes.c_void_p(function), ctypes.py_object(hook))


def _function_in_c(hook: object) -> int | None:
    """Return the address of the C function that gets this object, or None if it is not found."""
    state_of_thread = ctypes.pythonapi["PyThreadState_Get"]
    state_of_thread.restype = ctypes.c_void_p
    start = ctypes.string_at(state_of_thread(), WORD * _WORDS_READ)
    words = memoryview(start).cast("P").tolist()  # "P": each word is an address
    if id(hook) not in words:
        return None
    return words[words.index(id(hook)) - _WORDS_BACK]
