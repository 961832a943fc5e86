"""A dict and what it holds -> places, named after the object that uses the dict as its own.

Modules, classes, functions, partials and instances keep their names in a dict. The collector
reports the dict; whose it is follows from who holds it.
"""

import functools
import sys
import types

from helpers.capture.cpython.objects import (
    class_namespace,
    instance_dict,
    is_immutable,
    namespace,
    pairs,
    part,
    static_owner,
)
from helpers.capture.references.named_places import ClassName, ModuleName
from helpers.capture.references.places import Fixed, Item
from helpers.safety.arguments import is_a, is_exactly
from helpers.safety.original_builtins import BUILTINS

__builtins__ = BUILTINS

_UNHASHABLE = (dict, list, set)
_FUNCTION_LIKE = (types.FunctionType, functools._lru_cache_wrapper)
_HISTORY = ("_oh", "Out")


def places_in_dict(holder, child, heap):
    """Return the places in a dict: values under the name its owner gives them, then keys."""
    if _is_history(holder):
        return []
    roles = _roles(holder, heap)
    if not roles and _is_bare(holder, heap):
        return []
    makers = roles or [functools.partial(Item, "dict value", holder)]
    found = [make(at) for at in names_of(holder, child, heap) for make in makers]
    return found + _as_key(holder, child)


def _as_key(holder, child):
    if is_exactly(child, *_UNHASHABLE):
        return []
    held = any(key is child for key, _ in pairs(holder))
    return [Fixed("dict key", holder, "{key}", reason="a key is found by its hash")] if held else []


def _is_history(holder) -> bool:
    """Return whether this is IPython's record of results, which a rebinding leaves alone."""
    main = sys.modules.get("__main__")
    inside = namespace(main) if is_a(main, types.ModuleType) else {}
    return any(inside.get(name) is holder for name in _HISTORY)


def _is_bare(holder, heap) -> bool:
    """Return whether this dict is only the snapshot of a frame's locals."""
    parents = heap.parents(holder)
    return bool(parents) and all(is_a(parent, types.FrameType) for parent in parents)


def _roles(holder, heap):
    """Return one maker of places per owner that uses this dict as a part of itself."""
    name = heap.names.get(id(holder), "")
    module = sys.modules.get(name)
    if is_a(module, types.ModuleType) and namespace(module) is holder:
        return [functools.partial(ModuleName, name, module)]
    makers = (_role(parent, holder) for parent in heap.parents(holder))
    return [make for make in makers if make is not None] or _locked(holder, heap)


def _role(parent, part):
    for base, role in _ROLES:
        if is_a(parent, base):
            return role(parent, part)
    return attribute_maker(parent, part)


def _role_in_module(parent, part):
    kind = "hidden module attribute"
    return _named(kind, part, parent) if namespace(parent) is part else None


def _role_in_class(parent, part):
    if class_namespace(parent) is not part:
        return None
    if is_immutable(parent):
        return _fixed("class attribute", parent, "its type cannot be changed")
    return functools.partial(ClassName, parent)


def _role_in_function(parent, part):
    if parent.__globals__ is part:
        return None
    if parent.__kwdefaults__ is part:
        kind = "keyword default"
        return lambda at: Item(kind, part, at, parent, f"__kwdefaults__[{at!r}]")
    return attribute_maker(parent, part, "function attribute")


def _role_in_partial(parent, inside):
    if part(functools.partial, "keywords", parent) is inside:
        return lambda at: Item("partial", inside, at, parent, f"keywords[{at!r}]")
    return attribute_maker(parent, inside)


def attribute_maker(parent, part, kind="instance attribute"):
    """Return a maker of places for the attribute dict of `parent`; None if `part` is not it."""
    if instance_dict(parent) is not part:
        return None
    kind = "function attribute" if is_a(parent, *_FUNCTION_LIKE) else kind
    return _named(kind, part, parent)


def _no_role(parent, part):
    return None


def _locked(holder, heap):
    """Return the role of a dict that only a read-only view shows, or of an immutable type's."""
    parents = heap.parents(holder)
    owner = static_owner(holder) if dict.__contains__(holder, "__doc__") else None
    if owner is not None:
        return [_role_in_class(owner, holder)]
    if parents and all(is_a(parent, types.MappingProxyType) for parent in parents):
        reason = "a mappingproxy is read-only"
        return [_fixed("mappingproxy item", parents[0], reason, label=True)]
    return []


def _named(kind, part, holder):
    def make(at):
        return Item(kind, part, at, holder, at if type(at) is str else None)

    return make


def _fixed(kind, holder, reason, label=False):
    def make(at):
        return Fixed(kind, holder, f"[{at!r}]" if label else at, reason=reason)

    return make


def names_of(container: dict, child, heap=None) -> list:
    """Return the keys whose value is `child`, from a copy: another thread may be at work.

    With a `heap` that knows `child`, the dict is read once for all that are asked for.
    """
    if heap is not None and heap.knows(child):
        return heap.spots(container, lambda: pairs(container), child)
    return [key for key, value in pairs(container) if value is child]


_ROLES = (
    (types.ModuleType, _role_in_module),
    (type, _role_in_class),
    (types.FunctionType, _role_in_function),
    (functools.partial, _role_in_partial),
    *((base, _no_role) for base in (dict, list, tuple, set, types.CellType, types.FrameType)),
)
