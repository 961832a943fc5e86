"""A cache entry and a call -> whether a check of the guards would run code of the user's.

Torch reads attributes as Python does, so a property runs. It takes the length of a list by `__len__`,
also that of a class derived from list. A program would notice that these run once more.
"""

from ..text.value import type_name
from .guard_leaves import list_children
from .guard_words import TENSOR_MATCH
from .lookup import NeedsUsersCode, runs_users_method
from .node_checks import refuses_type
from .source_values import read_value

# kind of guard -> the special method that torch calls to check it
METHODS_BY_KIND = {
    "LENGTH_CHECK": "__len__",
    "HASATTR": "__getattr__",
    "NO_HASATTR": "__getattr__",
}
# Kinds of guard that can be asked here: they compare addresses, or look at a tensor in C.
HARMLESS_KINDS = (
    "TYPE_MATCH",
    "ID_MATCH",
    "NONE_MATCH",
    "TRUE_MATCH",
    "FALSE_MATCH",
    TENSOR_MATCH,
)


def would_run_users_code(entry, scope: dict) -> bool:
    """Return whether torch would run code of the user's to check the guards of a cache entry.

    `scope` has the locals and globals of the call under `L` and `G`.
    """
    return _would_node_run_users_code(entry.guard_manager.root, scope)


def _would_node_run_users_code(node, scope: dict) -> bool:
    """Return the same for a node of the guard tree and what torch would check below it."""
    try:
        value = read_value(node.get_source(), scope)
    except NeedsUsersCode:
        return True
    except Exception:  # there is no such value, and so torch goes no further
        return False

    for guard in node.get_leaf_guards():
        kind = type_name(guard)
        if checks_by_users_code(kind, value):
            return True
        if kind in HARMLESS_KINDS and not guard(value):
            return False  # torch stops here
    if refuses_type(node, value):
        return False
    return any(_would_node_run_users_code(child, scope) for child in list_children(node))


def checks_by_users_code(kind: str, value: object) -> bool:
    """Return whether a guard of this kind runs code of the class of a value."""
    if kind not in METHODS_BY_KIND:
        return False
    method = METHODS_BY_KIND[kind]
    return runs_users_method(value, method) or runs_users_method(value, "__getattribute__")
