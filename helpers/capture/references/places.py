"""One place that holds a reference: how to read it, how to write it, how to put it back.

A place never runs code of the object that it holds: it compares by identity, and reads and
writes through the methods of the built-in types. Where Python offers no way to write, the place
is `Fixed` and says why.
"""

import functools
import types
from collections import deque
from operator import is_

from helpers.capture.cpython.objects import (
    class_mapping,
    instance_dict,
    mro,
    namespace,
    pairs,
    part,
)
from helpers.capture.references.heap import Kept
from helpers.model.bindings import Binding, join
from helpers.safety.arguments import is_a, is_exactly, kind_of
from helpers.safety.restoring import Own

MISSING = type("Missing", (Own,), {"__slots__": (), "__repr__": lambda self: "nothing"})()
_PLAIN_KEYS = (str, int, bool, bytes, type(None))
_PARTIAL = functools.partial


class Place(Own):
    """A reference held by `container` under `name`.

    `holder` is the object whose path names the owner. `owners` are the texts of that path, more
    than one only for a closure cell that several functions share.
    """

    __slots__ = ("kind", "container", "holder", "name", "scan", "owners", "reason")

    def __init__(self, kind, container, name, holder=None, reason=""):
        self.kind, self.container, self.name, self.reason = kind, container, name, reason
        self.holder = container if holder is None else holder
        self.scan, self.owners = False, ()

    @property
    def key(self) -> tuple[int, str]:
        """What makes two records of one place equal within this process."""
        return id(self.container), self._inside()

    @property
    def paths(self) -> tuple[str, ...]:
        """Every dotted path under which `keep` and `only` may name this place."""
        joint = self.binding.path
        return tuple(dict.fromkeys((joint, *(join(owner, self.name) for owner in self.owners))))

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

    def state(self):
        """Return what `settle` needs beside the old value."""

    def settle(self, state) -> None:
        """Undo what a write did beside writing."""

    def _inside(self) -> str:
        return self.name

    def _read(self):
        return MISSING

    def _write(self, value) -> None:
        raise TypeError(f"{self.binding.path} cannot be rebound: {self.reason}")


class Fixed(Place):
    """A place that Python shows but does not let anybody write."""

    __slots__ = ()


class Item(Place):
    """The value under a key of a dict: plain dicts and the namespaces of instances."""

    __slots__ = ("at",)

    def __init__(self, kind, container, at, holder=None, name=None):
        super().__init__(kind, container, label(at) if name is None else name, holder)
        self.at = at

    def _inside(self):
        return f"key {self.at if type(self.at) is str else id(self.at)}"

    def _read(self):
        if is_exactly(self.at, *_PLAIN_KEYS):
            return dict.get(self.container, self.at, MISSING)
        found = pairs(self.container)
        return next((value for key, value in found if key is self.at), MISSING)

    def _write(self, value) -> None:
        size = dict.__len__(self.container)
        dict.__setitem__(self.container, self.at, value)
        if dict.__len__(self.container) > size:  # the key's hash is another one by now
            dict.popitem(self.container)  # the last one in; no hash is asked for
            raise TypeError("the key is no longer found by its hash")


class ListItem(Place):
    """An index of a list or a deque."""

    __slots__ = ("at", "base")

    def __init__(self, container, at):
        self.base = deque if is_a(container, deque) else list
        super().__init__(f"{self.base.__name__} item", container, f"[{at}]")
        self.at = at

    def _read(self):
        short = self.base.__len__(self.container) <= self.at
        return MISSING if short else self.base.__getitem__(self.container, self.at)

    def _write(self, value) -> None:
        self.base.__setitem__(self.container, self.at, value)


class SetMember(Place):
    """A member of a set: found by its hash, so replaced by leaving and joining."""

    __slots__ = ("member", "leaves")

    def __init__(self, container, member):
        super().__init__("set member", container, "{member}")
        self.member, self.leaves = member, True

    def _read(self):
        here = any(thing is self.member for thing in list(set.__iter__(self.container)))
        return self.member if here else MISSING

    def _write(self, value) -> None:
        size = set.__len__(self.container)
        set.add(self.container, value)
        joined = set.__len__(self.container) > size
        if self.leaves:
            set.discard(self.container, self.member)
        self.member, self.leaves = value, joined


class ModuleName(Item):
    """A name in a module that `sys.modules` lists.

    TensorFlow's `TFModuleWrapper` (tensorflow/python/util/module_wrapper.py) keeps three copies:
    its own dict, the dict of the module it wraps, and a cache in C that wins every look-up. Its
    `__setattr__` updates all three, and so does this place; it is told by its parts, and nothing
    is imported for it.
    """

    __slots__ = ("module",)

    def __init__(self, name, module, at):
        super().__init__("module attribute", namespace(module), at, module, at)
        self.module, self.owners, self.scan = module, (name,), True

    def _write(self, value) -> None:
        cache = fast_cache(self.module)
        if cache is None:
            return setattr(self.module, self.at, value)
        for copy in (namespace(cache.wrapped), self.container):
            dict.__setitem__(copy, self.at, value)
        if cache.has(self.at):
            cache.insert(self.at, value)

    def state(self):
        """Return whether the cache in C knew the name."""
        cache = fast_cache(self.module)
        return cache is not None and cache.has(self.at)

    def settle(self, state) -> None:
        """Drop the name from the cache in C where it came in only during the rebinding."""
        cache = fast_cache(self.module)
        if cache is not None and not state and cache.has(self.at):
            cache.pop(self.at)


