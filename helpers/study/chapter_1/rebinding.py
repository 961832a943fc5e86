"""Chapter 1, exercise 3: a rebinding of one's own, tried on an op of another library."""

import operator
import sys
from collections.abc import Callable
from contextlib import contextmanager
from types import ModuleType

from helpers.capture.cpython.objects import namespace
from helpers.study.chapter_1.block_trials import World, rebinding_case
from helpers.study.engine import Exercise, find_difference


@contextmanager
def _reference(old, new):
    modules = [module for module in list(sys.modules.values()) if isinstance(module, ModuleType)]
    places = [(s, k) for s in map(namespace, modules) for k, v in list(s.items()) if v is old]
    try:
        for space, key in places:
            space[key] = new
        yield
    finally:
        for space, key in places:
            space[key] = old


class _Lazy(ModuleType):
    """A module that loads another when it is asked for its names."""

    def __getattribute__(self, name):
        if name == "__dict__":
            sys.modules.setdefault("scenery.lazy.part", ModuleType("scenery.lazy.part"))
        return ModuleType.__getattribute__(self, name)


class ModulesWorld(World):
    """The modules of this process and a few more: out of order, twice, and some are none."""

    def __init__(self, op):
        super().__init__(op)
        plain, lazy, inner = map(ModuleType, ("scenery", "scenery.lazy", "scenery.inner"))
        self._plain, self._inner = vars(plain), vars(inner)
        self._plain.update(equal=self.equal, op=op, bystander=self.first, other=self.other)
        self._plain.update(_op=op, twin=self.twin)
        vars(lazy).update(op=op)
        self._inner.update(deep=op, another=self.other, number=1, nothing=None)
        self._few = {"scenery": self._plain, "scenery.lazy": vars(lazy)}
        self._few["scenery.inner"] = self._inner
        lazy.__class__ = _Lazy
        self._main = vars(sys.modules["__main__"])
        self._main["scenery_op"] = op
        sys.modules.update({"scenery": plain, "scenery.nothing": None, "scenery.lazy": lazy})
        sys.modules.update({"scenery.no_module": object(), "scenery.inner": inner})
        sys.modules["scenery.twice"] = inner
        self.look, self.restore = self._watch()

    def _watch(self) -> tuple[Callable, Callable]:
        """Return `look` and `restore`, which name nothing of any module: see `block_trials`."""
        few, ident, mapped, is_same, all_of = self._few, id, map, operator.is_, all
        modules = [(name, m) for name, m in sys.modules.items() if isinstance(m, ModuleType)]
        others = {name: namespace(m) for name, m in modules if not name.startswith("scenery")}
        watched = {id(function) for function in self.functions}
        before = [(s, s.copy(), [*s.values()]) for s in (*few.values(), *others.values())]
        self._kept = before[2][1]

        def look():
            found = {}
            for name, space in few.items():
                for key, value in space.items():
                    found[f"{name}.{key}"] = value
            for name, space in others.items():
                if not watched.isdisjoint(mapped(ident, space.values())):
                    for key, value in space.items():
                        if ident(value) in watched:
                            found[f"{name}.{key}"] = value
            return found

        def restore():
            for space, values, listed in before:
                same_number = len_of(space) == len_of(listed)
                if same_number and all_of(mapped(is_same, space.values(), listed)):
                    continue
                for key, value in values.items():
                    now = space.get(key)
                    if now is not value and (ident(now) in watched or ident(value) in watched):
                        space[key] = value
                for key in [k for k, v in space.items() if k not in values and ident(v) in watched]:
                    del space[key]

        len_of = len
        return look, restore

    def hold_late(self) -> None:
        """Let one more name hold `op`, between the call and the block."""
        self._inner["late"] = self._kept["late"] = self.op

    def assign(self) -> None:
        """Let the block itself assign to a name that holds none of the functions."""
        self._plain["equal"] = self.assigned

    def close(self) -> None:
        """Take the modules and the name in `__main__` away."""
        del self._main["scenery_op"]
        for name in [name for name in sys.modules if name.startswith("scenery")]:
            del sys.modules[name]

    def wrap(self, rebind):
        """Return the rebinding as it is."""
        return rebind


def _judge_rebinding(my_rebind_everywhere: Callable, op: Callable):
    case = rebinding_case("tried on names of modules", lambda: ModulesWorld(op))
    return find_difference(my_rebind_everywhere, _reference, [case])


REBINDING = Exercise(
    "rebinding",
    _judge_rebinding,
    "Every module name was swapped, nested, survived an error, and came back.",
    (
        "Start from the small module scan of section 3: it already finds the names to write to.",
        "Remember each (namespace, name) that you change; write new, yield, write old back.",
        "try: write new everywhere, then yield; finally: write old back to the remembered places. "
        "Decorate it with @contextlib.contextmanager.",
    ),
    in_child=True,  # a search that takes in too much breaks the process
)
