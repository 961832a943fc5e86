"""A function -> source that defines it elsewhere, with what it uses of the globals around it.

Other functions of the same place go along, and so do imports and plain values. What else it uses
is missing there, and raises the usual NameError.
"""

import math
from types import BuiltinFunctionType, FunctionType, ModuleType

from helpers.capture.cpython.objects import names_used
from helpers.capture.text.source import source_of, why_outdated
from helpers.capture.text.value import brief
from helpers.safety.arguments import is_exactly, printable

PLAIN = (bool, str, bytes, type(None))
DEEPEST = 20


def portable(fn) -> str:
    """Return the source. TypeError for what is no Python function; ValueError without source."""
    if type(fn) is not FunctionType or fn.__code__.co_name == "<lambda>":
        raise TypeError(f"{brief(fn)} is no function made by def")
    lines: dict[str, str] = {}
    _collect(fn.__code__.co_name, fn, lines)
    return "\n".join(lines.values())


def _collect(name: str, fn: FunctionType, lines: dict[str, str]) -> None:
    own = fn.__code__.co_name
    also = f"\n{name} = {own}" if own.isidentifier() and own != name else ""
    lines[name] = _source(fn) + also
    for used in sorted(names_used(fn.__code__) & fn.__globals__.keys()):
        if used in lines:
            continue
        value = fn.__globals__[used]
        if type(value) is FunctionType and value.__module__ == fn.__module__:
            _collect(used, value, lines)
        elif line := _line(used, value, fn.__module__):
            lines[used] = line


def _line(name: str, value: object, here: str) -> str:
    """Return the line that gives a name its value elsewhere; nothing where there is none."""
    if issubclass(type(value), ModuleType):
        own = ModuleType.__getattribute__(value, "__dict__").get("__name__")
        return f"import {own} as {name}" if type(own) is str else ""
    if not name.startswith("__") and (words := _plain(value)):
        return f"{name} = {words}"
    module, own = _origin(value)
    if type(module) is str and type(own) is str and own.isidentifier() and module != here:
        return f"from {module} import {own} as {name}"
    return ""


def _origin(value: object) -> tuple[object, object]:
    """Return the module and the name that an object has by itself; its own code is not run."""
    if issubclass(type(value), type):
        return tuple(type.__dict__[name].__get__(value) for name in ("__module__", "__qualname__"))
    if is_exactly(value, FunctionType, BuiltinFunctionType):
        return value.__module__, value.__qualname__
    try:
        held = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None, None
    return (
        (held.get("__module__"), held.get("__qualname__")) if type(held) is dict else (None, None)
    )


def _plain(value: object, depth: int = 0) -> str:
    """Return source for a plain value, "" for any other, also for one nested without end."""
    kind = type(value)
    if kind is int:
        return hex(value) if value.bit_length() > 64 else repr(value)
    if kind is float:
        return repr(value) if math.isfinite(value) else f"float({str(value)!r})"
    if kind is complex:
        return f"complex({_plain(value.real)}, {_plain(value.imag)})"
    if is_exactly(value, *PLAIN):
        return repr(value)
    if depth > DEEPEST or not is_exactly(value, dict, list, tuple):
        return ""
    items = [*value, *value.values()] if kind is dict else value
    words = [_plain(item, depth + 1) for item in items]
    if not all(words):
        return ""
    if kind is dict:
        half = len(words) // 2
        pairs = zip(words[:half], words[half:], strict=True)
        return f"{{{', '.join(map(': '.join, pairs))}}}"
    inner = "".join(f"{word}, " for word in words)
    return f"[{inner}]" if kind is list else f"({inner})"


def _source(fn: FunctionType) -> str:
    if why := why_outdated(fn.__code__):
        raise ValueError(f"a function is run from its source, and {why}")
    if text := source_of(fn.__code__).text:
        return f"{text}\n"
    raise ValueError(f"the source of {printable(fn.__code__.co_name)} is not at hand")
