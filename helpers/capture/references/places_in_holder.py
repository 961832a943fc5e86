"""A holder and what it holds -> the places, each folded into the object that people can name.

The collector reports raw parts: the dict behind an instance, the tuple behind a function's
defaults, a cell. Who owns such a part follows from its own holders, which the heap knows.
"""

import functools
import types
from collections import deque
from gc import get_referents

from helpers.capture.cpython.objects import (
    class_mapping,
    class_namespace,
    has_inline_values,
    inherited,
    instance_dict,
    mro,
    namespace,
    pairs,
    part,
)
from helpers.capture.references.callable_places import (
    Cell,
    Default,
    PartialArgument,
    PartialFunction,
)
from helpers.capture.references.heap import Heap, Shelf
from helpers.capture.references.named_places import (
    CachedName,
    ClassName,
    Slot,
    fast_cache,
    read_slot,
)
from helpers.capture.references.namespaces import attribute_maker, names_of, places_in_dict
from helpers.capture.references.places import Fixed, ListItem, Place, SetMember
from helpers.safety.arguments import is_a
from helpers.safety.original_builtins import BUILTINS

__builtins__ = BUILTINS

# What a frame or a view holds, it gives up by itself; nobody can write it.
_NO_PLACE = (types.FrameType, types.TracebackType, types.MappingProxyType)


def places_in(holder, child, heap: Heap) -> list[Place]:
    """Return the places in `holder` that hold `child`; none for frames and bare views."""
    if is_a(holder, *_NO_PLACE):
        return []
    for base, finder in _FINDERS:
        if is_a(holder, base):
            found = finder(holder, child, heap)
            plain = type(holder) is base or base in (types.ModuleType, type)
            return found if plain else found + _attributes(holder, child, base)
    return _in_instance(holder, child)


def _in_list(holder, child, heap):
    base = deque if is_a(holder, deque) else list
    places = heap.spots(holder, lambda: enumerate(list(base.__iter__(holder))), child)
    return [ListItem(holder, at) for at in places]


def _in_set(holder, child, heap):
    if not heap.spots(holder, lambda: enumerate(list(set.__iter__(holder))), child):
        return []
    # Taking it out and putting another in would look both up, in the middle of a search.
    if _hashes_itself(child):
        return [Fixed("set member", holder, "{member}", reason="its __hash__ would have to run")]
    return [SetMember(holder, child)]


def _hashes_itself(thing) -> bool:
    """Return whether a look-up by hash would run Python code of the object."""
    slots = (inherited(type(thing), name) for name in ("__hash__", "__eq__"))
    return any(type(slot) is types.FunctionType for slot in slots)


def _in_frozenset(holder, child, heap):
    held = heap.spots(holder, lambda: enumerate(frozenset.__iter__(holder)), child)
    reason = "a frozenset cannot be changed"
    return [Fixed("frozenset member", holder, "{member}", reason=reason)] if held else []


def _in_tuple(holder, child, heap):
    """A tuple that nothing in the heap holds carries the arguments of a call: no place."""
    indexes = heap.spots(holder, lambda: enumerate(tuple.__iter__(holder)), child)
    # gc.get_referrers itself, and each call on the way here, holds the object in such a tuple.
    parents = heap.parents(holder)
    if not parents or _lists_bases(holder, parents):
        return []
    functions = [p for p in parents if is_a(p, types.FunctionType) and p.__defaults__ is holder]
    partials = [p for p in parents if is_a(p, functools.partial) and _args(p) is holder]
    found = [Default(function, at) for function in functions for at in indexes]
    found += [PartialArgument(partial, at) for partial in partials for at in indexes]
    return found or [_tuple_item(holder, at) for at in indexes]


def _args(partial):
    return part(functools.partial, "args", partial)


def _tuple_item(holder, at):
    return Fixed("tuple item", holder, f"[{at}]", reason="a tuple cannot be changed")


def _lists_bases(holder, parents) -> bool:
    """Return whether a type lists its bases in this tuple: a layout, not a place."""
    return any(is_a(p, type) and mro(p) is holder for p in parents)


def _in_cell(holder, child, heap):
    # A cell is shared by closures: whoever writes it changes the variable for all of them.
    owners = Shelf()
    for closure in heap.parents(holder):
        if is_a(closure, tuple):
            owners.extend(_functions_around(closure, heap))
    if not owners:  # a list may hold it, or a generator that waits: its cell can be written
        holders = heap.parents(holder)
        kept = any(is_a(p, types.CellType) or places_in(p, holder, heap) for p in holders)
        return [Cell(holder, "cell_contents", holder)] if kept else []
    name = owners[0].__code__.co_freevars[_index(owners[0].__closure__, holder)]
    return [Cell(holder, name, owners)]


def _functions_around(closure, heap):
    parents = heap.parents(closure)
    return [p for p in parents if is_a(p, types.FunctionType) and p.__closure__ is closure]


