"""Any live object -> its value as short text, such as "[1, 2, …]" or "Trainer object". An object
may be of any class, and no code of a user's class may run here: no `__repr__`, no `__eq__`, no
`__hash__`. So built-in types get formats of their own, and any other object is described by its
type. A mock or a proxy may answer `isinstance` as it likes, so types are compared by `is_exactly`
(this very type) or `real_isinstance` (this type or a derived one). Only `format_library_value`
calls a `__repr__`, of classes that a library defines.
"""

import gc
import re
import sys
import types
from collections.abc import Callable
from itertools import islice
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import NamedTuple

from ...model.phrase import clip_text, format_count
from ...safety.arguments import is_exactly, printable, real_isinstance, real_type_name
from ...safety.error_parts import arguments_of
from ...safety.users_frames import is_library
from .tensors import format_tensor

LONGEST = 40  # characters of a value
LONGEST_LABEL = 32  # characters of a label that shows a value
LONGEST_NAME = 80
MOST_ITEMS = 4  # of a list, a tuple or a dict
MOST_MEMBERS = 16  # of a set, or of a container of a library
DEEPEST = 4  # levels of objects in each other that `contains_only_library_values` checks
MOST_INSIDE = 1_000  # objects that it checks
OUTERMOST = 2  # the depth of a value that is in no container; its items have one less
BIGGEST_BITS = 128  # of an int whose digits are shown
TOO_LONG = " " * LONGEST  # stands for members that are not shown, so that a count replaces them

SCALARS = (int, float, complex, bool, str, bytes, type(None), type(...))
_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType)
_FIXED = (int, float, complex, bool, type(None), type(...), type(NotImplemented))
# A text with this says nothing about the value, and differs in each run.
_NO_VALUE = re.compile(r"0x[0-9a-f]{4}|<(?!class ')\w")  # an address, or `<Thread(…, 1234)>`


class ValueWords(NamedTuple):
    """A value as it is shown."""

    #: The value in a few words.
    words: str
    #: The name of its type; "" for no object.
    kind: str


def short_repr(value: object) -> str:
    """Return a value in about `LONGEST` characters, or its type if no safe text is known.

    For example "[1, 2, 3, 4, …]", "'hello'", "Trainer.step()" or "Trainer object".
    """
    try:
        return _format_value(value, OUTERMOST)
    except Exception:  # another thread may change a container meanwhile
        return format_text(type(value).__name__)


def describe_value(value: object) -> ValueWords:
    """Return the text of a value, as `short_repr` returns it, and the name of its type."""
    return ValueWords(short_repr(value), format_text(type(value).__name__))


def never_changes(value: object) -> bool:
    """Return whether a value can never change, and is short, so that its text may be stored.

    That is true of numbers and short strings of exactly a built-in type.
    """
    if is_exactly(value, *_FIXED):
        return True
    return is_exactly(value, str, bytes) and len(value) <= LONGEST


def format_text(text: str) -> str:
    """Return a text in at most LONGEST characters, with control characters as in "\\n"."""
    return printable(text, LONGEST)


def format_name(name: str, most: int = LONGEST_NAME) -> str:
    """Return a name in at most `most` characters, with control characters as in "\\n"."""
    return printable(name, most)


def format_label(value: object) -> str:
    """Return a short name of an object, for a box in a picture.

    It is the value of a number or a string, "name()" for a function, "class Name" for a class, the
    name of a module, and the name of the type for any other object.
    """
    if is_exactly(value, *SCALARS):
        return _format_scalar(value)
    if is_exactly(value, FunctionType, BuiltinFunctionType):
        return f"{format_name(value.__name__)}()"
    if type(value) is MethodType:
        return _format_method(value)
    if type(value) is ModuleType:
        return format_name(str(vars(value).get("__name__", "module")))
    if real_isinstance(value, type):
        return f"class {format_name(value.__name__)}"
    return real_type_name(value)


def _format_scalar(value: object) -> str:
    """Return a number or a string as a label. Of a long string, only the start is formatted."""
    if type(value) is int:
        return clip_text(_format_int(value), LONGEST_LABEL)
    start = value[:LONGEST_LABEL] if is_exactly(value, str, bytes) else value
    return clip_text(repr(start), LONGEST_LABEL)


def _format_method(method: MethodType) -> str:
    """Return the label of a bound method, such as "Trainer.step()".

    "Trainer" is the class of the object to which the method is bound. A classmethod is bound to the
    class itself.
    """
    # A method may wrap a method, and that one the first. `format_label` would not end.
    if type(method.__func__) is MethodType:
        return "bound method"
    receiver = method.__self__
    owner = receiver if real_isinstance(receiver, type) else type(receiver)
    return f"{format_name(owner.__name__)}.{format_label(method.__func__)}"


