"""Find the references through which a replacement reaches the original object that it replaces. A
wrapper calls the original. If the wrapper's own reference were rebound to the wrapper too, it would
call itself for ever. So such references must stay as they are.

What the replacement refers to is followed, and so are the global names in its code. What an
attribute look-up in its body finds, such as `module.name(...)`, is not known before it runs. A
learner has to give the original a name of its own there.
"""

import types
from dataclasses import dataclass
from functools import partial
from gc import get_referents

from ...safety.arguments import is_exactly, real_isinstance
from ..cpython.objects import find_inherited, list_global_names, read_instance_dict
from .places import HiddenList, Place

_TRANSPARENT_TYPES = (types.CellType, partial, types.MethodType, tuple)
_CONTAINER_TYPES = (dict, list)


@dataclass(frozen=True)
class Needs:
    """The references that a replacement may use when it is called.

    Attributes
    ----------
    ids : set of int
        The ids of the objects that it reaches.
    names : set of (int, str)
        The id of a module's dict, and a name in it that the code uses.
    """

    ids: set[int]
    names: set[tuple[int, str]]

    def includes(self, place: Place) -> bool:
        """Return whether the replacement needs the reference at this place."""
        container_id = id(place.container)
        return container_id in self.ids or (container_id, place.name) in self.names


@dataclass(frozen=True)
class _PendingObject:
    """An object whose references are still to be followed."""

    #: The object.
    value: object
    #: Whether the object is a part of the replacement itself, such as its closure or an attribute.
    #: False for what is only in a dict or list, or under a global name: less of it is followed.
    is_near: bool


def find_needs(new: object, old: object) -> Needs:
    """Return the objects that `new` may run through, and the global names that its code uses.

    The search follows functions and callable objects, their closures, defaults and attributes, and
    the functions, dicts and lists that their code names in the module of `new`. It stops at `old`,
    because what the original itself uses is no need of the replacement.

    `is_near` is true for a part of the replacement itself, such as its closure. It is false for
    what is only in a dict or list, or under a global name: such an object is followed less far.
    """
    needs = Needs(set(), set())
    home_globals: dict | None = None  # the globals of the replacement, or of the function in it
    waiting = HiddenList([_PendingObject(new, is_near=True)])
    while waiting:
        current = waiting.pop()
        value = current.value
        if id(value) in needs.ids or value is old:
            continue
        needs.ids.add(id(value))

        if type(value) is types.FunctionType:
            if home_globals is None:  # the first function: the replacement, or the one inside it
                home_globals = value.__globals__
            # The global names of a function of another module are a library's own matter, unless
            # the function is a part of the replacement.
            if current.is_near or value.__globals__ is home_globals:
                waiting += _follow_names(value, home_globals, needs)
            parts = (value.__closure__, value.__defaults__, value.__kwdefaults__, vars(value))
            is_near = current.is_near
        else:
            parts = _list_followed_parts(value, current.is_near)
            is_near = current.is_near and not is_exactly(value, *_CONTAINER_TYPES)
        waiting += [_PendingObject(part, is_near) for part in parts if part is not None]
    return needs


def _follow_names(
    function: types.FunctionType, home_globals: dict, needs: Needs
) -> list[_PendingObject]:
    """Add the global names in a function's code to `needs.names`; return the values to follow.

    Values to follow are functions of the module whose dict is `home_globals`, and partials, dicts
    and lists. Anything else, such as another module or a class, is no part of the replacement.
    """
    global_names = function.__globals__
    values = []
    for name in list_global_names(function.__code__) & global_names.keys():
        needs.names.add((id(global_names), name))
        value = global_names[name]
        is_neighbour = type(value) is types.FunctionType and value.__globals__ is home_globals
        if is_neighbour or is_exactly(value, partial, *_CONTAINER_TYPES):
            values.append(_PendingObject(value, is_near=False))
    return values


def _list_followed_parts(value: object, is_near: bool) -> tuple:
    """Return the objects to follow from `value`, which is an object other than a function.

    Everything in a container, a cell, a partial or a bound method is followed. An instance with
    `__call__` is followed only if it is a part of the replacement itself (`is_near`). For a class
    and for any other object the tuple is empty.
    """
    if is_exactly(value, *_TRANSPARENT_TYPES, *_CONTAINER_TYPES):
        return tuple(get_referents(value))
    if is_near and callable(value) and not real_isinstance(value, type):
        call_method = find_inherited(type(value), "__call__")
        return (*get_referents(value), read_instance_dict(value), call_method)
    return ()
