"""A handful of modules, alone or among those of this process -> a world to rebind names in."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import unwrap
from types import FunctionType, ModuleType

from helpers.capture.cpython.objects import namespace
from helpers.capture.references.heap import listed_modules
from helpers.safety.arguments import is_a
from helpers.safety.imported import MODULES
from helpers.safety.original_builtins import BUILTINS
from helpers.study.chapter_1.kept_names import KeptNames
from helpers.study.chapter_1.stand_ins import Equal, stand_in, twins

__builtins__ = BUILTINS

NAME = "scenery"


class World:
    """Functions that are held in modules, and stand-ins for them.

    `op` and `other` are held by names, `first` is also held by a bystander; `kept` are the names.
    """

    def __init__(self, op):
        self.op, self.other, self.twin = op, *twins()
        self.first, self.second, self.third = map(stand_in, ("first", "second", "third"))
        self.equal = Equal()
        self.modules = _modules(self)
        self.kept = None

    @property
    def objects(self) -> tuple:
        """Return the functions that a judge watches."""
        return self.op, self.other, self.first, self.second, self.third

    def keep(self, spaces: dict[str, dict]) -> None:
        """Keep these namespaces, and those of the handful."""
        self.kept = KeptNames(spaces, self.objects)
        for module in self.modules.values():
            if is_a(module, ModuleType):
                self.kept.add(module.__name__, namespace(module))

    def narrow(self) -> None:
        """From now on look at the handful alone."""
        self.kept.only(self.modules)

    def late(self) -> str:
        """Let one more name hold `op`; return its path."""
        inner = namespace(self.modules[f"{NAME}.inner"])
        inner["late"] = self.op
        self.kept.add(f"{NAME}.inner", inner)
        return f"{NAME}.inner.late"

    def assign(self) -> None:
        """Let the block itself assign to a name that holds none of the functions."""
        self.equal, plain, path = Equal(), namespace(self.modules[NAME]), f"{NAME}.equal"
        plain["equal"] = self.equal
        others = [place for place in self.kept.places if place[0] != path]
        self.kept.places = [*others, (path, plain, "equal", self.equal)]


class _Handful(dict):
    """A few modules to be listed; an import gets the others by name, and loads none anew."""

    def get(self, name, default=None):
        """Return an entry, listed or not."""
        return dict.get(self, name, MODULES.get(name, default))


class _Lazy(ModuleType):
    """A module that loads another when it is asked for its names."""

    def __getattribute__(self, name):
        if name == "__dict__":
            part = f"{NAME}.lazy.part"
            sys.modules.setdefault(part, ModuleType(part))
        return ModuleType.__getattribute__(self, name)


def _modules(world) -> dict[str, object]:
    """Return entries of `sys.modules`: lists them out of order, twice, and some are no modules."""
    names = (NAME, f"{NAME}.lazy", f"{NAME}.inner")
    plain, lazy, inner = ModuleType(names[0]), _Lazy(names[1]), ModuleType(names[2])
    main = ModuleType("__main__")
    namespace(plain).update(
        equal=world.equal, op=world.op, bystander=world.first, other=world.other, _op=world.op
    )
    namespace(plain)["twin"] = world.twin
    for module in (lazy, main):
        namespace(module).update(op=world.op)
    namespace(inner).update(deep=world.op, another=world.other, number=1, nothing=None)
    return {
        names[0]: plain,
        f"{NAME}.nothing": None,
        names[1]: lazy,
        f"{NAME}.no_module": object(),
        names[2]: inner,
        f"{NAME}.twice": inner,
        "__main__": main,
    }


@contextmanager
def small_world(op, rebind) -> Iterator[World]:
    """Let `sys.modules` hold a handful of modules, and nothing else; look at all the same.

    So does a name that the learner's program gave to it (`from sys import modules`).
    """
    world = World(op)
    spaces = {name: namespace(module) for name, module in listed_modules().values()}
    before, few, theirs = sys.modules, _Handful(world.modules), _globals_of(rebind)
    aliases = [name for name, value in theirs.items() if value is before]
    sys.modules = few
    theirs.update(dict.fromkeys(aliases, few))
    try:
        world.keep(spaces)
        yield world
    finally:
        world.kept.restore()  # `sys` among them, as it was when its modules were few
        sys.modules = before
        theirs.update(dict.fromkeys(aliases, before))


def _globals_of(rebind) -> dict:
    """Return the namespace of the program that a function or a class is from, {} if unknown."""
    if is_a(rebind, type):
        functions = [value for value in vars(rebind).values() if is_a(value, FunctionType)]
        rebind = functions[0] if functions else None
    rebind = unwrap(rebind)
    return rebind.__globals__ if is_a(rebind, FunctionType) else {}


@contextmanager
def real_world(op) -> Iterator[World]:
    """Add a handful of modules to those of this process."""
    world = World(op)
    del world.modules["__main__"]  # there is one
    sys.modules.update(world.modules)
    try:
        world.keep({name: namespace(module) for name, module in listed_modules().values()})
        yield world
    finally:
        world.kept.restore()
        for name in [name for name in sys.modules if name.startswith(NAME)]:
            del sys.modules[name]
