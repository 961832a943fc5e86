"""A holder and what it holds -> the places: how to read each, how to write it, who owns it.

A place reads and writes through the methods of the built-in types. One that cannot be written has a
reason. The collector reports raw parts, such as the dict behind an instance: who owns a part
follows from its own holders.
"""

import functools
import sys
import types
from functools import partial
from gc import get_referents
from types import SimpleNamespace

from helpers.capture.cpython.objects import instance_dict, namespace
from helpers.model.reference_records import Binding, join
from helpers.safety.arguments import is_exactly, real_isinstance, real_type_name
from helpers.safety.restoring import Own

MISSING = type("Missing", (Own,), {"__slots__": (), "__repr__": lambda self: "nothing"})()
_IMMUTABLE, _MANAGED_DICT = 1 << 8, 1 << 4  # of a type's __flags__
# What a frame or a view holds, it gives up by itself; nobody can write it.
_NO_PLACE = (types.FrameType, types.TracebackType, types.MappingProxyType)
_WRAPPERS = {
    property: ("fget", "fset", "fdel"),
    staticmethod: ("__func__",),
    classmethod: ("__func__",),
}


class HiddenList(list, Own):
    """A list that the search may keep live objects in without finding it."""

    __slots__ = ()


class OpaqueBox(Own):
    """A box for one thing that a place puts back later; inside it, the thing counts as gone."""

    __slots__ = ("thing",)

    def __init__(self, thing):
        self.thing = thing


class Place(Own):
    """A reference held by `container` under `name`; one with a `reason` cannot be written.

    `holder` is the object whose path names the owner. `owners` are the texts of that path, more
    than one only for a closure cell that several functions share. `at`: a key, an index, a name.
    """

    def __init__(self, kind, container, name, holder=None, reason="", at=None, first=None):
        self.kind, self.container, self.name, self.reason = kind, container, name, reason
        self.holder = container if holder is None else holder
        self.at, self.first = at, OpaqueBox(first)
        self.scan, self.owners = False, ()

    @property
    def key(self) -> tuple[int, str]:
        """What makes two records of one place equal within this process."""
        return id(self.container), self._inside()

    @property
    def paths(self) -> tuple[str, ...]:
        """Every dotted path under which `keep` and `only` may name this place."""
        return (self.binding.path, *(join(owner, self.name) for owner in self.owners))

    @property
    def binding(self) -> Binding:
        """The row of this place."""
        owner = " and ".join(self.owners[:3]) + (" and others" if len(self.owners) > 3 else "")
        return Binding(self.kind, owner, self.name, self.scan, not self.reason, self.reason)

    def get(self):
        """Return what the place holds now, MISSING where the place is gone."""
        return self._read()

    def put(self, value) -> None:
        """Make the place hold `value`; TypeError, and nothing changed, where Python refuses."""
        self._write(value)

    def _inside(self) -> str:
        return self.name

    def _read(self):
        return MISSING


class Item(Place):
    """The value under a key of a dict, such as the namespace of an instance, or in a list."""

    def __init__(self, kind, container, holder, at):
        name = at if "attribute" in kind and type(at) is str else key_words(at)
        name = f"__kwdefaults__{name}" if kind == "keyword default" else name
        super().__init__(kind, container, name, holder, at=at)

    def _inside(self) -> str:
        return self.name if is_exactly(self.at, int, str) else f"{self.name} {id(self.at)}"

    def _read(self):
        base = list if real_isinstance(self.container, list) else dict
        try:
            return base.__getitem__(self.container, self.at)
        except LookupError:
            return MISSING

    def _write(self, value) -> None:
        base = list if real_isinstance(self.container, list) else dict
        base.__setitem__(self.container, self.at, value)


