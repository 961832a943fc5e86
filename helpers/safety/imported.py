"""What is imported, and what finds more of it -> the same, put back where a program spoilt it.

A learner's function may put another dict in the place of `sys.modules`, empty it, or empty the
lists by which `import` looks. What draws an exhibit of that function would find no module.
"""

import sys
from types import ModuleType

from helpers.safety.arguments import is_a
from helpers.safety.code_places import HOUSE, LIBRARIES, STANDARD
from helpers.safety.original_builtins import BUILTINS

__builtins__ = BUILTINS

MODULES = sys.modules  # the interpreter itself looks in this dict, whatever the name holds later
_LISTS = ("path", "meta_path", "path_hooks")
_BUILT_IN = frozenset(sys.builtin_module_names)


def module(name: str) -> ModuleType | None:
    """Return a module that somebody has imported already, or None."""
    found = dict.get(MODULES, name)
    return found if is_a(found, ModuleType) else None


def read() -> tuple:
    """Return the modules by name, and the lists of `import` with what is in them."""
    lists = [vars(sys).get(name) for name in _LISTS]
    held = [tuple(one) if type(one) is list else () for one in lists]
    return vars(sys).get("modules"), dict(MODULES), lists, held


def same(now: tuple, before: tuple) -> bool:
    """Return whether nothing that was there is gone; what has come since may stay."""
    lists = all(one is was for one, was in zip(now[2], before[2], strict=True))
    held = (
        set(map(id, one)) >= set(map(id, was)) for one, was in zip(now[3], before[3], strict=True)
    )
    return now[0] is before[0] and lists and all(held) and not _gone(now[1], before[1])


def put(before: tuple) -> None:
    """Put back what is gone: not a module of the learner's own, which they may unload."""
    if before[0] is not None:
        sys.modules = before[0]
    MODULES.update(_gone(MODULES, before[1]))
    for name, one, held in zip(_LISTS, *before[2:], strict=True):
        if type(one) is not list:
            continue
        setattr(sys, name, one)
        known = set(map(id, one))
        if not all(id(each) in known for each in held):
            one[:] = [*held, *(each for each in one if id(each) not in set(map(id, held)))]


def _gone(now: dict, before: dict) -> dict:
    """Return the modules of Python, libraries and the house in whose place no module stands now."""
    return {
        name: was
        for name, was in before.items()
        if now.get(name) is not was
        and type(name) is str
        and is_a(was, ModuleType)
        and not is_a(now.get(name), ModuleType)
        and _is_no_learners(name, was)
    }


def _is_no_learners(name: str, was: ModuleType) -> bool:
    file = ModuleType.__getattribute__(was, "__dict__").get("__file__")
    if type(file) is str:
        return file.startswith((HOUSE, *STANDARD, *LIBRARIES))
    return name in _BUILT_IN or name.partition(".")[0] in ("__main__", "torch", "tensorflow")
