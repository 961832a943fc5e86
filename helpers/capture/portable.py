"""A function -> source that defines it elsewhere, with what it uses of the globals around it.

Other functions of the same place go along, and so do imports and plain values. What else it uses
is missing there, and raises the usual NameError.
"""

import inspect
import textwrap
from types import CodeType, FunctionType, ModuleType

PLAIN = (int, float, complex, bool, str, bytes, type(None))


def portable(fn) -> str:
    """Return the source. TypeError for what is no Python function; ValueError without source."""
    if not isinstance(fn, FunctionType) or fn.__name__ == "<lambda>":
        raise TypeError(f"{getattr(fn, '__name__', type(fn).__name__)} is no function made by def")
    lines: dict[str, str] = {}
    _collect(fn.__name__, fn, lines)
    return "\n".join(lines.values())


def _collect(name: str, fn: FunctionType, lines: dict[str, str]) -> None:
    lines[name] = _source(fn)
    for used in _names(fn.__code__):
        if used in lines or used not in fn.__globals__:
            continue
        value = fn.__globals__[used]
        if isinstance(value, FunctionType) and value.__module__ == fn.__module__:
            _collect(used, value, lines)
        elif line := _line(used, value, fn.__module__):
            lines[used] = line


def _names(code: CodeType) -> list[str]:
    """Return the names that a code object and those inside it look up, in order."""
    inner = [const for const in code.co_consts if isinstance(const, CodeType)]
    return [*code.co_names, *(name for one in inner for name in _names(one))]


def _line(name: str, value: object, here: str) -> str:
    """Return the line that gives a name its value elsewhere; nothing where there is none."""
    if isinstance(value, ModuleType):
        return f"import {value.__name__} as {name}"
    if _is_plain(value) and not name.startswith("__"):
        return f"{name} = {value!r}"
    module, own = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if isinstance(module, str) and isinstance(own, str) and own.isidentifier() and module != here:
        return f"from {module} import {own} as {name}"
    return ""


def _is_plain(value: object) -> bool:
    """Return whether a value's repr is its source."""
    if type(value) is dict:
        return all(map(_is_plain, [*value, *value.values()]))
    if type(value) in (tuple, list):
        return all(map(_is_plain, value))
    return type(value) in PLAIN


def _source(fn: FunctionType) -> str:
    try:
        return textwrap.dedent(inspect.getsource(fn))
    except (OSError, TypeError, IndentationError):
        raise ValueError(f"the source of {fn.__name__} is not at hand") from None
