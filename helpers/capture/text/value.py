"""Any live object -> its value in a few words, or the two lines of its box in a picture.

Only built-in code runs: the object's own `__repr__`, `__eq__`, `__len__` … are never called, and a
large object costs no more than a small one. So it is safe to ask at every step of a run.
"""

from itertools import islice
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    CoroutineType,
    FrameType,
    FunctionType,
    GeneratorType,
    MethodType,
    ModuleType,
)
from typing import NamedTuple

from helpers.capture.text.tensors import base_of, shown_tensor
from helpers.model.phrase import counted
from helpers.safety.arguments import by_type, is_a, is_exactly, printable

LONGEST, LONGEST_LABEL, LONGEST_NAME = 40, 32, 80
MOST_ITEMS, MOST_MEMBERS = 4, 16
BIGGEST_BITS = 128
MOST_BITS = 14_000  # an int of that size has fewer digits than Python writes without being told
SCALARS = (int, float, complex, bool, str, bytes, type(None), type(...))
_FIXED = (int, float, complex, bool, type(None), type(...), type(NotImplemented))
_TYPE_NAME = type.__dict__["__name__"].__get__
_ARGS = BaseException.__dict__["args"].__get__


class Seen(NamedTuple):
    """A value as it is told: its words, and the name of its type (nothing for no object)."""

    words: str
    kind: str


def brief(value: object) -> str:
    """Return at most about `LONGEST` characters: a value where that is safe, else its type."""
    try:
        return _brief(value, 2)
    except Exception:  # a container that another thread changes meanwhile
        return _name(type(value))


def seen(value: object) -> Seen:
    """Return the words of a value, as `brief` has them, and the name of its type."""
    return Seen(brief(value), _name(type(value)))


def same_for_ever(value: object) -> bool:
    """Return whether these words can be kept: an exact built-in scalar never changes."""
    kind = type(value)
    if type(kind) is not type:  # a metaclass could answer for `==` and hash
        return False
    return kind in _FIXED or (kind in (str, bytes) and len(value) <= LONGEST)


def says_only_its_type(kind: type) -> bool:
    """Return whether every object of this type is told by the same words."""
    asks = issubclass(kind, (type, BaseException))  # a class is told by its own name
    return type(kind) is type and kind not in _WORDS and not asks and base_of(kind) is None


def plain(words: str) -> str:
    """Return a clipped copy as an exact str, its control characters spelled out."""
    return printable(words, LONGEST)


def short_name(words: str, most: int = LONGEST_NAME) -> str:
    """Return a name as an exact str, short enough to be read, its control characters spelled."""
    return printable(words, most)


def type_name(value: object) -> str:
    """Return the name of the object's real type (never what its `__class__` claims)."""
    return short_name(_TYPE_NAME(type(value)))


def label(value: object) -> str:
    """Return a short name: the value of a plain scalar, `name()` of a function, else the type."""
    if is_exactly(value, *SCALARS):
        return _scalar(value)
    if is_exactly(value, FunctionType, BuiltinFunctionType):
        return f"{short_name(value.__name__)}()"
    if type(value) is MethodType:
        inner = type(value.__func__) is not MethodType
        return f".{label(value.__func__)}" if inner else "bound method"
    if type(value) is ModuleType:
        return _module_name(value, LONGEST_NAME) or "module"
    if is_a(value, type):
        return f"class {short_name(_TYPE_NAME(value))}"
    return type_name(value)


def detail(value: object) -> str:
    """Return the second line: what kind of thing it is, or how much it holds."""
    kind = type(value)
    if kind is FunctionType:
        written = value.__code__.co_name  # differs where functools.wraps lent another name
        same = written == value.__name__
        return "function" if same else f"function, code of {short_name(written)}"
    if is_exactly(value, list, tuple, dict, set, frozenset):
        return counted(len(value), "item")
    if kind is ModuleType or is_exactly(value, *SCALARS):
        return type_name(value)
    known = {MethodType: "bound method", BuiltinFunctionType: "built-in function"}
    return by_type(known, value, "") or ("" if is_a(value, type) else "instance")


