"""Live objects -> what holds them, and what holds the holders, level by level.

CPython keeps no list of the references to an object. `gc.get_referrers` walks every container
that the collector tracks and asks each for its references (`Modules/gcmodule.c`; the
`tp_traverse` of each type), so one pass costs the same for one object as for a hundred.
"""

import gc
import sys
import types
from itertools import islice

LEVELS = 8
CROWD = 500

_module_dict = types.ModuleType.__dict__["__dict__"].__get__
_class_dict = type.__dict__["__dict__"].__get__
_class_flags = type.__dict__["__flags__"].__get__
_class_mro = type.__dict__["__mro__"].__get__
_IMMUTABLE, _ON_HEAP, _MANAGED_DICT = 1 << 8, 1 << 9, 1 << 4


class Own:
    """What the search itself is made of: it holds what it looks for, and never reports itself."""

    __slots__ = ()


class Shelf(list, Own):
    """A list that the search may keep live objects in without finding it."""

    __slots__ = ()


class Kept(Own):
    """A box for one thing that a place puts back later; inside it, the thing counts as gone."""

    __slots__ = ("thing",)

    def __init__(self, thing):
        self.thing = thing


def is_a(thing, base) -> bool:
    """Return whether the real type of `thing` is `base`; `__class__` is never asked."""
    return issubclass(type(thing), base)


def mro(cls) -> tuple:
    """Return the classes that `cls` inherits from; a metaclass is never asked."""
    return _class_mro(cls)


def namespace(module) -> dict:
    """Return a module's dict without a look-up that could load a lazy module."""
    return _module_dict(module)


def class_mapping(cls) -> types.MappingProxyType:
    """Return `vars(cls)`; a metaclass is never asked."""
    return _class_dict(cls)


def class_namespace(cls) -> dict:
    """Return the dict behind `vars(cls)`, which shows only a read-only view of it."""
    return gc.get_referents(_class_dict(cls))[0]


def is_immutable(cls) -> bool:
    """Return whether CPython refuses `cls.name = value` for every name."""
    flags = _class_flags(cls)
    return bool(flags & _IMMUTABLE) or not flags & _ON_HEAP


def has_inline_values(cls) -> bool:
    """Return whether instances may keep their attributes without a dict (3.11 and later)."""
    return bool(_class_flags(cls) & _MANAGED_DICT)


def static_owner(inside: dict):
    """Return the static type whose dict this is, None for others; the collector skips them."""
    waiting, met = [object], set()
    while waiting:
        cls = waiting.pop()
        if id(cls) not in met and not _class_flags(cls) & _ON_HEAP:
            if class_namespace(cls) is inside:
                return cls
            met.add(id(cls))
            waiting.extend(type.__subclasses__(cls))
    return None


def inherited(cls, name):
    """Return what `cls` has under `name` in its own dict or that of the nearest base."""
    return next(class_mapping(c)[name] for c in mro(cls) if name in class_mapping(c))


def instance_dict(thing) -> dict | None:
    """Return the dict of an instance, read through its class so that no code of its own runs."""
    for cls in mro(type(thing)):
        getter = _class_dict(cls).get("__dict__")
        if getter is not None:
            return _plain_dict(getter, thing)
    return None


def _plain_dict(getter, thing) -> dict | None:
    if type(getter) not in (types.GetSetDescriptorType, types.MemberDescriptorType):
        return None
    found = getter.__get__(thing)
    return found if is_a(found, dict) else None


def listed_modules() -> dict[int, tuple[str, types.ModuleType]]:
    """Return name and module by the id of the module's dict: once each, under its own name.

    Entries of `sys.modules` that are no modules are passed over.
    """
    found = {}
    for name, module in dict.copy(sys.modules).items():
        if is_a(module, types.ModuleType) and type(name) is str:
            inside = _module_dict(module)
            other = found.get(id(inside))
            if other is None or name == _better(name, other[0], inside):
                found[id(inside)] = name, module
    return found


def _better(name: str, other: str, inside: dict) -> str:
    own = dict.get(inside, "__name__")
    return own if type(own) is str and own in (name, other) else min(name, other)


class Heap(Own):
    """The holders of `targets`, their holders, and so on, until each chain ends in a name.

    One pass of `gc.get_referrers` per level, for the whole level at once. Garbage is collected
    first: a class that nobody can reach any more would otherwise count until its turn comes.
    """

    __slots__ = ("names", "capped", "_kept", "_parents", "_met")

    def __init__(self, targets: Shelf):
        gc.collect()
        self.names = {key: name for key, (name, _) in listed_modules().items()}
        self.capped = False
        self._kept: set[int] = set()
        self._parents: dict[int, Shelf] = {}
        self._met = Shelf(targets)
        self._climb(targets)

    def parents(self, thing) -> Shelf:
        """Return what holds `thing`, as far as the search went."""
        return self._parents.get(id(thing), Shelf())

    def is_kept(self, thing) -> bool:
        """Return whether only an active rebinding holds `thing`, to put it back later."""
        return id(thing) in self._kept and not self.parents(thing)

    def is_module_dict(self, thing) -> bool:
        """Return whether `thing` is the dict of a module that `sys.modules` lists."""
        return id(thing) in self.names

    def _climb(self, level: Shelf) -> None:
        for depth in range(LEVELS):
            found = Shelf(self._holders(level, first=not depth))
            level = Shelf(self._unfinished(level, prune=depth > 1))
            self._met.extend(found)
            if not level:
                return

    def _holders(self, level: Shelf, first: bool):
        wanted = {id(thing): Shelf() for thing in level}
        self._parents.update(wanted)
        asked = tuple(level)
        every = Shelf(holder for holder in gc.get_referrers(*asked) if holder is not asked)
        self._kept.update(id(box.thing) for box in every if type(box) is Kept)
        found = Shelf(holder for holder in every if not is_a(holder, Own))
        self.capped |= first and len(found) > CROWD
        for holder in islice(found, CROWD):
            for key in wanted.keys() & map(id, gc.get_referents(holder)):
                wanted[key].append(holder)
        return found

    def _unfinished(self, level: Shelf, prune: bool):
        known = set(self._parents)
        for thing in level:
            if prune and any(self._names_it(parent, thing) for parent in self.parents(thing)):
                continue
            for parent in self.parents(thing):
                if id(parent) not in known and self._climbs(parent):
                    known.add(id(parent))
                    yield parent

    def _names_it(self, parent, thing) -> bool:
        if is_a(parent, types.FunctionType):
            return parent.__globals__ is not thing
        return self._is_end(parent)

    def _climbs(self, parent) -> bool:
        passing = (types.FrameType, types.TracebackType, types.FunctionType)
        return not is_a(parent, passing) and not self._is_end(parent)

    def _is_end(self, thing) -> bool:
        if is_a(thing, types.ModuleType):
            return self.is_module_dict(_module_dict(thing))
        return is_a(thing, type) or self.is_module_dict(thing)
