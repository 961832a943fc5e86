"""Any live object -> a few words about it, without running a line of the object's own code."""

from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType

SCALARS = (int, float, complex, bool, str, bytes, type(None), type(...))
LONGEST = 32


def type_name(value: object) -> str:
    """Return the name of the object's real type (never what its `__class__` claims)."""
    return type.__dict__["__name__"].__get__(type(value))


def label(value: object) -> str:
    """Return a short name: the value of a plain scalar, `name()` of a function, else the type."""
    kind = type(value)
    if kind in SCALARS:
        return _scalar(value)
    if kind in (FunctionType, BuiltinFunctionType):
        return f"{value.__name__}()"
    if kind is MethodType:
        return f".{label(value.__func__)}"
    if kind is ModuleType:
        return str(ModuleType.__getattribute__(value, "__dict__").get("__name__", "module"))
    if issubclass(kind, type):
        return f"class {type.__dict__['__name__'].__get__(value)}"
    return type_name(value)


def detail(value: object) -> str:
    """Return the second line: what kind of thing it is, or how much it holds."""
    kind = type(value)
    if kind is FunctionType:
        written = value.__code__.co_name  # differs where functools.wraps lent another name
        return "function" if written == value.__name__ else f"function, code of {written}"
    if kind in (list, tuple, dict, set, frozenset):
        return f"{len(value)} item{'' if len(value) == 1 else 's'}"
    if kind is MethodType:
        return "bound method"
    if kind in SCALARS or kind is ModuleType or kind is BuiltinFunctionType:
        return {BuiltinFunctionType: "built-in function"}.get(kind, type_name(value))
    return "" if issubclass(kind, type) else "instance"


def _scalar(value) -> str:
    try:
        words = repr(value)
    except ValueError:  # an int of thousands of digits
        return f"a very large {type_name(value)}"
    return words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…"
