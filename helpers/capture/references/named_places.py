"""Names in a module, in a class, in a slot: places that are written by an assignment."""

import types

from helpers.capture.cpython.objects import class_mapping, mro, namespace
from helpers.capture.references.heap import Kept
from helpers.capture.references.places import MISSING, Item, Place
from helpers.safety.arguments import is_a
from helpers.safety.original_builtins import BUILTINS, Own

__builtins__ = BUILTINS
_CLASS_NAME = type.__dict__["__name__"].__get__


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

    def put(self, value) -> None:
        """Write the name as `module.name = value` does."""
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

    @property
    def key(self):
        """The cache beside the dict, under the same name."""
        return id(self.container), f"cached {self.name}"

    def get(self):
        """Return the cached object."""
        cache = fast_cache(self.container)
        return cache.get(self.at) if cache.has(self.at) else MISSING

    def put(self, value) -> None:
        """Replace the cached object."""
        fast_cache(self.container).insert(self.at, value)


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

    def _now(self):
        return class_mapping(self.container).get(self.at, MISSING)

    def get(self):
        """Return the object under the name, inside its wrapper where there is one."""
        now = self._now()
        if not self.field:
            return now
        return getattr(now, self.field) if type(now) is type(self.wrapper.thing) else MISSING

    def put(self, value) -> None:
        """Assign to the class, with the very wrapper that was there when the value is its own."""
        type.__setattr__(self.container, self.at, self._wrapped(value) if self.field else value)

    def _wrapped(self, value):
        original = self.wrapper.thing
        parts, first = self._parts(self._now()), self._parts(original)
        parts[self.field] = value
        same = all(parts[name] is first[name] for name in parts)
        return original if same else type(original)(*parts.values())

    def _parts(self, wrapper) -> dict:
        names = ("fget", "fset", "fdel") if type(wrapper) is property else ("__func__",)
        return {name: getattr(wrapper, name) for name in names}


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

    def get(self):
        """Return what the slot holds, MISSING where it is empty."""
        return read_slot(self.descriptor, self.container)

    def put(self, value) -> None:
        """Fill the slot."""
        self.descriptor.__set__(self.container, value)


def read_slot(descriptor, instance):
    """Return what a slot of an instance holds, MISSING where it is empty."""
    try:
        return descriptor.__get__(instance)
    except AttributeError:
        return MISSING


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
    if not any(_CLASS_NAME(cls) == "TFModuleWrapper" for cls in mro(type(module))):
        return None
    wrapped = dict.get(namespace(module), "_tfmw_wrapped_module")
    return FastCache(module, wrapped) if is_a(wrapped, types.ModuleType) else None
