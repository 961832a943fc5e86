"""Find where exactly an object (the *holder*) refers to another one (the *value*). The result is a
list of Places, such as the item `[3]` of a list, or the attribute `name` of an instance.

The garbage collector reports raw parts as holders, such as the dict of an instance, or the closure
of a function. Who owns such a part follows from the holders of the part, which a HolderGraph has:
`graph.holders(part)`.
"""

import sys
import types
from collections import deque
from functools import partial

from ...safety.arguments import is_exactly, real_isinstance
from ..cpython.objects import read_namespace
from .holder_graph import HolderGraph
from .module_caches import find_module_cache
from .numpy_arrays import list_array_contents
from .places import HiddenList, Place, build_module_place, find_keys, format_key
from .places_in_attributes import (
    CONTAINER_TYPES,
    FIXED_TYPE,
    build_owned_place,
    find_in_instance,
    find_part_kind,
)
from .places_in_calls import find_variables


def find_places_in(holder: object, value: object, graph: HolderGraph) -> list[Place]:
    """Return a Place for each reference of `holder` to `value`.

    `graph` is the HolderGraph of the search. The list is empty for a traceback and for a class: the
    exception with the traceback is a holder itself, and so is the dict of the class.
    """
    if real_isinstance(holder, types.TracebackType, type):
        return []
    # Each of the next kinds has only references that are found here, or dicts that are holders.
    if type(holder) is types.MappingProxyType:
        return [Place("C-level holder", holder, "")]
    if type(holder) is types.CellType:
        return _find_in_cell(holder, value, graph)
    if type(holder) is types.MethodType:
        names = [name for name in ("__func__", "__self__") if getattr(holder, name) is value]
        return [Place("bound method", holder, name) for name in names]
    if real_isinstance(holder, types.ModuleType):
        return _find_in_module_cache(holder, value)
    if real_isinstance(holder, partial) and holder.func is value:
        return [Place("partial", holder, "func")]

    places = _find_in_container(holder, value, graph)
    if is_exactly(holder, *CONTAINER_TYPES):
        return places  # a built-in container has nothing but its items
    if places and is_exactly(holder, staticmethod, classmethod):
        return places  # it is found as an attribute of its class
    # Any other object may have attributes, also an instance of a class derived from a container.
    return places + find_in_instance(holder, value)


def _find_in_container(holder: object, value: object, graph: HolderGraph) -> list[Place]:
    """Return a Place for each item of a container that is `value`.

    The list is empty if the holder is no container. Methods of the built-in types are called, so
    that no code of a derived class runs.
    """
    if real_isinstance(holder, dict):
        return _find_in_dict(holder, value, graph)
    if real_isinstance(holder, deque):
        return _find_in_sequence("deque item", holder, deque.__iter__(holder), value)
    if real_isinstance(holder, list):
        return _find_in_sequence("list item", holder, list.__iter__(holder), value)
    if real_isinstance(holder, tuple):
        return _find_in_tuple(holder, value, graph.holders(holder))
    if real_isinstance(holder, set, frozenset):
        kind = "frozenset member" if real_isinstance(holder, frozenset) else "set member"
        members = [member for member in list(holder) if member is value]
        return [Place(kind, holder, "{member}", position=member) for member in members]
    if is_exactly(holder, staticmethod, classmethod):
        return _find_in_method_wrapper(holder, graph)
    return _find_in_array(holder, value)


def _find_in_sequence(kind: str, holder: object, items, value: object) -> list[Place]:
    """Return a place for each index at which the `items` of a list or deque are `value`."""
    indexes = [index for index, item in enumerate(items) if item is value]
    return [Place(kind, holder, f"[{index}]", position=index) for index in indexes]


def _find_in_array(holder: object, value: object) -> list[Place]:
    """Return the Places in a NumPy array; an empty list for what is no array.

    The first of its contents is the base, the array of which this one is a view. The items follow.
    """
    places = []
    for index, item in enumerate(list_array_contents(holder)):
        if item is value:
            name = f"[{index - 1}]" if index else "base"
            places.append(Place("C-level holder", holder, name))
    return places


def _find_in_module_cache(module: types.ModuleType, value: object) -> list[Place]:
    """Return a Place for each name that TensorFlow's cache of a module answers with `value`.

    TensorFlow has such a cache in C for some of its modules. The list is empty for any other
    module, because the names in the dict of a module are found as those of a dict.
    """
    cache = find_module_cache(module)
    if cache is None:
        return []
    cached_names = [name for name in list(read_namespace(module)) if cache.has(name)]
    return [
        Place("C-level cache", module, name, position=name)
        for name in cached_names
        if cache.get(name) is value
    ]


