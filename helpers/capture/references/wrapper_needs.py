"""A replacement and the object it replaces -> the places that the replacement calls it through.

A wrapper that is put in the place of what it wraps must still reach the original, or it calls
itself for ever. What it holds is followed: closure cells, defaults, attributes, partials,
containers. So are the global names in its code. An attribute look-up inside its body, such as
`module.name(...)`, cannot be known before it runs: give the original a name of its own.
"""

import functools
import types

from helpers.capture.cpython.function import names_used
from helpers.capture.cpython.objects import class_mapping, instance_dict, mro, pairs, part
from helpers.safety.arguments import is_a, is_exactly
from helpers.safety.original_builtins import BUILTINS, Own

__builtins__ = BUILTINS


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
        if id(thing) in self.met or thing is self.old:
            return
        self.met.add(id(thing))
        for key, value, stays_near in self._parts(thing, near):
            if value is self.old:
                self.keys.add(key)
            else:
                self.visit(value, near and stays_near)

    def _parts(self, thing, near):
        for base, parts in _PARTS:
            if type(thing) is base:
                return parts(self, thing, near)
        return _instance_parts(thing) if near and callable(thing) else ()

    def _function_parts(self, function, near):
        self.home = function.__globals__ if self.home is None else self.home
        yield from _held_by(function)
        if near or function.__globals__ is self.home:
            yield from self._global_parts(function)

    def _global_parts(self, function):
        inside = function.__globals__
        for name in sorted(names_used(function.__code__) & inside.keys()):
            value = inside[name]
            if value is self.old or self._is_neighbour(value):
                yield _key(inside, name), value, False
        # A builtin that it calls by name: with that place rebound it would call itself for ever.
        outside = function.__builtins__
        for name in sorted(names_used(function.__code__) - inside.keys()):
            if dict.get(outside, name) is self.old:
                yield _key(outside, name), self.old, False

    def _is_neighbour(self, value) -> bool:
        if type(value) is types.FunctionType:
            return value.__globals__ is self.home
        return is_exactly(value, functools.partial, dict, list)


def _held_by(function):
    for cell in function.__closure__ or ():
        yield from _cell_parts(cell)
    for at, value in enumerate(function.__defaults__ or ()):
        yield (id(function), f"__defaults__[{at}]"), value, True
    for inside in (function.__kwdefaults__ or {}, instance_dict(function) or {}):
        yield from _values(inside, near=True)


def _cell_parts(cell):
    try:
        yield (id(cell), "cell_contents"), cell.cell_contents, True
    except ValueError:
        return


def _values(inside, near):
    for name, value in pairs(inside):
        yield _key(inside, name), value, near


def _key(inside, name):
    return id(inside), f"key {name if type(name) is str else id(name)}"


def _partial_parts(walk, partial, near):
    yield (id(partial), "func"), part(functools.partial, "func", partial), True
    for at, value in enumerate(part(functools.partial, "args", partial)):
        yield (id(partial), f"args[{at}]"), value, True
    yield from _values(part(functools.partial, "keywords", partial), near=True)


def _method_parts(walk, method, near):
    for name in ("__func__", "__self__"):
        yield (id(method), name), getattr(method, name), True


def _dict_parts(walk, inside, near):
    return _values(inside, near=False)


def _list_parts(walk, items, near):
    for at, value in enumerate(list(items)):
        yield (id(items), f"[{at}]"), value, False


def _instance_parts(thing):
    yield from _values(instance_dict(thing) or {}, near=True)
    for cls in mro(type(thing)):
        for name, member in dict(class_mapping(cls)).items():
            if is_a(member, types.MemberDescriptorType):
                yield (id(thing), name), _slot(member, thing), True
            elif name == "__call__" and type(member) is types.FunctionType:
                yield (id(cls), name), member, True


def _slot(member, thing):
    try:
        return member.__get__(thing)
    except AttributeError:
        return None


_PARTS = (
    (types.FunctionType, _Walk._function_parts),
    (functools.partial, _partial_parts),
    (types.MethodType, _method_parts),
    (dict, _dict_parts),
    (list, _list_parts),
    (tuple, _list_parts),
)
