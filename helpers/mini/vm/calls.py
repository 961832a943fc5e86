"""A callable and its arguments -> a frame to run, or a value where C code does the work.

What C code calls back by itself is run by CPython.
"""

import inspect
import sys
from contextlib import suppress
from types import BuiltinFunctionType, FunctionType, MethodType

from .frame_builtins import FRAME_BUILTINS
from .instructions import Unsupported

ASYNC = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
STARS = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


def make_frame(caller, function, args, kwargs):
    """Return a new frame for a call of Python code, its parameters bound; None for all else.

    `caller` is a frame of the machine; the new one is of its kind, and above the one that runs.
    """
    while type(function) is MethodType:
        args = (function.__self__, *args)
        function = function.__func__
    if type(function) is BuiltinFunctionType:
        return None
    if type(function) is not FunctionType:
        return _make_frame_of_object(caller, function, args, kwargs)

    code = function.__code__
    if code.co_flags & ASYNC:
        raise Unsupported(f"this machine runs no async code, and {code.co_qualname} is async")
    if not code.co_flags & inspect.CO_OPTIMIZED:  # the body of a class: CPython runs that
        return None
    local = _bind(function, code, args, kwargs)
    frame = caller.frame(code, function.__globals__, function.__closure__ or (), local)
    frame.called = function
    if frame.depth > sys.getrecursionlimit():
        raise RecursionError("maximum recursion depth exceeded")
    return frame


def _make_frame_of_object(caller, callable_object, args, kwargs):
    """Return the frame of a class's `__init__` or of an object's `__call__`, if Python code."""
    if isinstance(callable_object, type):
        return _make_init_frame(caller, callable_object, args, kwargs)
    if not callable(callable_object):
        return None
    call = type(callable_object).__call__
    if type(call) is not FunctionType:
        return None
    return make_frame(caller, call, (callable_object, *args), kwargs)


def _make_init_frame(caller, cls, args, kwargs):
    """Return the frame of a Python `__init__`, its instance made.

    None if the class makes instances by a metaclass or a `__new__`, or has no Python `__init__`.
    """
    plain = type(cls).__call__ is type.__call__ and cls.__new__ is object.__new__
    if not plain or type(cls.__init__) is not FunctionType:
        return None
    obj = cls.__new__(cls, *args, **kwargs)
    frame = make_frame(caller, cls.__init__, (obj, *args), kwargs)
    frame.making = obj
    return frame


def _bind(function, code, args, kwargs) -> dict:
    """Return the parameters with their values. Raise CPython's TypeError if they do not fit."""
    is_plain = not kwargs and not code.co_kwonlyargcount and not code.co_flags & STARS
    if is_plain and len(args) == code.co_argcount:
        # strict=False: the names of other locals follow those of the parameters.
        return dict(zip(code.co_varnames, args, strict=False))

    signature = inspect.Signature.from_callable(function, follow_wrapped=False)
    bound = None
    with suppress(TypeError):
        bound = signature.bind(*args, **kwargs)
    if bound is None:
        function(*args, **kwargs)  # CPython says what does not fit; no line of the function runs
    bound.apply_defaults()
    return bound.arguments


def call_native(caller, function, args, kwargs):
    """Call what is not a Python function. Builtins that look at their caller see this machine's."""
    if type(function) in (BuiltinFunctionType, type) and function in FRAME_BUILTINS:
        return FRAME_BUILTINS[function](caller, *args, **kwargs)
    return function(*args, **kwargs)