class ModuleName(Item):
    """A name in a module that `sys.modules` lists.

    TensorFlow's `TFModuleWrapper` (tensorflow/python/util/module_wrapper.py) keeps three copies:
    its own dict, the dict of the module it wraps, and a cache in C that wins every look-up and is
    filled by it. It is told by its parts, and nothing is imported for it.
    """

    def __init__(self, name, module, at):
        super().__init__("module attribute", namespace(module), module, at)
        self.owners, self.scan, cache = (name,), True, fast_cache(module)
        self.first.thing = bool(cache and cache.has(at))  # or a look-up in the block fills it

    def _write(self, value) -> None:
        super()._write(value)
        if cache := fast_cache(self.holder):
            dict.__setitem__(namespace(cache.wrapped), self.at, value)
            if cache.has(self.at):
                cache.insert(self.at, value) if self.first.thing else cache.pop(self.at)


class CachedName(Place):
    """A name in the attribute cache that a `TFModuleWrapper` keeps in C."""

    def _read(self):
        cache = fast_cache(self.container)
        return cache.get(self.at) if cache.has(self.at) else MISSING

    def _write(self, value) -> None:
        fast_cache(self.container).insert(self.at, value)


def fast_cache(module) -> SimpleNamespace | None:
    """Return the doors to a `TFModuleWrapper`'s cache (python/util/fast_module_type.cc)."""
    wrapped = dict.get(namespace(module), "_tfmw_wrapped_module")
    kinds = [cls.__name__ for cls in type(module).__mro__]
    if "TFModuleWrapper" not in kinds or not real_isinstance(wrapped, types.ModuleType):
        return None
    ends = {"has": "key_in", "get": "get", "insert": "insert", "pop": "pop"}
    doors = {n: object.__getattribute__(module, f"_fastdict_{end}") for n, end in ends.items()}
    return SimpleNamespace(wrapped=wrapped, **doors)


class ClassName(Place):
    """A name in a class: a raw object, or one that a staticmethod, classmethod or property wraps.

    The wrapper, `first`, is built anew: CPython's specialised instructions look at the version of
    the class, which only an assignment to the class moves on. `at`: the name, the wrapper's field.
    """

    def _read(self):
        name, field = self.at
        now = vars(self.container).get(name, MISSING)
        if not field:
            return now
        return getattr(now, field) if type(now) is type(self.first.thing) else MISSING

    def _write(self, value) -> None:
        name, field = self.at
        if field:
            original, now = self.first.thing, vars(self.container)[name]
            fields = _WRAPPERS[type(original)]
            parts = [value if one == field else getattr(now, one) for one in fields]
            old = getattr(original, field) is value
            value = original if old else type(original)(*parts)
        type.__setattr__(self.container, name, value)


class SetMember(Place):
    """A member of a set, `at`: found by its hash, so replaced by leaving and joining."""

    def _read(self):
        return self.at if any(one is self.at for one in list(self.container)) else MISSING

    def _write(self, value) -> None:
        set.add(self.container, value)
        set.discard(self.container, self.at)
        self.at = value


class Cell(Place):
    """What a closure cell holds; every function that shares the cell sees the change."""

    def _read(self):
        try:
            return self.container.cell_contents
        except ValueError:
            return MISSING

    def _write(self, value) -> None:
        self.container.cell_contents = value


class Default(Place):
    """A default argument: the tuple of defaults is replaced by one with another item."""

    def _read(self):
        return self.container.__defaults__[self.at]

    def _write(self, value) -> None:
        items = list(self.container.__defaults__)
        items[self.at] = value
        self.container.__defaults__ = tuple(items)


class PartialFunction(Place):
    """The function inside a `functools.partial` (Modules/_functoolsmodule.c)."""

    def _read(self):
        return self.container.func

    def _write(self, value) -> None:
        held = self.container
        partial.__setstate__(held, (value, held.args, held.keywords, instance_dict(held) or None))


def is_immutable(cls) -> bool:
    """Return whether CPython refuses `cls.name = value` for every name."""
    return bool(cls.__flags__ & _IMMUTABLE)


def _class_dict(cls) -> dict:
    return get_referents(vars(cls))[0]  # behind the read-only view


