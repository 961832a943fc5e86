"""Any live object -> its value in a few words, or its box in a picture.

Only built-in code runs, but for the `__repr__` of a library's class in `library_value`.
"""

import gc
import re
import sys
import types
from collections import namedtuple
from itertools import islice
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType

from ...model.phrase import clipped, counted
from ...safety.arguments import is_exactly, item_of_type, printable, real_isinstance, real_type_name
from ...safety.error_parts import arguments_of
from ...safety.users_frames import is_library
from .tensors import shown_tensor

LONGEST, LONGEST_LABEL, LONGEST_NAME = 40, 32, 80
MOST_ITEMS, MOST_MEMBERS = 4, 16
DEEPEST, MOST_INSIDE = 4, 1_000  # levels of containers, and objects, that are looked into
BIGGEST_BITS = 128
type_name = real_type_name  # a name that other rooms use
SCALARS = (int, float, complex, bool, str, bytes, type(None), type(...))
_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType)
_FIXED = (int, float, complex, bool, type(None), type(...), type(NotImplemented))
_NO_VALUE = re.compile(r"0x[0-9a-f]{4}|<(?!class ')\w")  # an address, or `<Thread(…, 1234)>`

# A value as it is shown: its words, and the name of its type (nothing for no object).
Seen = namedtuple("Seen", "words kind")


def short_repr(value: object) -> str:
    """Return at most about `LONGEST` characters: a value where that is safe, else its type."""
    try:
        return _brief(value, 2)
    except Exception:  # a container that changes meanwhile
        return plain(type(value).__name__)


def described(value: object) -> Seen:
    """Return the words of a value, as `short_repr` has them, and the name of its type."""
    return Seen(short_repr(value), plain(type(value).__name__))


def same_for_ever(value: object) -> bool:
    """Return whether these words can be kept: an exact built-in scalar never changes."""
    return is_exactly(value, *_FIXED) or (is_exactly(value, str, bytes) and len(value) <= LONGEST)


def plain(words: str) -> str:
    """Return a clipped copy as an exact str, its control characters spelled out."""
    return printable(words, LONGEST)


def short_name(words: str, most: int = LONGEST_NAME) -> str:
    """Return a name as an exact str, short enough to be read, its control characters spelled."""
    return printable(words, most)


def label(value: object) -> str:
    """Return a short name: the value of a plain scalar, `name()` of a function, else the type."""
    if is_exactly(value, *SCALARS):
        head = value[:LONGEST_LABEL] if is_exactly(value, str, bytes) else value
        return clipped(_int(head, 0) if type(head) is int else repr(head), LONGEST_LABEL)
    if is_exactly(value, FunctionType, BuiltinFunctionType):
        return f"{short_name(value.__name__)}()"
    if type(value) is MethodType:
        return _method_label(value)
    if type(value) is ModuleType:
        return short_name(str(vars(value).get("__name__", "module")))
    if real_isinstance(value, type):
        return f"class {short_name(value.__name__)}"
    return real_type_name(value)


def _method_label(method: MethodType) -> str:
    """Return `Trainer.step()`: the class of the object, or the class that it is bound to."""
    if type(method.__func__) is MethodType:
        return "bound method"
    bound_to = method.__self__
    owner = bound_to if real_isinstance(bound_to, type) else type(bound_to)
    return f"{short_name(owner.__name__)}.{label(method.__func__)}"


def detail(value: object) -> str:
    """Return the second line: what kind of thing it is, or how much it holds."""
    if type(value) is FunctionType:
        written = value.__code__.co_name  # differs where functools.wraps lent another name
        same = written == value.__name__
        return "function" if same else f"function, code of {short_name(written)}"
    if is_exactly(value, list, tuple, dict, set, frozenset):
        return counted(len(value), "item")
    if is_exactly(value, ModuleType, *SCALARS):
        return type_name(value)
    known = {MethodType: "bound method", BuiltinFunctionType: "built-in function"}
    return item_of_type(value, known) or ("" if real_isinstance(value, type) else "instance")


def of_library(kind: type) -> bool:
    """Return whether a class is of CPython, the standard library or an installed package."""
    home = str(vars(kind).get("__module__", "builtins"))
    if home == "__main__" or home in sys.builtin_module_names:
        return home != "__main__"
    module, inside = sys.modules.get(home), ModuleType.__dict__["__dict__"].__get__  # loads nothing
    file = dict.get(inside(module), "__file__") if real_isinstance(module, ModuleType) else ""
    return is_library(str(file))