def format_detail(value: object) -> str:
    """Return the second line of an object's box in a picture.

    It says what kind of object it is, such as "function", or how many items it has, "3 items". It
    is "" for a class, because the label says "class" already.
    """
    if type(value) is FunctionType:
        code_name = value.__code__.co_name
        if code_name == value.__name__:
            return "function"
        # `functools.wraps` has renamed a decorator's inner function, so the label does not say
        # whose code runs.
        return f"function, code of {format_name(code_name)}"
    if is_exactly(value, list, tuple, dict, set, frozenset):
        return format_count(len(value), "item")
    if is_exactly(value, ModuleType, *SCALARS):
        return real_type_name(value)
    if type(value) is MethodType:
        return "bound method"
    if type(value) is BuiltinFunctionType:
        return "built-in function"
    return "" if real_isinstance(value, type) else "instance"


def is_library_class(kind: type) -> bool:
    """Return whether a class is of CPython, the standard library or an installed package.

    Its module is built into CPython, or `is_library` accepts the file of its module.
    """
    module_name = str(vars(kind).get("__module__", "builtins"))
    if module_name == "__main__":
        return False
    if module_name in sys.builtin_module_names:
        return True
    module = sys.modules.get(module_name)
    file = ""
    if real_isinstance(module, ModuleType):
        # A lazy module loads its parts when an attribute is read. So `__dict__` is read by the
        # descriptor of ModuleType.
        read_dict = ModuleType.__dict__["__dict__"].__get__
        file = dict.get(read_dict(module), "__file__")
    return is_library(str(file))


def contains_only_library_values(value: object) -> bool:
    """Return whether `repr(value)` would run code of CPython and libraries only.

    The `repr` of a library's object may call the `repr` of what it contains, as that of a deque
    calls those of its items. So the objects to which `value` refers are checked as well, and those
    to which they refer, DEEPEST levels in all. Return False if there are too many to check.
    """
    level = [value]  # the objects at one distance from `value`
    object_count = 0
    for _ in range(DEEPEST):
        object_count += len(level)
        if object_count > MOST_INSIDE or not all(map(_has_only_library_classes, level)):
            return False
        next_level = []
        for item in level:
            if not _has_repr_of_its_own(item):
                next_level += gc.get_referents(item)
        level = next_level
    return True


def _has_repr_of_its_own(value: object) -> bool:
    """Return whether the `repr` of a value calls no `repr` of the objects to which it refers."""
    is_simple = is_exactly(value, *SCALARS, *_FUNCTIONS, ModuleType)
    return is_simple or real_isinstance(value, type)


def _has_only_library_classes(value: object) -> bool:
    """Return whether a value's class, and all classes from which it inherits, are of libraries."""
    # If `value` is a class, its `repr` is that of its metaclass. `type` is the usual one.
    return all(kind is type or is_library_class(kind) for kind in type(value).__mro__)


def format_library_value(value: object) -> str:
    """Return the text of an object whose class a library defines, or "" if there is none.

    It is the dtype and the shape of an array, the length of a large container, or the `repr`. There
    is none for an object that `short_repr` formats, for a class, for an object that contains
    objects of the user's, and if the text says nothing about the value.
    """
    kind = type(value)
    has_format = id(kind) in _FORMATS_BY_TYPE_ID
    if has_format or real_isinstance(value, type) or not is_library_class(kind):
        return ""
    try:
        shape = getattr(value, "shape", ()) if hasattr(kind, "shape") else ()
        if real_isinstance(shape, tuple) and shape:
            dtype = getattr(value, "dtype", "shape")
            dtype_name = getattr(dtype, "name", dtype)
            return format_text(f"{dtype_name} [{', '.join(map(str, shape))}]")
        if hasattr(kind, "__len__") and len(value) > MOST_MEMBERS:
            return f"{format_text(kind.__name__)} of {len(value):,}"
        if not contains_only_library_values(value):
            return ""
        # A class without a `__repr__` may have a `__str__` that says something. The text is made
        # twice, because it may differ each time, as that of a clock does.
        format_whole = str if kind.__repr__ is object.__repr__ else repr
        text = " ".join(format_whole(value).split())
        text_again = " ".join(format_whole(value).split())
    except Exception:  # the object may be incomplete, as in its own `__init__`
        return ""
    if text != text_again or _NO_VALUE.search(text):
        return ""
    return format_text(text)


# -- the formats of the built-in types ---------------------------------------------------------
# Each gets a value of exactly its type. `depth` says how many levels of containers may be shown.


def _format_value(value: object, depth: int) -> str:
    """Return a value as short text, or the name of its type."""
    # The table has ids of types as keys, because a metaclass may define `__hash__`.
    format_of_type = _FORMATS_BY_TYPE_ID.get(id(type(value)))
    if format_of_type:
        return format_of_type(value, depth)
    if real_isinstance(value, type):
        return f"class {format_text(value.__name__)}"
    name = format_text(type(value).__name__)
    if real_isinstance(value, BaseException):
        arguments = arguments_of(value)[:MOST_ITEMS]
        return format_text(
            f"{name}({', '.join(_format_value(item, OUTERMOST) for item in arguments)})"
        )
    return format_tensor(value) or f"{name} object"


