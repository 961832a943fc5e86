"""A callable and its arguments -> a frame to run, or a value where C code does the work.

Python functions, methods, classes with a Python `__init__` and objects with a Python `__call__`
run in the machine. What C code calls back by itself (the key of `sorted`, a property) is run by
CPython: it never asks us.
"""

import inspect
import sys
from types import BuiltinFunctionType, FunctionType, MethodType

from helpers.mini.vm import frame_askers, frames, locals_view
from helpers.mini.vm.special import python_method
from helpers.mini.vm.values import NULL, Unsupported
from helpers.safety.arguments import printable

ASYNC = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
# What a program may get hold of and is our own code: CPython runs it.
OURS = frozenset(id(vars(module)) for module in (frames, locals_view))
STAR, STAR_STAR = inspect.CO_VARARGS, inspect.CO_VARKEYWORDS


def enter(caller, function, args, kwargs):
    """Return a new frame for a call of Python code, its parameters bound; None for all else."""
    while type(function) is MethodType:
        function, args = function.__func__, (function.__self__, *args)
    if type(function) is not FunctionType:
        if isinstance(function, type):
            return _enter_init(caller, function, args, kwargs)
        if type(function) is BuiltinFunctionType:
            return None
        call = python_method(function, "__call__")
        return enter(caller, call, (function, *args), kwargs) if call else None
    code, space = function.__code__, function.__globals__
    if id(space) in OURS:
        return None
    if code.co_flags & ASYNC:
        name = printable(code.co_qualname)
        raise Unsupported(f"this machine runs no async code, and {name} is async")
    local = _bound(function, code, args, kwargs)
    # Code of a module or a class has no fast locals: a function of it works on its globals.
    names = None if code.co_flags & inspect.CO_OPTIMIZED else space
    frame = caller.frame(code, space, names, function.__closure__ or (), local)
    if code.co_flags & inspect.CO_GENERATOR:
        frame.titles = function.__name__, function.__qualname__
    if frame.depth > sys.getrecursionlimit():
        raise RecursionError("maximum recursion depth exceeded")
    return frame


def _enter_init(caller, cls, args, kwargs):
    """Return the frame of a Python `__init__`, its instance made; None for every rarer way."""
    if type(cls).__call__ is not type.__call__ or cls.__new__ is not object.__new__:
        return None
    init = cls.__init__
    if type(init) is not FunctionType:
        return None
    obj = cls.__new__(cls, *args, **kwargs)
    frame = enter(caller, init, (obj, *args), kwargs)
    frame.making = obj
    return frame


def _bound(function, code, args, kwargs) -> dict:
    """Return the parameters with their values; where they do not fit, CPython says so."""
    names, flags = code.co_varnames, code.co_flags
    last = code.co_argcount + code.co_kwonlyargcount
    if len(args) == last == code.co_argcount and not kwargs and not flags & (STAR | STAR_STAR):
        return dict(zip(names, args, strict=False))
    fast = [NULL] * (last + bool(flags & STAR) + bool(flags & STAR_STAR))
    if not _bind(fast, function, code, args, kwargs):
        function(*args, **kwargs)
        raise Unsupported(f"the arguments of {printable(code.co_qualname)} could not be bound")
    return dict(zip(names, fast, strict=False))


def _bind(fast: list, function, code, args, kwargs) -> bool:
    """Fill the parameters' slots; False if the arguments do not fit the signature."""
    count, keyword_only = code.co_argcount, code.co_kwonlyargcount
    given, flags = len(args), code.co_flags
    fast[: min(given, count)] = args[:count]
    last = count + keyword_only
    if flags & STAR:
        fast[last] = tuple(args[count:])
    elif given > count:
        return False
    if flags & STAR_STAR:
        fast[last + bool(flags & STAR)] = rest = {}
    else:
        rest = None
    if kwargs and not _bind_keywords(fast, code, kwargs, rest, last):
        return False
    if min(given, count) < last:
        return _bind_defaults(fast, function, code, count, last)
    return True


def _bind_keywords(fast, code, kwargs, rest, last) -> bool:
    names, positional_only = code.co_varnames, code.co_posonlyargcount
    for name, value in kwargs.items():
        if not isinstance(name, str):
            return False
        if name in names[positional_only:last]:
            slot = names.index(name, positional_only, last)
            if fast[slot] is not NULL:
                return False
            fast[slot] = value
        elif rest is None:
            return False
        else:
            rest[name] = value
    return True


def _bind_defaults(fast, function, code, count, last) -> bool:
    defaults = function.__defaults__ or ()
    for slot, value in enumerate(defaults, count - len(defaults)):
        if fast[slot] is NULL:
            fast[slot] = value
    if last > count:
        for slot in range(count, last):
            if fast[slot] is NULL:
                fast[slot] = (function.__kwdefaults__ or {}).get(code.co_varnames[slot], NULL)
    return all(value is not NULL for value in fast[:last])


def call_native(caller, function, args, kwargs):
    """Call what is no Python function. Builtins that look at their caller see this machine's."""
    kind = type(function)
    if kind is BuiltinFunctionType or kind is type:
        asker = frame_askers.ASKERS.get(function)
        if asker is not None:
            return asker(caller, *args, **kwargs)
    if isinstance(function, type) and function is not type:
        return construct(caller, function, args, kwargs)
    return function(*args, **kwargs)


def construct(caller, cls, args, kwargs):
    """Make an instance as `type.__call__` does, with `__new__` and `__init__` run here.

    A metaclass with a `__call__` of its own is asked instead.
    """
    if python_method(cls, "__call__"):
        return caller.call(python_method(cls, "__call__"), cls, *args, **kwargs)
    new, init = getattr(cls, "__new__", None), getattr(cls, "__init__", None)
    standard = type(cls).__call__ is type.__call__
    if not standard or FunctionType not in (type(new), type(init)):
        return cls(*args, **kwargs)
    obj = caller.call(new, cls, *args, **kwargs)
    if isinstance(obj, cls) and (init := getattr(type(obj), "__init__", None)):
        result = caller.call(init, obj, *args, **kwargs)
        if result is not None:
            raise TypeError(f"__init__() should return None, not '{type(result).__name__}'")
    return obj
