"""A holder and what it holds -> the places, each folded into the object that people can name.

The collector reports raw parts: the dict behind an instance, the tuple behind a function's
defaults, a cell. Who owns such a part follows from its own holders, which the heap knows.
"""

import functools
import sys
import types
from collections import deque
from functools import partial
from gc import get_referents

from helpers.capture.cpython.objects import (
    class_mapping,
    class_namespace,
    has_inline_values,
    inherited,
    instance_dict,
    is_immutable,
    mro,
    namespace,
    pairs,
    part,
    static_owner,
)
from helpers.capture.references.heap import Heap, Shelf
from helpers.capture.references.places import (
    CachedName,
    Cell,
    ClassName,
    Default,
    Fixed,
    Item,
    ListItem,
    ModuleName,
    PartialArgument,
    PartialFunction,
    Place,
    SetMember,
    Slot,
    fast_cache,
    read_slot,
)
from helpers.safety.arguments import is_a, is_exactly

# What a frame or a view holds, it gives up by itself; nobody can write it.
_NO_PLACE = (types.FrameType, types.TracebackType, types.MappingProxyType)
_FUNCTION_LIKE = (types.FunctionType, functools._lru_cache_wrapper)
_PARTS_OF_FUNCTION = ("globals", "closure", "defaults", "kwdefaults", "annotations")
_WRAPPERS = {
    property: ("fget", "fset", "fdel"),
    staticmethod: ("__func__",),
    classmethod: ("__func__",),
}


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


def names_of(container: dict, child, heap=None) -> list:
    """Return the keys whose value is `child`, from a copy: another thread may be at work.

    With a `heap` that knows `child`, the dict is read once for all that are asked for.
    """
    if heap is not None and heap.knows(child):
        return heap.spots(container, lambda: pairs(container), child)
    return [key for key, value in pairs(container) if value is child]


def _in_dict(holder, child, heap):
    """Return the places in a dict: values under the name its owner gives them, then keys."""
    main = sys.modules.get("__main__")
    session = namespace(main) if is_a(main, types.ModuleType) else {}
    if any(session.get(name) is holder for name in ("_oh", "Out")):  # IPython's record of results
        return []
    parents = heap.parents(holder)
    makers = _makers(holder, parents, heap)
    if not makers and parents and all(is_a(parent, types.FrameType) for parent in parents):
        return []  # only the snapshot of a frame's locals
    makers = makers or [partial(Item, "dict value", holder)]
    found = [make(at) for at in names_of(holder, child, heap) for make in makers]
    if not is_exactly(child, dict, list, set) and any(key is child for key, _ in pairs(holder)):
        found.append(Fixed("dict key", holder, "{key}", reason="a key is found by its hash"))
    return found


def _makers(holder, parents, heap) -> list:
    """Return one maker of places per owner that uses this dict as a part of itself."""
    name = heap.names.get(id(holder), "")
    module = sys.modules.get(name)
    if is_a(module, types.ModuleType) and namespace(module) is holder:
        return [partial(ModuleName, name, module)]
    makers = [make for make in (_maker(parent, holder) for parent in parents) if make is not None]
    if makers:
        return makers
    owner = static_owner(holder) if dict.__contains__(holder, "__doc__") else None
    if owner is not None:
        return [_maker(owner, holder)]
    if parents and all(is_a(parent, types.MappingProxyType) for parent in parents):
        reason = "a mappingproxy is read-only"
        view = parents[0]
        return [lambda at: Fixed("mappingproxy item", view, f"[{at!r}]", reason=reason)]
    return []


def _maker(parent, inside):
    """Return a maker of places for a dict that is a part of `parent`, None if it is none."""
    if is_a(parent, types.ModuleType):
        kind = "hidden module attribute"
        return _named(kind, inside, parent) if namespace(parent) is inside else None
    if is_a(parent, type):
        if class_namespace(parent) is not inside:
            return None
        if is_immutable(parent):
            reason = "its type cannot be changed"
            return lambda at: Fixed("class attribute", parent, at, reason=reason)
        return partial(ClassName, parent)
    if is_a(parent, types.FunctionType):
        if parent.__globals__ is inside:
            return None
        if parent.__kwdefaults__ is inside:
            kind = "keyword default"
            return lambda at: Item(kind, inside, at, parent, f"__kwdefaults__[{at!r}]")
    elif is_a(parent, partial) and part(partial, "keywords", parent) is inside:
        return lambda at: Item("partial", inside, at, parent, f"keywords[{at!r}]")
    elif is_a(parent, dict, list, tuple, set, types.CellType, types.FrameType):
        return None
    return _attribute_maker(parent, inside)


def _attribute_maker(parent, inside):
    """Return a maker of places for the attribute dict of `parent`; None if `inside` is not it."""
    if instance_dict(parent) is not inside:
        return None
    function = is_a(parent, *_FUNCTION_LIKE)
    return _named("function attribute" if function else "instance attribute", inside, parent)


def _named(kind, inside, holder):
    return lambda at: Item(kind, inside, at, holder, at if type(at) is str else None)


def _in_list(holder, child, heap):
    base = deque if is_a(holder, deque) else list
    places = heap.spots(holder, lambda: enumerate(list(base.__iter__(holder))), child)
    return [ListItem(holder, at) for at in places]