def _format_repr(value, depth=0) -> str:
    """Return the repr of a scalar. All formats get a `depth`, which this one does not need."""
    return repr(value)


def _format_int(value: int, depth=0) -> str:
    """Return the digits of an int, if they are not too many."""
    return repr(value) if value.bit_length() <= BIGGEST_BITS else "a very large int"


def _format_literal(value: str | bytes, depth: int) -> str:
    """Return the repr of a str or of bytes, at most LONGEST characters, in a container half of it.

    A long one ends as in "'abc…'".
    """
    limit = LONGEST if depth == OUTERMOST else LONGEST // 2
    text = repr(value[:limit])
    if len(value) <= limit:
        return text
    closing_quote = text[-1]
    return f"{text[:-1]}…{closing_quote}"


def _format_items(value: list | tuple | dict, depth: int) -> str:
    """Return the first items of a list, a tuple or a dict, as in "[1, 2, 3, 4, …]".

    Return "[…]" if `depth` allows no more levels, and "list of 100" if the text would be too long.
    """
    opening, closing = {list: "[]", tuple: "()", dict: "{}"}[type(value)]
    if value and not depth:
        return f"{opening}…{closing}"

    if type(value) is dict:
        parts = [
            f"{_format_value(key, depth - 1)}: {_format_value(item, depth - 1)}"
            for key, item in islice(value.items(), MOST_ITEMS)
        ]
    else:
        parts = [_format_value(item, depth - 1) for item in islice(value, MOST_ITEMS)]
    if len(value) > MOST_ITEMS:
        parts.append("…")
    comma = "," if type(value) is tuple and len(parts) == 1 else ""
    return _replace_if_too_long(f"{opening}{', '.join(parts)}{comma}{closing}", value)


def _format_members(value: set | frozenset, depth: int) -> str:
    """Return the members of a set, sorted by their texts, as in "{1, 2}", or "set of 100".

    The order of a set differs in each run, so its members are shown only if all of them are.
    """
    if not value:
        return f"{type(value).__name__}()"
    members = TOO_LONG  # then `_replace_if_too_long` returns the number of members
    if depth and len(value) <= MOST_MEMBERS:
        members = ", ".join(sorted(_format_value(item, 0) for item in value))
    return _replace_if_too_long(f"{{{members}}}", value)


def _replace_if_too_long(text: str, value) -> str:
    """Return the text of a container, or "list of 100" if the text is too long."""
    return text if len(text) <= LONGEST else f"{type(value).__name__} of {len(value):,}"


def _format_cell(cell: types.CellType, depth: int) -> str:
    """Return what is in a cell of a closure."""
    try:
        return f"cell: {_format_value(cell.cell_contents, max(depth - 1, 0))}"
    except ValueError:
        return "empty cell"


def _format_range(value: range, depth: int) -> str:
    """Return a range as it is written."""
    return format_text(repr(value))


def _format_slice(value: slice, depth: int) -> str:
    """Return a slice with its three parts."""
    parts = (value.start, value.stop, value.step)
    return f"slice({', '.join(_format_value(part, 0) for part in parts)})"


def _format_callable(value, depth: int) -> str:
    """Return the label of a function or a method."""
    return format_text(format_label(value))


def _format_module(value: ModuleType, depth: int) -> str:
    """Return the name of a module."""
    return f"module {format_text(format_label(value))}"


def _format_code_object(code: types.CodeType, depth: int) -> str:
    """Return the name in a code object."""
    return format_text(f"code of {code.co_name}")


def _format_generator(generator: types.GeneratorType, depth: int) -> str:
    """Return the name of the function that made a generator."""
    return format_text(f"generator {generator.gi_code.co_name}")


def _format_coroutine(coroutine: types.CoroutineType, depth: int) -> str:
    """Return the name of the function that made a coroutine."""
    return format_text(f"coroutine {coroutine.cr_code.co_name}")


def _format_frame(frame: types.FrameType, depth: int) -> str:
    """Return the name of the function that a frame runs."""
    return format_text(f"frame of {frame.f_code.co_name}")


_FORMATS: dict[type, Callable[[object, int], str]] = {
    **dict.fromkeys(_FIXED, _format_repr),
    int: _format_int,
    str: _format_literal,
    bytes: _format_literal,
    list: _format_items,
    tuple: _format_items,
    dict: _format_items,
    set: _format_members,
    frozenset: _format_members,
    range: _format_range,
    slice: _format_slice,
    **dict.fromkeys(_FUNCTIONS, _format_callable),
    ModuleType: _format_module,
    types.CellType: _format_cell,
    types.CodeType: _format_code_object,
    types.GeneratorType: _format_generator,
    types.CoroutineType: _format_coroutine,
    types.FrameType: _format_frame,
}
_FORMATS_BY_TYPE_ID = {id(kind): format_of_type for kind, format_of_type in _FORMATS.items()}
