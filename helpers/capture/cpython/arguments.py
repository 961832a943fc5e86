"""A callable and what it is called with -> the arguments by name; no code of the callable's runs.

`inspect.signature` asks a callable for `__signature__`, and runs code of it; here it is unwrapped.
"""

import functools
from collections.abc import Mapping
from types import FunctionType, MethodType

from helpers.capture.cpython.unwrapping import opened
from helpers.safety.arguments import is_exactly

VARARGS = 0x04  # co_flags, Include/cpython/code.h


def arguments(fn, args: tuple, kwargs: Mapping) -> list[tuple[str, object]]:
    """Return (name, value) of each argument; by place where the names cannot be read."""
    function, _, call = opened(fn, args)
    before = int(type(function) is MethodType)
    before += len(call.args) if type(call) is functools.partial else 0
    is_python = is_exactly(function, FunctionType, MethodType)
    names = _names(function.__code__, before + len(args)) if is_python else None
    if names is None:
        names = [f"argument {at}" for at in range(1 - before, len(args) + 1)]
    return [*zip(names[before:], args, strict=True), *kwargs.items()]


def calls_itself(fn) -> bool:
    """Return whether partials lead in a circle: C code would call itself until it dies."""
    met = set()
    while type(fn) is functools.partial and id(fn) not in met:
        met.add(id(fn))
        fn = fn.func
    return type(fn) is functools.partial


def _names(code, count: int) -> list[str] | None:
    """Return the names of the first `count` parameters; None where there are not so many."""
    own = list(code.co_varnames[: code.co_argcount])
    if count <= len(own):
        return own[:count]
    if not code.co_flags & VARARGS:
        return None
    rest = code.co_varnames[code.co_argcount + code.co_kwonlyargcount]
    return own + [f"{rest}[{at}]" for at in range(count - len(own))]
