"""A callable and what it is called with -> the arguments by name; no code of the callable's runs.

`inspect.signature` asks a callable for `__signature__`, `__wrapped__` and more; here only what is
exactly a Python function, a bound method, a partial or an instance with such a `__call__` is read.
"""

import functools
from collections.abc import Mapping
from types import FunctionType, MethodType

from helpers.capture.cpython.objects import class_mapping, instance_dict, mro
from helpers.safety.arguments import is_exactly

VARARGS = 0x04  # co_flags, Include/cpython/code.h
DEEPEST = 10
_POLYMORPHIC = "tensorflow.python.eager.polymorphic_function.polymorphic_function"


def arguments(fn, args: tuple, kwargs: Mapping) -> list[tuple[str, object]]:
    """Return (name, value) of each argument; by place where the names cannot be read."""
    function, before = behind(fn)
    names = None if function is None else _names(function.__code__, len(before) + len(args))
    if names is None:
        named = [(f"argument {at}", value) for at, value in enumerate(args, 1)]
    else:
        named = list(zip(names, (*before, *args), strict=True))[len(before) :]
    return [*named, *kwargs.items()]


def behind(fn) -> tuple[FunctionType | None, tuple]:
    """Return the Python function that a call of `fn` leads to, and what goes before its arguments.

    None where it is none, or cannot be found without running code of somebody else's.
    """
    before: tuple = ()
    for _ in range(DEEPEST):
        kind = type(fn)
        if kind is FunctionType:
            inner = fn.__dict__.get("__wrapped__")
            if type(inner) is not FunctionType:
                return fn, before
            fn = inner
        elif kind is MethodType:
            fn, before = fn.__func__, (fn.__self__, *before)
        elif kind is functools.partial:
            fn, before = fn.func, (*fn.args, *before)
        elif (inner := python_function(fn)) is not None:
            fn = inner
        else:
            call = next((class_mapping(c)["__call__"] for c in mro(kind) if _has_call(c)), None)
            if type(call) is not FunctionType:
                break
            fn, before = call, (fn, *before)
    return None, before


def calls_itself(fn) -> bool:
    """Return whether partials lead in a circle: C code would call itself until it dies."""
    met = set()
    while type(fn) is functools.partial and id(fn) not in met:
        met.add(id(fn))
        fn = fn.func
    return type(fn) is functools.partial


def _has_call(cls) -> bool:
    return "__call__" in class_mapping(cls)


def python_function(fn):
    """Return the function inside a tf.function (polymorphic_function.py), None of anything else."""
    if class_mapping(type(fn)).get("__module__") != _POLYMORPHIC:
        return None
    inner = (instance_dict(fn) or {}).get("_python_function")
    return inner if is_exactly(inner, FunctionType, MethodType) else None


def _names(code, count: int) -> list[str] | None:
    """Return the names of the first `count` parameters; None where there are not so many."""
    own = list(code.co_varnames[: code.co_argcount])
    if count <= len(own):
        return own[:count]
    if not code.co_flags & VARARGS:
        return None
    rest = code.co_varnames[code.co_argcount + code.co_kwonlyargcount]
    return own + [f"{rest}[{at}]" for at in range(count - len(own))]
