"""A replacement and the object it replaces -> the places that the replacement calls it through.

A wrapper that is put in the place of what it wraps must still reach the original, or it calls
itself for ever. What it holds is followed: closure cells, defaults, attributes, partials,
containers. So are the global names in its code. An attribute look-up inside its body, such as
`module.name(...)`, cannot be known before it runs: give the original a name of its own.
"""

import types
from functools import partial

from helpers.capture.cpython.objects import (
    class_mapping,
    instance_dict,
    mro,
    names_used,
    pairs,
    part,
)
from helpers.capture.references.places import MISSING, Cell, read_slot
from helpers.safety.arguments import is_a, is_exactly
from helpers.safety.restoring import Own


def needed_places(new, old) -> set[tuple[int, str]]:
    """Return the keys of the places through which `new` reaches `old`."""
    walk = _Walk(old)
    walk.visit(new, near=True)
    return walk.keys


class _Walk(Own):
    __slots__ = ("old", "home", "keys", "met")

    def __init__(self, old):
        self.old, self.home = old, None
        self.keys, self.met = set(), set()

    def visit(self, thing, near: bool) -> None:
        """Follow `thing`; `near` as long as only functions stood between it and the start."""
        if id(thing) in self.met or thing is self.old or thing is MISSING:
            return
        self.met.add(id(thing))
        for key, value, stays_near in self._parts(thing, near):
            if value is self.old:
                self.keys.add(key)
            else:
                self.visit(value, near and stays_near)

    def _parts(self, thing, near):
        """Yield (key of the place, what it holds, whether that is still near)."""
        if type(thing) is types.FunctionType:
            yield from self._function_parts(thing, near)
        elif type(thing) is partial:
            yield (id(thing), "func"), part(partial, "func", thing), True
            for at, value in enumerate(part(partial, "args", thing)):
                yield (id(thing), f"args[{at}]"), value, True
            yield from _values(part(partial, "keywords", thing), near=True)
        elif type(thing) is types.MethodType:
            for name in ("__func__", "__self__"):
                yield (id(thing), name), getattr(thing, name), True
        elif type(thing) is dict:
            yield from _values(thing, near=False)
        elif is_exactly(thing, list, tuple):
            for at, value in enumerate(list(thing)):
                yield (id(thing), f"[{at}]"), value, False
        elif near and callable(thing):
            yield from _instance_parts(thing)

    def _function_parts(self, function, near):
        self.home = function.__globals__ if self.home is None else self.home
        for cell in function.__closure__ or ():
            yield (id(cell), "cell_contents"), Cell(cell, "", None).get(), True
        for at, value in enumerate(function.__defaults__ or ()):
            yield (id(function), f"__defaults__[{at}]"), value, True
        for inside in (function.__kwdefaults__ or {}, instance_dict(function) or {}):
            yield from _values(inside, near=True)
        if near or function.__globals__ is self.home:
            inside = function.__globals__
            for name in sorted(names_used(function.__code__) & inside.keys()):
                value = inside[name]
                neighbour = is_exactly(value, partial, dict, list)
                if type(value) is types.FunctionType:
                    neighbour = value.__globals__ is self.home
                if value is self.old or neighbour:
                    yield _key(inside, name), value, False


def _values(inside, near):
    for name, value in pairs(inside):
        yield _key(inside, name), value, near


def _key(inside, name):
    return id(inside), f"key {name if type(name) is str else id(name)}"


def _instance_parts(thing):
    yield from _values(instance_dict(thing) or {}, near=True)
    for cls in mro(type(thing)):
        for name, member in dict(class_mapping(cls)).items():
            if is_a(member, types.MemberDescriptorType):
                yield (id(thing), name), read_slot(member, thing), True
            elif name == "__call__" and type(member) is types.FunctionType:
                yield (id(cls), name), member, True