def _find_in_dict(holder: dict, value: object, graph: HolderGraph) -> list[Place]:
    """Return a Place for each value, and one for a key, with which a dict refers to `value`.

    The dict may be a module's, or a part of an object, such as the attributes of an instance. Then
    each Place is named as an attribute of the module or of the object.
    """
    if vars(sys.modules["__main__"]).get("Out") is holder:  # IPython's record of results
        return []
    owners = graph.holders(holder)
    kinds_and_owners = _find_owners_of_part(holder, owners)
    keys = find_keys(holder, value)
    name = graph.names_by_id.get(id(holder))
    if name in sys.modules:
        places = [build_module_place(name, sys.modules[name], key) for key in keys]
    elif kinds_and_owners:
        places = [
            build_owned_place(kind, owner, holder, key)
            for key in keys
            for kind, owner in kinds_and_owners
        ]
    elif owners and all(_is_snapshot_of(owner, holder) for owner in owners):
        return []  # a copy of variables: they are found in the frame
    else:
        # An ordinary dict. But the collector does not report a built-in type as the holder of its
        # dict. So a dict without a holder that looks like a type's is taken for one.
        is_dict_of_type = not owners and dict.__contains__(holder, "__doc__")
        reason = FIXED_TYPE if is_dict_of_type else ""
        places = [
            Place("dict value", holder, format_key(key), position=key, reason=reason)
            for key in keys
        ]
    if any(key is value for key in list(holder)):
        places.append(Place("dict key", holder, "{key}"))
    return places


def _find_owners_of_part(part: dict, holders: HiddenList) -> HiddenList:
    """Return (kind of place, owner) for each holder of a dict that has the dict as a part.

    The `__dict__` of an instance is a part of the instance. A dict to which an attribute or an item
    refers is no part.
    """
    kinds_and_owners = HiddenList()
    for holder in holders:
        kind = find_part_kind(holder, part)
        if kind:
            kinds_and_owners.append((kind, holder))
    return kinds_and_owners


def _is_snapshot_of(owner: object, holder: dict) -> bool:
    """Return whether a dict is only the copy of its variables that a frame has as `f_locals`.

    If a variable of the frame refers to the dict, the dict is one of the program.
    """
    return type(owner) is types.FrameType and not find_variables(owner, holder)


def _find_in_tuple(holder: tuple, value: object, owners: HiddenList) -> list[Place]:
    """Return a Place for each item of a tuple that is `value`.

    `owners` are the holders of the tuple. If the tuple has the default arguments of functions, each
    Place is a default argument.
    """
    if not owners:  # the arguments of a call that runs, such as that of `gc.get_referrers` itself
        return []
    # CPython makes the `__mro__` of a class, so it is no place of the program.
    if any(real_isinstance(owner, type) and owner.__mro__ is holder for owner in owners):
        return []

    indexes = [index for index, item in enumerate(tuple.__iter__(holder)) if item is value]
    defaults = []
    for owner in owners:
        if real_isinstance(owner, types.FunctionType) and owner.__defaults__ is holder:
            for index in indexes:
                name = f"__defaults__[{index}]"
                defaults.append(Place("default argument", owner, name, position=index))
    if defaults:
        return defaults
    return [Place("tuple item", holder, f"[{index}]") for index in indexes]


def _find_in_cell(cell: types.CellType, value: object, graph: HolderGraph) -> list[Place]:
    """Return the Place of the variable that is in a cell.

    A cell is an object in which CPython stores a variable that an inner function uses. All
    functions that use the variable share the cell, so they are the holder of the Place together.
    If only running or paused calls use the cell, there is a Place for the variable of each.
    """
    functions = HiddenList()
    for closure in graph.holders(cell):
        for owner in graph.holders(closure):
            if real_isinstance(owner, types.FunctionType) and owner.__closure__ is closure:
                functions.append(owner)
    if not functions:
        return [place for call in graph.holders(cell) for place in find_variables(call, value)]

    function = functions[0]
    index = next(number for number, item in enumerate(function.__closure__) if item is cell)
    name = function.__code__.co_freevars[index]
    reason = "super() without arguments needs it" if name == "__class__" else ""
    return [Place("closure cell", cell, name, holder=functions, reason=reason)]


def _find_in_method_wrapper(wrapper: staticmethod | classmethod, graph: HolderGraph) -> list[Place]:
    """Return a Place for each class attribute that is this static or class method.

    The function in the method is the value that was searched. It is named by the attribute, because
    a write replaces the whole method.
    """
    places = []
    for class_dict in graph.holders(wrapper):
        for owner in graph.holders(class_dict):
            if find_part_kind(owner, class_dict) != "class attribute":
                continue
            for name in find_keys(class_dict, wrapper):
                place = Place("class attribute", owner, name, position=name, wrapper=type(wrapper))
                places.append(place)
    return places
