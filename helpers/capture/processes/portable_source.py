"""A function -> source that defines it in another interpreter, with what it uses of its globals.

Functions of the same module go along, imports and plain values. Anything else is missing there.
"""

import ast
from contextlib import suppress
from functools import cache
from types import BuiltinFunctionType, FunctionType, ModuleType

from ...safety.arguments import is_exactly, real_isinstance
from ..cpython.objects import list_global_names
from ..text.source import describe_outdated_source, find_source
from ..text.value import short_repr

PLAIN_TYPES = (bool, int, float, complex, str, bytes, type(None), dict, list, tuple)
# A class or a function can be imported by its name. So can what `functools.cache` has wrapped,
# because that keeps the names of the function.
_IMPORTABLE_TYPES = (type, FunctionType, BuiltinFunctionType, type(cache(id)))


def build_portable_source(function: FunctionType) -> str:
    """Return source that defines a function elsewhere, with what it uses of its globals.

    TypeError says that it is not a function made by `def`, and ValueError that its source is not
    available.
    """
    require_def(function)
    sources: dict[str, str] = {}
    _collect_function(function.__code__.co_name, function, sources)
    return "\n".join(sources.values())


def require_def(value: object) -> None:
    """Raise TypeError for what is not a Python function with a name."""
    if not real_isinstance(value, FunctionType) or value.__code__.co_name == "<lambda>":
        raise TypeError(f"{short_repr(value)} is not a function made by def")


def read_own_source(function: FunctionType, error: type[Exception] = ValueError) -> str:
    """Return the source of one function; raise an `error` if there is none, or a newer one."""
    code = function.__code__
    text = find_source(code).text
    reason = describe_outdated_source(code)
    if not text and not reason:
        reason = f"the source of {code.co_name} is not available"
    if reason:
        raise error(f"a function is run from its source, and {reason}")
    return text


def _collect_function(name: str, function: FunctionType, sources: dict[str, str]) -> None:
    """Add to `sources`, name -> source, a function under a name, and the globals that it uses."""
    text = f"{read_own_source(function)}\n"
    own_name = function.__code__.co_name
    if own_name != name and own_name.isidentifier():
        text += f"\n{name} = {own_name}"
    sources[name] = text

    global_names = function.__globals__
    used_names = list_global_names(function.__code__) & global_names.keys() - sources.keys()
    for used_name in sorted(used_names):
        value = global_names[used_name]
        if real_isinstance(value, FunctionType) and value.__module__ == function.__module__:
            if used_name not in sources:  # another function may have brought it meanwhile
                _collect_function(used_name, value, sources)
            continue
        line = _write_definition(used_name, value, function.__module__)
        if line:
            sources[used_name] = line


def _write_definition(name: str, value: object, module_name: str) -> str:
    """Return the line that gives a name its value elsewhere, "" if no line can do that.

    `module_name` is the module of the function that uses the name. It cannot be imported there.
    """
    if real_isinstance(value, ModuleType):
        return f"import {value.__name__} as {name}"
    if is_exactly(value, *PLAIN_TYPES) and not name.startswith("__"):
        # A container of objects has a repr that is no literal, or that is another value.
        with suppress(ValueError, SyntaxError, RecursionError):
            if ast.literal_eval(repr(value)) == value:
                return f"{name} = {value!r}"
    if real_isinstance(value, *_IMPORTABLE_TYPES):
        home = value.__module__
        own_name = value.__qualname__
        if home and home != module_name and own_name.isidentifier():
            return f"from {home} import {own_name} as {name}"
    return ""
