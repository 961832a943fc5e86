"""List the objects that an object refers to, each with a label as a reader writes it: `[0]` for an
item of a list, `['key']` for a value of a dict, `.name` for an attribute.

Only built-in containers, functions and the attributes of instances are opened. No code of the
object runs.
"""

import functools
from dataclasses import dataclass
from itertools import islice
from types import CellType, FunctionType, MethodType, ModuleType

from ...safety.arguments import is_exactly, real_isinstance
from ..cpython.objects import read_instance_dict
from ..text.value import SCALARS, format_label, format_name

MOST_ITEMS = 12  # of one container
MOST_SORTED = 1_000  # members of a set, whose order is another one in each process
_METHOD_TYPES = (FunctionType, staticmethod, classmethod)


@dataclass(frozen=True)
class Reference:
    """One reference of an object to another one."""

    #: How the object refers to the other one, such as `[0]` or `.name`; "" for a member of a set.
    label: str
    #: The other object.
    target: object


@dataclass(frozen=True)
class References:
    """The references of one object."""

    #: All references, or the first ones of a large container.
    first: list[Reference]
    #: How many references the object has.
    count: int


def find_references(value: object) -> References:
    """Return the references of an object; of a container only the first `MOST_ITEMS`.

    An object that is not opened, such as a number or a module, has no references here.
    """
    if is_exactly(value, list, tuple):
        items = [Reference(f"[{index}]", item) for index, item in enumerate(value[:MOST_ITEMS])]
        return References(items, len(value))
    if type(value) is dict:
        pairs = islice(list(value.items()), MOST_ITEMS)
        items = [Reference(f"[{format_label(key)}]", item) for key, item in pairs]
        return References(items, len(value))
    if is_exactly(value, set, frozenset):
        # A set has another order in each process, so its members are sorted by their texts.
        members = sorted(islice(value, MOST_SORTED), key=format_label)
        return References([Reference("", member) for member in members[:MOST_ITEMS]], len(value))

    references = _read_callable(value)
    if references is None:
        references = [
            Reference(f".{format_name(name)}", item) for name, item in _list_attributes(value)
        ]
    return References(references, len(references))


def _read_callable(value: object) -> list[Reference] | None:
    """Return the references of a function, or of an object that wraps one; None for any other.

    Wrappers of functions are static and class methods, partials, and bound methods.
    """
    if is_exactly(value, staticmethod, classmethod):
        return [Reference("__func__", value.__func__)]
    if type(value) is functools.partial:
        return [Reference("func", value.func)]
    if type(value) is MethodType:
        return [Reference("__func__", value.__func__), Reference("__self__", value.__self__)]
    if type(value) is FunctionType:
        return _read_function(value)
    return None


def _read_function(function: FunctionType) -> list[Reference]:
    """Return the references of a function that a reader cares for.

    These are the variables of its closure, its default arguments, and `__wrapped__`, by which a
    decorator refers to the function inside.
    """
    references = []
    names_and_cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    for name, cell in names_and_cells:
        if not _is_empty(cell):  # the variable is bound
            references.append(Reference(f"closure {format_name(name)}", cell.cell_contents))

    for default in function.__defaults__ or ():
        if not is_exactly(default, *SCALARS):  # a number or a text is no other object to a reader
            references.append(Reference("default", default))

    if "__wrapped__" in vars(function):
        references.append(Reference("__wrapped__", vars(function)["__wrapped__"]))
    return references


def _is_empty(cell: CellType) -> bool:
    """Return whether the variable of a cell is not bound yet.

    `CellType()` is an empty cell. CPython compares the contents of two cells only if both have
    some (`cell_richcompare`, Objects/cellobject.c), so no `__eq__` of the contents runs.
    """
    return cell == CellType()


def _list_attributes(value: object) -> list[tuple[str, object]]:
    """Return (name, value) of each attribute of an instance, or of each method of a class.

    The list is empty for a module, and for an instance of a class of Python or NumPy: their many
    attributes are not the learner's.
    """
    if real_isinstance(value, type):
        pairs = vars(value).items()
        return [(name, item) for name, item in pairs if type(item) in _METHOD_TYPES]

    module_of_class = vars(type(value)).get("__module__", "builtins")
    if real_isinstance(value, ModuleType) or module_of_class in ("builtins", "numpy"):
        return []
    attributes = read_instance_dict(value) or {}
    return [(name, item) for name, item in attributes.items() if type(name) is str]