def names_of(container: dict, child) -> list:
    """Return the keys whose value is `child`."""
    return [key for key, value in list(dict.items(container)) if value is child]


def places_in(holder, child, heap) -> list[Place]:
    """Return the places in `holder` that hold `child`; none for frames and bare views."""
    if real_isinstance(holder, *_NO_PLACE):
        return []
    for base, finder in _FINDERS.items():
        if real_isinstance(holder, base):
            found = finder(holder, child, heap)
            plain = type(holder) is base or base in (types.ModuleType, type)
            return found if plain else found + _attributes(holder, child)
    return _in_instance(holder, child, heap)


def _in_dict(holder, child, heap):
    """Return the places in a dict: values under the name its owner gives them, then keys."""
    main = sys.modules.get("__main__")
    session = namespace(main) if real_isinstance(main, types.ModuleType) else {}
    if any(session.get(name) is holder for name in ("_oh", "Out")):  # IPython's record of results
        return []
    parents, name = heap.parents(holder), heap.names.get(id(holder), "")
    module = sys.modules.get(name)
    makers = [make for parent in parents if (make := _make_maker(parent, holder))]
    if real_isinstance(module, types.ModuleType) and namespace(module) is holder:
        makers = [partial(ModuleName, name, module)]
    if (
        not makers
        and parents
        and all(real_isinstance(parent, types.FrameType) for parent in parents)
    ):
        return []  # only the snapshot of a frame's locals
    if not makers and not parents and dict.__contains__(holder, "__doc__"):
        reason = "its type cannot be changed"  # of a built-in type, which the collector skips
        makers = [lambda at: _fixed("dict value", holder, key_words(at), reason)]
    makers = makers or [partial(Item, "dict value", holder, holder)]
    found = [make(at) for at in names_of(holder, child) for make in makers]
    if any(key is child for key in list(holder)):
        found.append(_fixed("dict key", holder, "{key}", "a key is found by its hash"))
    return found


def _make_maker(parent, inside):
    """Return a maker of places for a dict that is a part of `parent`, None if it is none."""
    if real_isinstance(parent, types.ModuleType):
        kind = "hidden module attribute"
        return partial(Item, kind, inside, parent) if namespace(parent) is inside else None
    if real_isinstance(parent, type):
        if _class_dict(parent) is not inside:
            return None
        if is_immutable(parent):
            reason = "its type cannot be changed"
            return lambda at: _fixed("class attribute", parent, at, reason)
        return lambda at: ClassName("class attribute", parent, at, at=(at, ""))
    if real_isinstance(parent, types.FunctionType) and parent.__kwdefaults__ is inside:
        return partial(Item, "keyword default", inside, parent)
    if instance_dict(parent) is not inside:
        return None
    function = real_isinstance(parent, types.FunctionType, functools._lru_cache_wrapper)
    return partial(Item, f"{'function' if function else 'instance'} attribute", inside, parent)


def _in_list(holder, child, heap):
    found = [at for at, one in enumerate(list.__iter__(holder)) if one is child]
    return [Item("list item", holder, holder, at) for at in found]


def _in_set(holder, child, heap):
    if not any(one is child for one in list(holder)):
        return []
    if real_isinstance(holder, frozenset):
        return [_fixed("frozenset member", holder, "{member}", "a frozenset cannot be changed")]
    return [SetMember("set member", holder, "{member}", at=child)]


def _in_tuple(holder, child, heap):
    """A tuple that nothing in the heap holds carries the arguments of a call: no place."""
    # gc.get_referrers itself, and each call on the way here, holds the object in such a tuple.
    parents = heap.parents(holder)
    if not parents or any(real_isinstance(p, type) and p.__mro__ is holder for p in parents):
        return []
    indexes = [at for at, one in enumerate(tuple.__iter__(holder)) if one is child]
    functions = [
        p for p in parents if real_isinstance(p, types.FunctionType) and p.__defaults__ is holder
    ]
    kind, name = "default argument", "__defaults__[{}]"
    found = [
        Default(kind, function, name.format(at), at=at) for function in functions for at in indexes
    ]
    reason = "a tuple cannot be changed"
    return found or [_fixed("tuple item", holder, f"[{at}]", reason) for at in indexes]


