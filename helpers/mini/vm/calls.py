"""Calls in a Python-written bytecode machine: make a new frame for Python code, or call C code.

If C code calls Python code, CPython runs that, not the machine.
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
    """Return a new frame for a call, with its parameters bound; None if C code does the work.

    Parameters
    ----------
    caller
        The frame of the machine that makes the call. The new frame is of the same class.
    function
        Any object. Also a class, or an object with `__call__`, may lead to Python code.
    args, kwargs
        The arguments of the call.
    """
    while type(function) is MethodType:  # the function of a method may be a method itself
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
    local = _bind_parameters(function, code, args, kwargs)
    frame = caller.frame(code, function.__globals__, function.__closure__ or (), local)
    frame.called = function
    if frame.depth > sys.getrecursionlimit():
        raise RecursionError("maximum recursion depth exceeded")
    return frame


def _make_frame_of_object(caller, callable_object, args, kwargs):
    """Return the frame of a class's `__init__`, or of an object's `__call__`.

    None if the method is not written in Python, or the object cannot be called.
    """
    if isinstance(callable_object, type):
        return _make_init_frame(caller, callable_object, args, kwargs)
    if not callable(callable_object):  # CPython raises the TypeError later
        return None
    call = type(callable_object).__call__
    if type(call) is not FunctionType:
        return None
    return make_frame(caller, call, (callable_object, *args), kwargs)


def _make_init_frame(caller, cls, args, kwargs):
    """Make an instance of a class, and return the frame of its Python `__init__`.

    None, and nothing is made, if the class has no `__init__` in Python, or if a `__new__` or a
    metaclass of the program makes the instances. CPython does the whole call then.
    """
    has_usual_call = type(cls).__call__ is type.__call__
    has_usual_new = cls.__new__ is object.__new__
    if not (has_usual_call and has_usual_new) or type(cls.__init__) is not FunctionType:
        return None
    instance = cls.__new__(cls, *args, **kwargs)
    frame = make_frame(caller, cls.__init__, (instance, *args), kwargs)
    frame.making = instance  # at the end of the frame, the caller gets the instance
    return frame


def _bind_parameters(function, code, args, kwargs) -> dict:
    """Return parameter -> value for a call. CPython's TypeError if the arguments do not fit."""
    # The usual case is fast: only positional arguments, and exactly as many as parameters.
    is_simple = not kwargs and not code.co_kwonlyargcount and not code.co_flags & STARS
    if is_simple and len(args) == code.co_argcount:
        # strict=False: in co_varnames, the names of other locals follow those of the parameters.
        return dict(zip(code.co_varnames, args, strict=False))

    signature = inspect.Signature.from_callable(function, follow_wrapped=False)
    bound = None
    with suppress(TypeError):
        bound = signature.bind(*args, **kwargs)
    if bound is None:
        # The arguments do not fit. CPython raises its own TypeError, before any line runs.
        function(*args, **kwargs)
    bound.apply_defaults()
    return bound.arguments


def call_native(caller, function, args, kwargs):
    """Call something that is not a Python function, and return its result.

    A builtin that looks at the frame of its caller, such as `locals`, is replaced by a function of
    the machine that looks at `caller`, a frame of the machine.
    """
    if type(function) in (BuiltinFunctionType, type) and function in FRAME_BUILTINS:
        return FRAME_BUILTINS[function](caller, *args, **kwargs)
    return function(*args, **kwargs)
