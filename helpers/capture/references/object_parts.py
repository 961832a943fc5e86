"""An object -> its parts: the other objects that it refers to, as a reader of Python names them.

Only the built-in types, functions and the attributes of instances are opened. No code of the object
runs.
"""

import functools
from dataclasses import dataclass
from itertools import islice
from types import CellType, FunctionType, MethodType, ModuleType

from ...safety.arguments import is_exactly, real_isinstance
from ..cpython.objects import instance_dict
from ..text.value import SCALARS, label, short_name

MOST_ITEMS = 12  # parts of one object that are found in a container
MOST_SORTED = 1_000  # members of a set, whose order is another one in each process
_METHOD_TYPES = (FunctionType, staticmethod, classmethod)


@dataclass(frozen=True)
class Part:
    """One object that another one refers to."""

    #: How the other object refers to it, such as `[0]` or `.name`; "" for a member of a set.
    label: str
    #: The object.
    value: object


@dataclass(frozen=True)
class Parts:
    """The parts of one object."""

    #: All parts, or the first ones of a large container.
    first: list[Part]
    #: How many parts there are.
    count: int


def find_parts(value: object) -> Parts:
    """Return the parts of an object; of a container the first `MOST_ITEMS`."""
    if is_exactly(value, list, tuple):
        items = [Part(f"[{index}]", item) for index, item in enumerate(value[:MOST_ITEMS])]
        return Parts(items, len(value))
    if type(value) is dict:
        pairs = islice(list(value.items()), MOST_ITEMS)
        items = [Part(f"[{label(key)}]", item) for key, item in pairs]
        return Parts(items, len(value))
    if is_exactly(value, set, frozenset):
        members = sorted(islice(value, MOST_SORTED), key=label)
        return Parts([Part("", member) for member in members[:MOST_ITEMS]], len(value))

    parts = _find_parts_of_callable(value)
    if parts is None:
        parts = [Part(f".{short_name(name)}", item) for name, item in _list_attributes(value)]
    return Parts(parts, len(parts))


def _find_parts_of_callable(value: object) -> list[Part] | None:
    """Return the parts of a function, or of what wraps one; None for any other object."""
    if is_exactly(value, staticmethod, classmethod):
        return [Part("__func__", value.__func__)]
    if type(value) is functools.partial:
        return [Part("func", value.func)]
    if type(value) is MethodType:
        return [Part("__func__", value.__func__), Part("__self__", value.__self__)]
    if type(value) is FunctionType:
        return _find_parts_of_function(value)
    return None


def _find_parts_of_function(function: FunctionType) -> list[Part]:
    """Return the variables of a function's closure, its default arguments, and `__wrapped__`."""
    parts = []
    names_and_cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    for name, cell in names_and_cells:
        if not _is_empty(cell):
            parts.append(Part(f"closure {short_name(name)}", cell.cell_contents))

    for default in function.__defaults__ or ():
        if not is_exactly(default, *SCALARS):  # a number or a text is no other object to a reader
            parts.append(Part("default", default))

    if "__wrapped__" in vars(function):
        parts.append(Part("__wrapped__", vars(function)["__wrapped__"]))
    return parts


def _is_empty(cell: CellType) -> bool:
    """Return whether the variable of a cell is not bound yet.

    A cell equals an empty one only if it is empty, and CPython compares no contents for that
    (`cell_richcompare`, Objects/cellobject.c).
    """
    return cell == CellType()


def _list_attributes(value: object) -> list[tuple[str, object]]:
    """Return name and value of an instance's attributes, or of the methods of a class.

    Modules are not opened, nor objects of classes that are built in or made by NumPy.
    """
    if real_isinstance(value, type):
        pairs = vars(value).items()
        return [(name, item) for name, item in pairs if type(item) in _METHOD_TYPES]

    home = vars(type(value)).get("__module__", "builtins")
    if real_isinstance(value, ModuleType) or home in ("builtins", "numpy"):
        return []
    attributes = instance_dict(value) or {}
    return [(name, item) for name, item in attributes.items() if type(name) is str]