def _scalar(value) -> str:
    if type(value) is int and value.bit_length() > MOST_BITS:
        return "a very large int"
    head = value[:LONGEST_LABEL] if is_exactly(value, str, bytes) else value
    words, whole = repr(head), head is value or len(head) == len(value)
    return words if whole and len(words) <= LONGEST_LABEL else f"{words[: LONGEST_LABEL - 1]}…"


def _brief(value: object, depth: int) -> str:
    kind = type(value)
    words = by_type(_WORDS, value)
    if words is not None:
        return words(value, depth)
    if issubclass(kind, type):
        return f"class {_name(value)}"
    if issubclass(kind, BaseException):
        items = ", ".join(_brief(item, 2) for item in _ARGS(value)[:MOST_ITEMS])
        return plain(f"{_name(kind)}({items})")
    return shown_tensor(value) or f"{_name(kind)} object"


def _name(kind: type) -> str:
    return plain(_TYPE_NAME(kind))


def _module_name(module: ModuleType, most: int) -> str:
    """Return the `__name__` that stands in a module's dict, if it is a str at all."""
    name = dict.get(ModuleType.__getattribute__(module, "__dict__"), "__name__")
    return printable(name, most) if is_a(name, str) else ""


def _int(value, depth) -> str:
    return repr(value) if value.bit_length() <= BIGGEST_BITS else "a very large int"


def _text(value, depth) -> str:
    most = LONGEST if depth == 2 else LONGEST // 2
    head = repr(value[:most])
    return head if len(value) <= most else f"{head[:-1]}…{head[-1]}"


def _items(opening: str, closing: str):
    def words(value, depth) -> str:
        if value and not depth:
            return f"{opening}…{closing}"
        if type(value) is dict:
            pairs = islice(value.items(), MOST_ITEMS)
            parts = [f"{_brief(key, depth - 1)}: {_brief(one, depth - 1)}" for key, one in pairs]
        else:
            parts = [_brief(item, depth - 1) for item in islice(value, MOST_ITEMS)]
        if len(value) > MOST_ITEMS:
            parts.append("…")
        comma = "," if closing == ")" and len(parts) == 1 else ""
        return _within(opening + ", ".join(parts) + comma + closing, value)

    return words


def _members(value, depth) -> str:
    if not value:
        return f"{_name(type(value))}()"
    if len(value) > MOST_MEMBERS or not depth:
        return f"{_name(type(value))} of {len(value):,}"
    return _within("{" + ", ".join(sorted(_brief(item, 0) for item in value)) + "}", value)


def _within(words: str, value) -> str:
    """Return the words, or how many items there are where the words would be too long."""
    return words if len(words) <= LONGEST else f"{_name(type(value))} of {len(value):,}"


def _function(value, depth) -> str:
    return plain(f"{value.__name__}()")


def _method(value, depth) -> str:
    inner = value.__func__
    named = is_exactly(inner, FunctionType, BuiltinFunctionType)
    return f".{_function(inner, depth)}" if named else "bound method"


def _module(value, depth) -> str:
    return f"module {_module_name(value, LONGEST)}".rstrip()


def _cell(value, depth) -> str:
    try:
        return f"cell: {_brief(value.cell_contents, max(depth - 1, 0))}"
    except ValueError:
        return "empty cell"


def _slice(value, depth) -> str:
    return f"slice({', '.join(_brief(v, 0) for v in (value.start, value.stop, value.step))})"


def _of(words: str, code: str):
    return lambda value, depth: plain(f"{words} {getattr(value, code).co_name}")


_WORDS = {
    **dict.fromkeys(_FIXED, lambda value, depth: repr(value)),
    **{int: _int, str: _text, bytes: _text, dict: _items("{", "}")},
    **{list: _items("[", "]"), tuple: _items("(", ")"), set: _members, frozenset: _members},
    **{FunctionType: _function, BuiltinFunctionType: _function, MethodType: _method},
    **{ModuleType: _module, CellType: _cell, slice: _slice},
    range: lambda value, depth: plain(repr(value)),
    CodeType: lambda value, depth: plain(f"code of {value.co_name}"),
    GeneratorType: _of("generator", "gi_code"),
    CoroutineType: _of("coroutine", "cr_code"),
    FrameType: _of("frame of", "f_code"),
}
