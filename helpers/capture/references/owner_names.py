"""Name an object by a dotted path from a module, class or function, such as `app.Model.layers[0]`,
or by a few words if no path leads to it, such as "a list (owner not found)". A HolderGraph has for
each object the objects that refer to it, its holders.

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

    The search goes breadth first from the object up to its holders. Of several shortest paths the
    first by alphabet is returned. An object without a path is described by its type.
    """
    # Each item is (ancestor, path from the ancestor to `value`), such as (a Model, "layers[0]").
    level = HiddenList([(value, "")])
    visited_ids = {id(value)}
    for _ in range(MOST_STEPS):
        paths = []
        for ancestor, path_below in level:
            name = find_own_name(ancestor, graph)
            if name:
                paths.append(join_path(name, path_below))
        if paths:
            return min(paths)

        next_level = HiddenList()
        for ancestor, path_below in level:
            for place in _find_places_of(ancestor, graph):
                # The holder of a closure cell is a HiddenList of the functions that share the
                # cell. Any of them has the cell's name, so the first is taken.
                owner = place.holder[0] if type(place.holder) is HiddenList else place.holder
                if id(owner) not in visited_ids:
                    visited_ids.add(id(owner))
                    next_level.append((owner, join_path(place.name, path_below)))
        level = next_level
    return describe_by_type(value)


def _find_places_of(value: object, graph: HolderGraph) -> list[Place]:
    """Return the places that refer to an object, in all its holders that the graph has."""
    places = []
    for holder in graph.holders(value):
        places += find_places_in(holder, value, graph)
    return places


def find_own_name(value: object, graph: HolderGraph) -> str | None:
    """Return the name of an object that has a name of its own; None for any other object.

    Modules, classes, functions and frames have one, and so have the dicts that the graph names.
    """
    if value is sys.modules:
        return "sys.modules"  # and not the name under which another module refers to it
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
    """Return `module.function` for the code of a function; `module.<lambda file.py:3>` of a lambda.

    A lambda gets its place because all lambdas have the same name.
    """
    name = format_name(code.co_qualname)
    if name.endswith("<lambda>"):
        place = format_place(code)
        if place:
            name = f"{name[:-1]} {place}>"
    return f"{read_module_name(global_names)}.{name}"


def format_class_name(cls: type) -> str:
    """Return `module.Class`, or `Class` for a built-in class such as `list`.

    A very long name is cut.
    """
    name = format_name(cls.__qualname__)
    if cls.__module__ == "builtins":
        return name
    return f"{format_name(str(cls.__module__))}.{name}"


def describe_by_type(value: object) -> str:
    """Return `an instance of module.Class`, or for a built-in type `a list (owner not found)`."""
    name = format_class_name(type(value))
    if "." in name:  # the class is not built in
        return f"an instance of {name}"
    article = "an" if name[0] in "aeiouAEIOU" else "a"
    return f"{article} {name} {NOT_FOUND}"


def describe_object(obj: object) -> str:
    """Return a few words for any object, such as "the function add" or "an instance of app.Model".

    They contain neither the repr nor the address of the object.
    """
    if real_isinstance(obj, types.FunctionType, types.BuiltinFunctionType):
        return f"the function {format_name(obj.__name__)}"
    if real_isinstance(obj, type):
        return f"the class {format_class_name(obj)}"
    if real_isinstance(obj, types.ModuleType):
        return f"the module {read_module_name(read_namespace(obj))}"
    if is_exactly(obj, *SCALARS):  # a number, a text, None: its value says most
        return format_label(obj)
    if type(obj) is types.MethodType and type(obj.__func__) is types.FunctionType:
        return f"the bound method {format_label(obj).removesuffix('()')}"

    inner_function = unwrap(obj)[0]  # the Python function inside wrappers, or `obj` itself
    if callable(obj):
        # NumPy's functions are known by their names, such as "np.add", and not by their types.
        spoken_name = read_spoken_name(obj)
        if spoken_name.startswith("np."):
            kind = "ufunc" if inner_function is obj else "function"
            return f"the {kind} {spoken_name}"
    description = describe_by_type(obj).removesuffix(f" {NOT_FOUND}")
    if type(inner_function) is types.FunctionType:
        return f"{description} around {describe_object(inner_function)}"
    return description
