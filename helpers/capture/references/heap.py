"""Live objects -> what holds them, and what holds the holders, level by level.

CPython keeps no list of the references to an object. `gc.get_referrers` walks every container
that the collector tracks and asks each for its references (`Modules/gcmodule.c`; the
`tp_traverse` of each type), so one pass costs the same for one object as for a hundred.
"""

import sys
import types
from gc import collect, get_objects, get_referents, get_referrers

from helpers.capture.cpython.objects import namespace, pairs
from helpers.safety.arguments import is_a
from helpers.safety.restoring import Own

LEVELS = 8
FEW = 40  # so many objects the collector is asked about at once; for more, one pass over the heap
CHUNK = 500


class Shelf(list, Own):
    """A list that the search may keep live objects in without finding it."""

    __slots__ = ()


class Kept(Own):
    """A box for one thing that a place puts back later; inside it, the thing counts as gone."""

    __slots__ = ("thing",)

    def __init__(self, thing):
        self.thing = thing


def listed_modules() -> dict[int, tuple[str, types.ModuleType]]:
    """Return name and module by the id of the module's dict: once each, under its own name.

    Entries of `sys.modules` that are no modules are passed over.
    """
    found = {}
    for name, module in pairs(sys.modules):
        if is_a(module, types.ModuleType) and type(name) is str:
            inside = namespace(module)
            other = found.get(id(inside))
            own = dict.get(inside, "__name__")
            if other is None or own == name or (own != other[0] and name < other[0]):
                found[id(inside)] = name, module
    return found


class Heap(Own):
    """The holders of `targets`, their holders, and so on, until each chain ends in a name.

    Garbage is collected first: a class that nobody can reach any more would otherwise count until
    its turn comes. `most` direct holders are followed (0: all); `left` says how many were not.
    `tidy=False`: garbage stays, and may be found.
    """

    __slots__ = ("names", "ups", "left", "_kept", "_parents", "_met", "_spots", "_most")

    def __init__(self, targets: Shelf, most: int = 0, tidy: bool = True):
        if tidy:
            collect()
        self.left, self._most = 0, most  # direct holders that were left out, where there is a limit
        self.names = {key: name for key, (name, _) in listed_modules().items()}
        self._kept: set[int] = set()
        self._parents: dict[int, Shelf] = {}
        self._spots: dict[int, dict[int, Shelf]] = {}
        self.ups: dict[int, Shelf] = {}  # what `owners` has found out already
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

    def knows(self, thing) -> bool:
        """Return whether the holders of `thing` were asked for."""
        return id(thing) in self._parents

    def spots(self, holder, items, child) -> list:
        """Return where `child` stands in `holder`. `items`: a function that yields (where, what).

        A large holder is read once, however many of its children are asked for.
        """
        known = self._spots.get(id(holder))
        if known is None:
            known = self._spots[id(holder)] = {}
            for where, what in items():
                if id(what) in self._parents:
                    known.setdefault(id(what), Shelf()).append(where)
            self._met.append(holder)
        return list(known.get(id(child), ()))

    def _climb(self, level: Shelf) -> None:
        for depth in range(LEVELS):
            found = self._holders(level)
            level = Shelf(self._unfinished(level, prune=depth > 1))
            self._met.extend(found)
            if not level:
                return

    def _holders(self, level: Shelf) -> Shelf:
        """Note who holds what of this level, and return all the holders."""
        wanted = {id(thing): Shelf() for thing in level}
        self._parents.update(wanted)
        every = _few_referrers(level) if len(level) <= FEW else _many_referrers(wanted.keys())
        found = Shelf()
        for holder in every:
            if type(holder) is Kept:
                self._kept.add(id(holder.thing))
            elif not is_a(holder, Own):
                children = get_referents(holder)
                here = wanted.keys() & map(id, children)
                if here == {id(type(holder))} and _is_only_the_type(holder, children):
                    continue
                if self._most and len(found) >= self._most:
                    self.left += 1
                    continue
                found.append(holder)
                for key in here:
                    wanted[key].append(holder)
        self._most = 0  # only the direct holders are limited
        return found

    def _unfinished(self, level: Shelf, prune: bool):
        known = set(self._parents)
        passing = (types.FrameType, types.TracebackType, types.FunctionType)
        for thing in level:
            if prune and any(self._names_it(parent, thing) for parent in self.parents(thing)):
                continue
            for parent in self.parents(thing):
                ends = is_a(parent, *passing) or self._is_end(parent)
                if id(parent) not in known and not ends:
                    known.add(id(parent))
                    yield parent

    def _names_it(self, parent, thing) -> bool:
        if is_a(parent, types.FunctionType):
            return parent.__globals__ is not thing
        return self._is_end(parent)

    def _is_end(self, thing) -> bool:
        if is_a(thing, types.ModuleType):
            return self.is_module_dict(namespace(thing))
        return is_a(thing, type) or self.is_module_dict(thing)


def _few_referrers(level: Shelf) -> Shelf:
    asked = tuple(level)
    return Shelf(holder for holder in get_referrers(*asked) if holder is not asked)


def _many_referrers(wanted) -> Shelf:
    """Return the holders of many objects: `gc.get_referrers` compares each with each."""
    objects, found = Shelf(get_objects()), Shelf()
    for start in range(0, len(objects), CHUNK):
        chunk = objects[start : start + CHUNK]
        if wanted.isdisjoint(map(id, get_referents(*chunk))):
            continue
        found.extend(one for one in chunk if not wanted.isdisjoint(map(id, get_referents(one))))
    return found


def _is_only_the_type(holder, children) -> bool:
    """Return whether this is an instance that holds its class as every instance does."""
    return sum(part is type(holder) for part in children) == 1 and not is_a(holder, *_TELLING)


_TELLING = (type, dict, list, tuple, set, frozenset, types.ModuleType, types.CellType)