def _in_cell(holder, child, heap):
    # A cell is shared by closures: whoever writes it changes the variable for all of them.
    owners = HiddenList(
        function
        for closure in heap.parents(holder)
        if real_isinstance(closure, tuple)
        for function in heap.parents(closure)
        if real_isinstance(function, types.FunctionType) and function.__closure__ is closure
    )
    if not owners:  # a running call's, or a generator's that waits
        return []
    at = next(at for at, cell in enumerate(owners[0].__closure__) if cell is holder)
    name = owners[0].__code__.co_freevars[at]
    reason = "super() without arguments needs it" if name == "__class__" else ""
    return [Cell("closure cell", holder, name, owners, reason)]


def _in_wrapper(holder, child, heap):
    base = next(kind for kind in _WRAPPERS if real_isinstance(holder, kind))
    held = [field for field in _WRAPPERS[base] if getattr(holder, field) is child]
    homes = [
        (owner, at)
        for inside in heap.parents(holder)
        if real_isinstance(inside, dict)
        for owner in heap.parents(inside)
        if real_isinstance(owner, type) and _class_dict(owner) is inside
        for at in names_of(inside, holder)
    ]
    if not homes or type(holder) is not base:
        reason = f"this {base.__name__} cannot be built anew"
        return [_fixed("C-level holder", holder, field, reason) for field in held]
    ending = ".{}" if base is property else ""
    return [
        ClassName("class attribute", cls, at + ending.format(field), at=(at, field), first=holder)
        for cls, at in homes
        for field in held
    ]


def _in_method(holder, child, heap):
    names = [name for name in ("__func__", "__self__") if getattr(holder, name) is child]
    reason = "a bound method's {} is read-only"
    return [_fixed("bound method", holder, name, reason.format(name)) for name in names]


def _in_partial(holder, child, heap):
    if holder.func is child:
        return [PartialFunction("partial", holder, "func")]
    return _in_instance(holder, child, heap)


def _in_module(holder, child, heap):
    cache = fast_cache(holder)
    known = [name for name in list(namespace(holder)) if cache.has(name)] if cache else []
    kind = "C-level cache"
    return [CachedName(kind, holder, n, at=n) for n in known if cache.get(n) is child]


def _in_instance(holder, child, heap):
    found = _attributes(holder, child)
    # What the collector counts more often than we have found in Python is held by C code.
    in_c = sum(one is child for one in get_referents(holder)) - (type(holder) is child)
    in_c -= len(found) * bool(type(holder).__flags__ & _MANAGED_DICT)  # kept without a dict
    reason = "it is held in C or in a slot, where the search does not write"
    fixed = _fixed("C-level holder", holder, "(inside the C object)", reason)
    return [*found, fixed] if in_c > 0 else found


def _attributes(holder, child):
    inside = instance_dict(holder)
    make = None if inside is None else _make_maker(holder, inside)
    return [make(at) for at in names_of(inside, child)] if make else []


def _fixed(kind: str, holder, name: str, reason: str) -> Place:
    return Place(kind, holder, name, reason=reason)


def key_words(key) -> str:
    """Return `['key']` for a string, `[3]` for a number, the name of the type for the rest."""
    plain = is_exactly(key, str, int, bool, type(None))
    return f"[{key!r}]" if plain else f"[<{real_type_name(key)}>]"


_FINDERS = {
    dict: _in_dict,
    list: _in_list,
    tuple: _in_tuple,
    **dict.fromkeys((set, frozenset), _in_set),
    types.CellType: _in_cell,
    types.MethodType: _in_method,
    partial: _in_partial,
    **dict.fromkeys(_WRAPPERS, _in_wrapper),
    types.ModuleType: _in_module,
    type: lambda holder, child, heap: [],
}
