"""Any live object -> its value in a few words, safe to ask for at every step of a run.

Only built-in code runs: the object's own `__repr__`, `__eq__`, `__len__` … are never called, and a
large object costs no more than a small one.
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
from helpers.safety.arguments import by_type, is_a, is_exactly, printable
from helpers.safety.original_builtins import BUILTINS

__builtins__ = BUILTINS  # it is asked at each step of a run

LONGEST = 40
MOST_ITEMS = 4
MOST_MEMBERS = 16
BIGGEST_BITS = 128
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
    plain_type = type(kind) is type and kind not in _WORDS and not asks
    return plain_type and base_of(kind) is None


def plain(words: str) -> str:
    """Return a clipped copy as an exact str; a subclass's own methods are not asked.

    What is no letter or sign, such as a control character, is spelled out: the words may stand in
    an error's message, which no view escapes.
    """
    return printable(words, LONGEST)


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


def _repr(value, depth) -> str:
    return repr(value)


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


def _dict(value, depth) -> str:
    if value and not depth:
        return "{…}"
    pairs = islice(value.items(), MOST_ITEMS)
    parts = [f"{_brief(key, depth - 1)}: {_brief(item, depth - 1)}" for key, item in pairs]
    if len(value) > MOST_ITEMS:
        parts.append("…")
    return _within("{" + ", ".join(parts) + "}", value)


def _within(words: str, value) -> str:
    """Return the words, or how many items there are where the words would be too long."""
    return words if len(words) <= LONGEST else f"{_name(type(value))} of {len(value):,}"


def _function(value, depth) -> str:
    return plain("".join((value.__name__, "()")))


def _method(value, depth) -> str:
    inner = value.__func__
    named = is_exactly(inner, FunctionType, BuiltinFunctionType)
    return f".{_function(inner, depth)}" if named else "bound method"


def _module(value, depth) -> str:
    name = ModuleType.__getattribute__(value, "__dict__").get("__name__")
    return f"module {plain(name)}" if is_a(name, str) else "module"


def _cell(value, depth) -> str:
    try:
        return f"cell: {_brief(value.cell_contents, max(depth - 1, 0))}"
    except ValueError:
        return "empty cell"


def _slice(value, depth) -> str:
    return f"slice({', '.join(_brief(v, 0) for v in (value.start, value.stop, value.step))})"


def _of(words: str, code: str):
    return lambda value, depth: plain(f"{words} {getattr(value, code).co_name}")


_FIXED = (int, float, complex, bool, type(None), type(...), type(NotImplemented))
_WORDS = {
    **dict.fromkeys(_FIXED, _repr),
    int: _int,
    str: _text,
    bytes: _text,
    list: _items("[", "]"),
    tuple: _items("(", ")"),
    dict: _dict,
    set: _members,
    frozenset: _members,
    range: lambda value, depth: plain(repr(value)),
    slice: _slice,
    FunctionType: _function,
    BuiltinFunctionType: _function,
    MethodType: _method,
    ModuleType: _module,
    CellType: _cell,
    CodeType: lambda value, depth: plain(f"code of {value.co_name}"),
    GeneratorType: _of("generator", "gi_code"),
    CoroutineType: _of("coroutine", "cr_code"),
    FrameType: _of("frame of", "f_code"),
}