def _in_set(holder, child, heap):
    base = set if is_a(holder, set) else frozenset
    if not heap.spots(holder, lambda: enumerate(list(base.__iter__(holder))), child):
        return []
    if base is frozenset:
        reason = "a frozenset cannot be changed"
        return [Fixed("frozenset member", holder, "{member}", reason=reason)]
    # Taking it out and putting another in would look both up, in the middle of a search.
    slots = (inherited(type(child), name) for name in ("__hash__", "__eq__"))
    if any(type(slot) is types.FunctionType for slot in slots):
        return [Fixed("set member", holder, "{member}", reason="its __hash__ would have to run")]
    return [SetMember(holder, child)]


def _in_tuple(holder, child, heap):
    """A tuple that nothing in the heap holds carries the arguments of a call: no place."""
    indexes = heap.spots(holder, lambda: enumerate(tuple.__iter__(holder)), child)
    # gc.get_referrers itself, and each call on the way here, holds the object in such a tuple.
    parents = heap.parents(holder)
    lists_bases = any(is_a(p, type) and mro(p) is holder for p in parents)
    if not parents or lists_bases:
        return []
    functions = [p for p in parents if is_a(p, types.FunctionType) and p.__defaults__ is holder]
    partials = [p for p in parents if is_a(p, partial) and part(partial, "args", p) is holder]
    found = [Default(function, at) for function in functions for at in indexes]
    found += [PartialArgument(one, at) for one in partials for at in indexes]
    reason = "a tuple cannot be changed"
    return found or [Fixed("tuple item", holder, f"[{at}]", reason=reason) for at in indexes]


def _in_cell(holder, child, heap):
    # A cell is shared by closures: whoever writes it changes the variable for all of them.
    owners = Shelf(
        function
        for closure in heap.parents(holder)
        if is_a(closure, tuple)
        for function in heap.parents(closure)
        if is_a(function, types.FunctionType) and function.__closure__ is closure
    )
    if not owners:  # a list may hold it, or a generator that waits: its cell can be written
        holders = heap.parents(holder)
        kept = any(is_a(p, types.CellType) or places_in(p, holder, heap) for p in holders)
        return [Cell(holder, "cell_contents", holder)] if kept else []
    first = owners[0]
    at = next(at for at, cell in enumerate(first.__closure__) if cell is holder)
    return [Cell(holder, first.__code__.co_freevars[at], owners)]


def _in_wrapper(holder, child, heap):
    base = next(kind for kind in _WRAPPERS if is_a(holder, kind))
    held = [field for field in _WRAPPERS[base] if part(base, field, holder) is child]
    homes = [
        (owner, at)
        for inside in heap.parents(holder)
        if is_a(inside, dict)
        for owner in heap.parents(inside)
        if is_a(owner, type) and class_namespace(owner) is inside
        for at in names_of(inside, holder, heap)
    ]
    if not homes or type(holder) is not base:
        reason = f"this {base.__name__} cannot be built anew"
        return [Fixed("C-level holder", holder, field, reason=reason) for field in held]
    return [ClassName(cls, at, field, holder) for cls, at in homes for field in held]


def _in_method(holder, child, heap):
    names = [name for name in ("__func__", "__self__") if getattr(holder, name) is child]
    reason = "a bound method's {} is read-only"
    return [Fixed("bound method", holder, name, reason=reason.format(name)) for name in names]


def _in_partial(holder, child, heap):
    return [PartialFunction(holder)] if part(partial, "func", holder) is child else []


def _in_suspended(holder, child, heap):
    prefix = {"g": "gi", "c": "cr", "a": "ag"}[type(holder).__name__[0]]
    frame = getattr(holder, f"{prefix}_frame")
    if frame is None or getattr(holder, f"{prefix}_running"):
        return []
    cell = is_a(child, types.CellType)
    names = _locals_that_are(frame, Cell(child, "", holder).get() if cell else child)
    reason = "a suspended frame keeps its locals to itself"
    shown = (name for name in names if not cell or name in frame.f_code.co_cellvars)
    return [Fixed("generator local", holder, name, reason=reason) for name in shown]


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
    parts = [f"__{name}__" for name in _PARTS_OF_FUNCTION]
    names = [name for name in parts if getattr(holder, name) is child]
    return [Fixed("C-level holder", holder, name, reason="it is read-only") for name in names]


def _in_instance(holder, child):
    found = _attributes(holder, child, object)
    # What the collector counts more often than we have found in Python is held by C code.
    in_c = sum(one is child for one in get_referents(holder)) - (type(holder) is child)
    in_c -= len(found) if has_inline_values(type(holder)) else len(_slots(holder, child, object))
    if in_c <= 0:
        return found
    reason = "it is held in C, where Python cannot write"
    return [*found, Fixed("C-level holder", holder, "(inside the C object)", reason=reason)]


def _attributes(holder, child, base):
    """Return the slots and attributes that `holder` has beyond its built-in `base`."""
    found, inside = _slots(holder, child, base), instance_dict(holder)
    if inside is not None:
        make = _attribute_maker(holder, inside)
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
    (dict, _in_dict),
    *((base, _in_list) for base in (list, deque)),
    (tuple, _in_tuple),
    *((base, _in_set) for base in (set, frozenset)),
    (types.CellType, _in_cell),
    (types.MethodType, _in_method),
    (partial, _in_partial),
    *((base, _in_wrapper) for base in _WRAPPERS),
    (types.GeneratorType, _in_suspended),
    (types.CoroutineType, _in_suspended),
    (types.AsyncGeneratorType, _in_suspended),
    (types.ModuleType, _in_module),
    (types.FunctionType, _in_function),
    (type, lambda holder, child, heap: []),
)