def is_of_libraries(value: object) -> bool:
    """Return whether the words of this object come from CPython and libraries only.

    An object of a library asks what it contains, such as a deque its items: these are looked into,
    down to `DEEPEST`. False if they are too many.
    """
    level, met = [value], 0
    for _ in range(DEEPEST):
        met += len(level)
        if met > MOST_INSIDE or not all(map(_is_of_library, level)):
            return False
        level = [
            inside
            for one in level
            if not (
                is_exactly(one, *SCALARS, *_FUNCTIONS, ModuleType) or real_isinstance(one, type)
            )
            for inside in gc.get_referents(one)
        ]
    return True


def _is_of_library(value: object) -> bool:
    # What a class says of itself is its metaclass's; `type` itself names no module.
    return all(kind is type or of_library(kind) for kind in type(value).__mro__)


def library_value(value: object) -> str:
    """Return what a library's object says of itself: dtype and shape, or its repr; else ""."""
    kind = type(value)
    if id(kind) in _WORDS_BY_ID or real_isinstance(value, type) or not of_library(kind):
        return ""
    try:
        shape = getattr(value, "shape", ()) if hasattr(kind, "shape") else ()
        if real_isinstance(shape, tuple) and shape:
            dtype = getattr(value, "dtype", "shape")
            return plain(f"{getattr(dtype, 'name', dtype)} [{', '.join(map(str, shape))}]")
        if hasattr(kind, "__len__") and len(value) > MOST_MEMBERS:
            return f"{plain(kind.__name__)} of {len(value):,}"
        if not is_of_libraries(value):
            return ""
        say = str if kind.__repr__ is object.__repr__ else repr
        said = {" ".join(say(value).split()) for _ in "ab"}
    except Exception:
        return ""
    words = said.pop()
    return "" if said or _NO_VALUE.search(words) else plain(words)


def _brief(value: object, depth: int) -> str:
    if words := _WORDS_BY_ID.get(id(type(value))):  # a class may have a hash of its own
        return words(value, depth)
    if real_isinstance(value, type):
        return f"class {plain(value.__name__)}"
    name = plain(type(value).__name__)
    if real_isinstance(value, BaseException):
        given = arguments_of(value)[:MOST_ITEMS]
        return plain(f"{name}({', '.join(_brief(item, 2) for item in given)})")
    return shown_tensor(value) or f"{name} object"


def _int(value, depth) -> str:
    return repr(value) if value.bit_length() <= BIGGEST_BITS else "a very large int"


def _text(value, depth) -> str:
    most = LONGEST if depth == 2 else LONGEST // 2
    head = repr(value[:most])
    return head if len(value) <= most else f"{head[:-1]}…{head[-1]}"


def _items(value, depth) -> str:
    opening, closing = {list: "[]", tuple: "()", dict: "{}"}[type(value)]
    if value and not depth:
        return f"{opening}…{closing}"
    first = islice(value.items() if type(value) is dict else zip(value), MOST_ITEMS)
    parts = [": ".join(_brief(one, depth - 1) for one in row) for row in first]
    parts += ["…"] * (len(value) > MOST_ITEMS)
    comma = "," if closing == ")" and len(parts) == 1 else ""
    return _within(opening + ", ".join(parts) + comma + closing, value)


def _members(value, depth) -> str:
    if not value:
        return f"{type(value).__name__}()"
    few = depth and len(value) <= MOST_MEMBERS
    words = ", ".join(sorted(_brief(item, 0) for item in value)) if few else " " * LONGEST
    return _within(f"{{{words}}}", value)


def _within(words: str, value) -> str:
    return words if len(words) <= LONGEST else f"{type(value).__name__} of {len(value):,}"


def _cell(value, depth) -> str:
    try:
        return f"cell: {_brief(value.cell_contents, max(depth - 1, 0))}"
    except ValueError:
        return "empty cell"


_WORDS = {
    **dict.fromkeys(_FIXED, lambda value, depth: repr(value)),
    range: lambda value, depth: plain(repr(value)),
    slice: lambda v, depth: f"slice({', '.join(_brief(e, 0) for e in (v.start, v.stop, v.step))})",
    **{int: _int, str: _text, bytes: _text, types.CellType: _cell},
    **{dict: _items, list: _items, tuple: _items, set: _members, frozenset: _members},
    **dict.fromkeys(_FUNCTIONS, lambda value, depth: plain(label(value))),
    ModuleType: lambda value, depth: f"module {plain(label(value))}",
    types.CodeType: lambda value, depth: plain(f"code of {value.co_name}"),
    types.GeneratorType: lambda value, depth: plain(f"generator {value.gi_code.co_name}"),
    types.CoroutineType: lambda value, depth: plain(f"coroutine {value.cr_code.co_name}"),
    types.FrameType: lambda value, depth: plain(f"frame of {value.f_code.co_name}"),
}
_WORDS_BY_ID = {id(kind): words for kind, words in _WORDS.items()}
