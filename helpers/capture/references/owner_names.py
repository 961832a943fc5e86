"""An object -> its name: a dotted path from a module, class or function, or a few words.

Functions go by the name under which their code was written (`co_qualname`), because decorators
copy `__name__` from what they wrap, and two owners would look like one.
"""

import sys
import types

from ...model.reference_records import join_path
from ...safety.arguments import is_exactly, real_isinstance
from ..cpython.objects import read_namespace, read_spoken_name
from ..cpython.unwrapping import unwrap
from ..text.source import format_place
from ..text.value import SCALARS, format_label, format_name
from .holder_graph import HolderGraph
from .loaded_modules import read_module_name
from .places import HiddenList, Place
from .places_in_holders import find_places_in

MOST_STEPS = 7  # from a holder to what names it
NOT_FOUND = "(owner not found)"


def find_path(value: object, graph: HolderGraph) -> str:
    """Return the shortest path from a module, class or function to an object.

    Of several shortest ones it is the first by alphabet. An object without a path is described by
    its type.
    """
    # Each item is an object on the way, and the path from that object to `value`.
    level = HiddenList([(value, "")])
    visited_ids = {id(value)}
    for _ in range(MOST_STEPS):
        paths = []
        for step, rest in level:
            name = find_own_name(step, graph)
            if name:
                paths.append(join_path(name, rest))
        if paths:
            return min(paths)

        next_level = HiddenList()
        for step, rest in level:
            for place in _find_places_of(step, graph):
                # Of the functions that share a closure cell, the first leads to the cell's name.
                owner = place.holder[0] if type(place.holder) is HiddenList else place.holder
                if id(owner) not in visited_ids:
                    visited_ids.add(id(owner))
                    next_level.append((owner, join_path(place.name, rest)))
        level = next_level
    return describe_by_type(value)


def _find_places_of(value: object, graph: HolderGraph) -> list[Place]:
    """Return the places in all holders of an object."""
    places = []
    for holder in graph.holders(value):
        places += find_places_in(holder, value, graph)
    return places


def find_own_name(value: object, graph: HolderGraph) -> str | None:
    """Return the name of what needs no owner to be named; None for any other object."""
    if value is sys.modules:
        return "sys.modules"  # and not the name under which another module keeps it
    if real_isinstance(value, types.ModuleType):
        return graph.names_by_id.get(id(read_namespace(value)))
    if type(value) is dict:
        return graph.names_by_id.get(id(value))
    if real_isinstance(value, types.FunctionType):
        return _format_code_name(value.__globals__, value.__code__)
    if type(value) is types.FrameType:
        return _format_code_name(value.f_globals, value.f_code)
    if real_isinstance(value, type):
        return format_class_name(value)
    return None


def _format_code_name(global_names: dict, code: types.CodeType) -> str:
    """Return `module.function`; of a lambda also its place, as `module.<lambda file.py:3>`."""
    name = format_name(code.co_qualname)
    if name.endswith("<lambda>"):
        place = format_place(code)
        if place:
            name = f"{name[:-1]} {place}>"
    return f"{read_module_name(global_names)}.{name}"


def format_class_name(cls: type) -> str:
    """Return `module.Class`, short enough to be read; only the name of a built-in class."""
    name = format_name(cls.__qualname__)
    if cls.__module__ == "builtins":
        return name
    return f"{format_name(str(cls.__module__))}.{name}"


def describe_by_type(value: object) -> str:
    """Return `an instance of module.Class`, or for a built-in type `a list (owner not found)`."""
    name = format_class_name(type(value))
    if "." in name:
        return f"an instance of {name}"
    article = "an" if name[0] in "aeiouAEIOU" else "a"
    return f"{article} {name} {NOT_FOUND}"


def describe_object(obj: object) -> str:
    """Return a few words for any object: never its repr, never an address."""
    if real_isinstance(obj, types.FunctionType, types.BuiltinFunctionType):
        return f"the function {format_name(obj.__name__)}"
    if real_isinstance(obj, type):
        return f"the class {format_class_name(obj)}"
    if real_isinstance(obj, types.ModuleType):
        return f"the module {read_module_name(read_namespace(obj))}"
    if is_exactly(obj, *SCALARS):
        return format_label(obj)
    if type(obj) is types.MethodType and type(obj.__func__) is types.FunctionType:
        return f"the bound method {format_label(obj).removesuffix('()')}"

    inner_function = unwrap(obj)[0]
    if callable(obj):
        spoken_name = read_spoken_name(obj)
        if spoken_name.startswith("np."):
            kind = "ufunc" if inner_function is obj else "function"
            return f"the {kind} {spoken_name}"
    description = describe_by_type(obj).removesuffix(f" {NOT_FOUND}")
    if type(inner_function) is types.FunctionType:
        return f"{description} around {describe_object(inner_function)}"
    return description
