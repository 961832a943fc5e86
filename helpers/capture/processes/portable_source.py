"""A function -> source that defines it in another interpreter, with the globals that it uses.

A global that is a function of the same module comes with its own source. A module becomes an
`import`, a class or function of another module a `from … import`, and a number, text or container
of these an assignment. Any other global is left out, and missing in the other interpreter.
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
    """Return source that defines a function, and the globals that it uses, in a new module.

    Raise TypeError if it is no function made by `def`, and ValueError if its source is not
    available.
    """
    require_def(function)
    sources: dict[str, str] = {}  # the name of a global -> the source that defines it
    _collect_function(function.__code__.co_name, function, sources)
    return "\n".join(sources.values())


def require_def(value: object) -> None:
    """Raise TypeError if a value is no Python function that was made by `def`."""
    if not real_isinstance(value, FunctionType) or value.__code__.co_name == "<lambda>":
        raise TypeError(f"{short_repr(value)} is not a function made by def")


def read_own_source(function: FunctionType, error: type[Exception] = ValueError) -> str:
    """Return the source of one function, without its globals.

    Raise an `error` if there is no source, or if the file was edited after the import.
    """
    code = function.__code__
    text = find_source(code).text
    reason = describe_outdated_source(code)
    if not text and not reason:
        reason = f"the source of {code.co_name} is not available"
    if reason:
        raise error(f"a function is run from its source, and {reason}")
    return text


def _collect_function(name: str, function: FunctionType, sources: dict[str, str]) -> None:
    """Add the source of a function to `sources`, and then that of each global that it uses.

    `sources` maps a name to the source that defines it. `name` is the global by which the function
    is called, which may differ from the name after `def`.
    """
    text = f"{read_own_source(function)}\n"
    own_name = function.__code__.co_name
    if own_name != name and own_name.isidentifier():  # as after `run = step`
        text += f"\n{name} = {own_name}"
    sources[name] = text

    global_names = function.__globals__
    used_names = list_global_names(function.__code__) & global_names.keys() - sources.keys()
    for used_name in sorted(used_names):
        value = global_names[used_name]
        if real_isinstance(value, FunctionType) and value.__module__ == function.__module__:
            if used_name not in sources:  # another function may have added it in this loop
                _collect_function(used_name, value, sources)
            continue
        line = _write_definition(used_name, value, function.__module__)
        if line:
            sources[used_name] = line


def _write_definition(name: str, value: object, module_name: str) -> str:
    """Return a line that defines a global name, such as "import math as m", or "" if none can.

    `value` is what the name refers to. `module_name` is the module of the function that uses the
    name. The other interpreter cannot import that module, which may be a notebook.
    """
    if real_isinstance(value, ModuleType):
        return f"import {value.__name__} as {name}"
    if is_exactly(value, *PLAIN_TYPES) and not name.startswith("__"):
        # The repr is used only if it can be read back. That of a container of objects cannot.
        with suppress(ValueError, SyntaxError, RecursionError):
            if ast.literal_eval(repr(value)) == value:
                return f"{name} = {value!r}"
    if real_isinstance(value, *_IMPORTABLE_TYPES):
        home = value.__module__
        own_name = value.__qualname__
        if home and home != module_name and own_name.isidentifier():
            return f"from {home} import {own_name} as {name}"
    return ""
