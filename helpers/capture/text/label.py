"""Any live object -> the two lines of its box in a picture; no line of its own code is run."""

from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType

from helpers.model.phrase import counted
from helpers.safety.arguments import is_exactly, printable
from helpers.safety.original_builtins import BUILTINS

__builtins__ = BUILTINS

SCALARS = (int, float, complex, bool, str, bytes, type(None), type(...))
LONGEST = 32
LONGEST_NAME = 80
BIGGEST_BITS = 14_000  # an int of that size has fewer digits than Python writes without being told

_TYPE_NAME = type.__dict__["__name__"].__get__


def short_name(words: str, most: int = LONGEST_NAME) -> str:
    """Return a name as an exact str, short enough to be read, its control characters spelled."""
    return printable(words, most)


def type_name(value: object) -> str:
    """Return the name of the object's real type (never what its `__class__` claims)."""
    return short_name(_TYPE_NAME(type(value)))


def label(value: object) -> str:
    """Return a short name: the value of a plain scalar, `name()` of a function, else the type."""
    kind = type(value)
    if is_exactly(value, *SCALARS):
        return _scalar(value)
    if is_exactly(value, FunctionType, BuiltinFunctionType):
        return f"{short_name(value.__name__)}()"
    if kind is MethodType:
        inner = type(value.__func__) is not MethodType
        return f".{label(value.__func__)}" if inner else "bound method"
    if kind is ModuleType:
        return module_name(value)
    if issubclass(kind, type):
        return f"class {short_name(_TYPE_NAME(value))}"
    return type_name(value)


def module_name(module: ModuleType) -> str:
    """Return the `__name__` that stands in a module's dict, if it is a str at all."""
    name = dict.get(ModuleType.__getattribute__(module, "__dict__"), "__name__")
    return short_name(name) if type(name) is str else "module"


def detail(value: object) -> str:
    """Return the second line: what kind of thing it is, or how much it holds."""
    kind = type(value)
    if kind is FunctionType:
        written = value.__code__.co_name  # differs where functools.wraps lent another name
        same = str.__eq__(written, value.__name__) is True
        return "function" if same else f"function, code of {short_name(written)}"
    if is_exactly(value, list, tuple, dict, set, frozenset):
        return counted(len(value), "item")
    if kind is MethodType:
        return "bound method"
    if kind is BuiltinFunctionType:
        return "built-in function"
    if kind is ModuleType or is_exactly(value, *SCALARS):
        return type_name(value)
    return "" if issubclass(kind, type) else "instance"


def _scalar(value) -> str:
    kind = type(value)
    if kind is int and value.bit_length() > BIGGEST_BITS:
        return "a very large int"
    head = value[:LONGEST] if kind in (str, bytes) else value
    words = repr(head)
    whole = head is value or len(head) == len(value)
    return words if whole and len(words) <= LONGEST else f"{words[: LONGEST - 1]}…"