class CachedName(Place):
    """A name in the attribute cache that a `TFModuleWrapper` keeps in C."""

    __slots__ = ("at",)

    def __init__(self, module, at):
        super().__init__("C-level cache", module, at)
        self.at = at

    def _inside(self):
        return f"cached {self.name}"

    def _read(self):
        cache = fast_cache(self.container)
        return cache.get(self.at) if cache.has(self.at) else MISSING

    def _write(self, value) -> None:
        fast_cache(self.container).insert(self.at, value)


class FastCache(Own):
    """The four doors to the cache in C (tensorflow/python/util/fast_module_type.cc)."""

    __slots__ = ("wrapped", "has", "get", "insert", "pop")

    def __init__(self, module, wrapped):
        self.wrapped = wrapped
        doors = ("_fastdict_key_in", "_fastdict_get", "_fastdict_insert", "_fastdict_pop")
        for name, door in zip(self.__slots__[1:], doors, strict=True):
            setattr(self, name, object.__getattribute__(module, door))


def fast_cache(module) -> FastCache | None:
    """Return the cache in C of a `TFModuleWrapper`, None for every other module."""
    if not any(cls.__name__ == "TFModuleWrapper" for cls in mro(type(module))):
        return None
    wrapped = dict.get(namespace(module), "_tfmw_wrapped_module")
    return FastCache(module, wrapped) if is_a(wrapped, types.ModuleType) else None


class ClassName(Place):
    """A name in a class: a raw object, or one that a staticmethod, classmethod or property wraps.

    The wrapper is built anew, not changed in place: CPython's specialised instructions look at
    the version of the class, which only an assignment to the class moves on.
    """

    __slots__ = ("at", "field", "wrapper")

    def __init__(self, cls, at, field="", wrapper=None):
        name = f"{at}.{field}" if field.startswith("f") else at
        super().__init__("class attribute", cls, name)
        self.at, self.field, self.wrapper = at, field, Kept(wrapper)

    def _read(self):
        now = class_mapping(self.container).get(self.at, MISSING)
        if not self.field:
            return now
        return getattr(now, self.field) if type(now) is type(self.wrapper.thing) else MISSING

    def _write(self, value) -> None:
        type.__setattr__(self.container, self.at, self._wrapped(value) if self.field else value)

    def _wrapped(self, value):
        original = self.wrapper.thing
        names = ("fget", "fset", "fdel") if type(original) is property else ("__func__",)
        now = class_mapping(self.container)[self.at]
        parts = {name: getattr(now, name) for name in names} | {self.field: value}
        same = all(part is getattr(original, name) for name, part in parts.items())
        return original if same else type(original)(*parts.values())


class Slot(Place):
    """A slot of an instance, written through the descriptor in its class."""

    __slots__ = ("descriptor",)

    def __init__(self, instance, name, descriptor):
        super().__init__("instance attribute", instance, name)
        self.descriptor = descriptor
        try:
            descriptor.__set__(instance, descriptor.__get__(instance))
        except (AttributeError, TypeError):
            self.reason = "its slot is read-only"

    def _read(self):
        return read_slot(self.descriptor, self.container)

    def _write(self, value) -> None:
        self.descriptor.__set__(self.container, value)


def read_slot(descriptor, instance):
    """Return what a slot of an instance holds, MISSING where it is empty."""
    try:
        return descriptor.__get__(instance)
    except AttributeError:
        return MISSING


class Cell(Place):
    """What a closure cell holds; every function that shares the cell sees the change."""

    __slots__ = ()

    def __init__(self, cell, name, holder):
        super().__init__("closure cell", cell, name, holder)
        if name == "__class__":
            self.reason = "super() without arguments needs it"

    def _inside(self):
        return "cell_contents"

    def _read(self):
        try:
            return self.container.cell_contents
        except ValueError:
            return MISSING

    def _write(self, value) -> None:
        self.container.cell_contents = value


class Default(Place):
    """A default argument: the tuple of defaults is replaced by one with another item."""

    __slots__ = ("at", "first")

    def __init__(self, function, at, kind="default argument", name="__defaults__"):
        super().__init__(kind, function, f"{name}[{at}]")
        self.at, self.first = at, Kept(self._items())

    def _items(self):
        return self.container.__defaults__

    def _replace(self, items):
        self.container.__defaults__ = items

    def _read(self):
        items = self._items() or ()
        return items[self.at] if self.at < len(items) else MISSING

    def _write(self, value) -> None:
        items = list(self._items())
        items[self.at] = value
        first = self.first.thing
        same = len(items) == len(first) and all(map(is_, items, first))
        self._replace(first if same else tuple(items))


class PartialArgument(Default):
    """A positional argument stored in a `functools.partial`."""

    __slots__ = ()

    def __init__(self, partial, at):
        super().__init__(partial, at, "partial", "args")

    def _items(self):
        return part(_PARTIAL, "args", self.container)

    def _replace(self, items):
        _set_partial(self.container, part(_PARTIAL, "func", self.container), items)


class PartialFunction(Place):
    """The function inside a `functools.partial` (Modules/_functoolsmodule.c)."""

    __slots__ = ()

    def __init__(self, partial):
        super().__init__("partial", partial, "func")

    def _read(self):
        return part(_PARTIAL, "func", self.container)

    def _write(self, value) -> None:
        _set_partial(self.container, value, part(_PARTIAL, "args", self.container))


def _set_partial(partial, function, arguments) -> None:
    keywords = part(_PARTIAL, "keywords", partial)
    _PARTIAL.__setstate__(partial, (function, arguments, keywords, instance_dict(partial) or None))


def label(key) -> str:
    """Return `['key']` for a string, `[3]` for a number, the name of the type for the rest."""
    plain = is_exactly(key, str, int, bool, type(None))
    return f"[{key!r}]" if plain else f"[<{kind_of(key)}>]"
