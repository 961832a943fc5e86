"""A cache entry and a call -> whether a check of the entry's guards would run the user's code.

Torch reads attributes as Python does, so a property runs. Torch takes the length of an object by
`__len__`, so the `__len__` of a class derived from list runs. If guards are checked here once more,
such a method runs more often than in the program alone, and the program may notice that.
"""

from ...safety.arguments import real_type_name
from .guard_leaves import list_children
from .guard_words import TENSOR_MATCH
from .lookup import NeedsUsersCode, has_users_method
from .node_checks import is_type_refused
from .source_values import evaluate_source_or_raise

# kind of guard -> the special method that torch calls to check it
METHODS_BY_KIND = {
    "LENGTH_CHECK": "__len__",
    "HASATTR": "__getattr__",
    "NO_HASATTR": "__getattr__",
}
# Kinds of guard whose check runs no Python code: they compare addresses, or look at a tensor in C.
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
    """Return whether torch would run user code to check a node of the guard tree, or nodes below.

    The nodes are walked in torch's order, as far as torch would get. Torch stops at the first guard
    that fails, so what comes after such a guard cannot run.
    """
    try:
        value = evaluate_source_or_raise(node.get_source(), scope)
    except NeedsUsersCode:
        return True
    except Exception:  # there is no such value, so torch stops here
        return False

    for guard in node.get_leaf_guards():
        kind = real_type_name(guard)
        if is_checked_by_users_code(kind, value):
            return True
        # Torch's guard object, called with the value, returns whether the guard holds.
        if kind in HARMLESS_KINDS and not guard(value):
            return False  # torch stops here
    if is_type_refused(node, value):  # torch does not look at the items of such a dict
        return False
    return any(_would_node_run_users_code(child, scope) for child in list_children(node))


def is_checked_by_users_code(kind: str, value: object) -> bool:
    """Return whether torch calls a method that the user wrote to check such a guard on a value."""
    if kind not in METHODS_BY_KIND:
        return False
    method = METHODS_BY_KIND[kind]
    return has_users_method(value, method) or has_users_method(value, "__getattribute__")
