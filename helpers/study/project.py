"""The texts of a project's modules -> the modules, as after a first import."""

import linecache
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType


def imported(sources: dict[str, str]) -> list[ModuleType]:
    """Run each text as the module of that name, in this order. They stay in `sys.modules`."""
    for name, source in sources.items():
        module = ModuleType(name)
        sys.modules[name] = module
        file = f"{name}.py"
        lines = source.splitlines(keepends=True)
        # There is no such file, and AutoGraph reads the source of a function from here.
        linecache.cache[file] = (len(source), None, lines, file)
        exec(compile(source, file, "exec"), vars(module))
    return [sys.modules[name] for name in sources]


@contextmanager
def fresh_project(sources: dict[str, str]) -> Iterator[list[ModuleType]]:
    """Import a project for the length of a block, then restore `sys.modules`.

    `sources`: module name -> text, in the order of the imports. Yield the modules in that order.
    """
    before = {name: sys.modules[name] for name in sources if name in sys.modules}
    try:
        yield imported(sources)
    finally:
        for name in sources:
            sys.modules.pop(name, None)
        sys.modules.update(before)


def list_changed_names(now: dict, before: dict) -> list[str]:
    """Return the names of a module that are new, gone, or bound to another object."""
    names = sorted({*before, *now})
    return [name for name in names if now.get(name) is not before.get(name)]
