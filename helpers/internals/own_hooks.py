"""Set the program's own tracer and profiler again, after this course has replaced them for a while.

CPython stores two pointers for a profiler: a C function, and an object that the C function gets
(the same holds for a tracer). After `sys.setprofile(function)`, the C function is one of CPython's
own, and the object is `function`. A profiler written in C, such as that of cProfile up to 3.11, has
a C function of its own, and Python cannot call its object. `sys.setprofile` cannot set such a
profiler again, so the C function is found in memory and set by the C API.
"""

import ctypes
import sys
from collections.abc import Callable
from functools import partial

from ..safety.restoring import is_set_by_verb
from .interpreter_frame import WORD

# CPython's own functions. `own_profilers` replaces them in `sys` while it records.
SETPROFILE = sys.setprofile
GETPROFILE = sys.getprofile
# CPython's struct of a thread (PyThreadState, Include/cpython/pystate.h) has four pointers in a row
# near its start: the C functions of the tracer and of the profiler, and then their two objects.
_WORDS_READ = 32
_WORDS_BACK = 2  # from the pointer to an object back to the pointer to its C function


def is_of_program(hook: object) -> bool:
    """Return whether a hook is a tracer or a profiler that the program has set.

    It is not if it is None, or if this course has set it.
    """
    return hook is not None and not is_set_by_verb(hook)


def build_tracer_setter() -> Callable[[], None]:
    """Return a callable that sets again the tracer which is set in this thread now.

    The callable is a partial of a C function, so a call of it is no call of a Python function.
    """
    return _build_setter(sys.gettrace(), sys.settrace, "PyEval_SetTrace")


def build_profiler_setter() -> Callable[[], None]:
    """Return a callable that sets again the profiler which is set in this thread now.

    The callable is a partial of a C function, so a call of it is no call of a Python function.
    """
    return _build_setter(GETPROFILE(), SETPROFILE, "PyEval_SetProfile")


def _build_setter(hook: object, set_in_python: Callable, c_setter_name: str) -> Callable[[], None]:
    """Return a callable that sets `hook` as the tracer or profiler of this thread.

    Parameters
    ----------
    hook
        The tracer or profiler, or None for none. If it cannot be called, it belongs to a C function
        and is set together with that. If the C function is not found, None is set instead.
    set_in_python
        `sys.settrace` or `sys.setprofile`.
    c_setter_name
        The name of the function of CPython's C API that does the same with a C function.
    """
    if hook is None or callable(hook):
        return partial(set_in_python, hook)
    function_address = _find_c_function(hook)
    if function_address is None:
        return partial(set_in_python, None)
    set_in_c = ctypes.pythonapi[c_setter_name]
    set_in_c.restype = None
    return partial(set_in_c, ctypes.c_void_p(function_address), ctypes.py_object(hook))


def _find_c_function(hook: object) -> int | None:
    """Return the address of the C function that CPython calls with `hook`; None if not found.

    It is read from CPython's struct of this thread, a fixed number of words before the address of
    `hook`.
    """
    get_thread_state = ctypes.pythonapi["PyThreadState_Get"]
    get_thread_state.restype = ctypes.c_void_p
    struct_start = ctypes.string_at(get_thread_state(), WORD * _WORDS_READ)
    words = memoryview(struct_start).cast("P").tolist()  # "P": each word is an address
    if id(hook) not in words:
        return None
    return words[words.index(id(hook)) - _WORDS_BACK]