def _index(items, wanted) -> int:
    return next(at for at, item in enumerate(items) if item is wanted)


def _in_wrapper(holder, child, heap):
    base = next(kind for kind in _WRAPPERS if is_a(holder, kind))
    held = [field for field in _WRAPPERS[base] if part(base, field, holder) is child]
    homes = [home for inside in heap.parents(holder) for home in _homes(holder, inside, heap)]
    if not homes or type(holder) is not base:
        reason = f"this {base.__name__} cannot be built anew"
        return [Fixed("C-level holder", holder, field, reason=reason) for field in held]
    return [ClassName(cls, at, field, holder) for cls, at in homes for field in held]


_WRAPPERS = {
    property: ("fget", "fset", "fdel"),
    staticmethod: ("__func__",),
    classmethod: ("__func__",),
}


def _homes(wrapper, inside, heap):
    if not is_a(inside, dict):
        return []
    owners = [p for p in heap.parents(inside) if is_a(p, type) and class_namespace(p) is inside]
    return [(owner, at) for owner in owners for at in names_of(inside, wrapper, heap)]


def _in_method(holder, child, heap):
    names = [name for name in ("__func__", "__self__") if getattr(holder, name) is child]
    reason = "a bound method's {} is read-only"
    return [Fixed("bound method", holder, name, reason=reason.format(name)) for name in names]


def _in_partial(holder, child, heap):
    return [PartialFunction(holder)] if part(functools.partial, "func", holder) is child else []


def _in_suspended(holder, child, heap):
    prefix = {"g": "gi", "c": "cr", "a": "ag"}[type(holder).__name__[0]]
    frame = getattr(holder, f"{prefix}_frame")
    if frame is None or getattr(holder, f"{prefix}_running"):
        return []
    reason = "a suspended frame keeps its locals to itself"
    if is_a(child, types.CellType):
        held = Cell(child, "", holder).get()
        names = [n for n in _locals_that_are(frame, held) if n in frame.f_code.co_cellvars]
    else:
        names = _locals_that_are(frame, child)
    return [Fixed("generator local", holder, name, reason=reason) for name in names]


def _locals_that_are(frame, child):
    """Return the names of the locals that are `child`, and leave no snapshot of them behind."""
    # Until 3.12 the frame keeps the dict that it shows, and that would be one more holder.
    shown = frame.f_locals
    names = [name for name, value in list(shown.items()) if value is child]
    if type(shown) is dict:
        shown.clear()
    return names


def _in_module(holder, child, heap):
    cache = fast_cache(holder)
    if cache is None:
        return []
    known = [name for name, _ in pairs(namespace(holder)) if cache.has(name)]
    return [CachedName(holder, name) for name in known if cache.get(name) is child]


def _in_function(holder, child, heap):
    parts = ("__globals__", "__closure__", "__defaults__", "__kwdefaults__", "__annotations__")
    names = [name for name in parts if getattr(holder, name) is child]
    return [Fixed("C-level holder", holder, name, reason="it is read-only") for name in names]


def _in_class(holder, child, heap):
    return []


def _in_instance(holder, child):
    found = _attributes(holder, child, object)
    # What the collector counts more often than we have found in Python is held by C code.
    in_c = sum(one is child for one in get_referents(holder)) - (type(holder) is child)
    in_c -= len(found) if has_inline_values(type(holder)) else len(_slots(holder, child, object))
    return found + [_inside(holder)] if in_c > 0 else found


def _inside(holder):
    reason = "it is held in C, where Python cannot write"
    return Fixed("C-level holder", holder, "(inside the C object)", reason=reason)


def _attributes(holder, child, base):
    """Return the slots and attributes that `holder` has beyond its built-in `base`."""
    found = _slots(holder, child, base)
    inside = instance_dict(holder)
    if inside is not None:
        make = attribute_maker(holder, inside)
        found += [make(at) for at in names_of(inside, child)]
    return found


def _slots(holder, child, base):
    members = (
        (name, member)
        for cls in mro(type(holder))
        if cls not in mro(base)
        for name, member in class_mapping(cls).items()
        if type(member) is types.MemberDescriptorType
    )
    return [Slot(holder, name, slot) for name, slot in members if read_slot(slot, holder) is child]


_FINDERS = (
    (dict, places_in_dict),
    (list, _in_list),
    (deque, _in_list),
    (tuple, _in_tuple),
    (set, _in_set),
    (frozenset, _in_frozenset),
    (types.CellType, _in_cell),
    (types.MethodType, _in_method),
    (functools.partial, _in_partial),
    (staticmethod, _in_wrapper),
    (classmethod, _in_wrapper),
    (property, _in_wrapper),
    (types.GeneratorType, _in_suspended),
    (types.CoroutineType, _in_suspended),
    (types.AsyncGeneratorType, _in_suspended),
    (types.ModuleType, _in_module),
    (types.FunctionType, _in_function),
    (type, _in_class),
)
