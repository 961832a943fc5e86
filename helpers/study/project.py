"""Import small modules from their source text, as exercises with several modules need them."""

import linecache
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType


def imported(sources: dict[str, str]) -> list[ModuleType]:
    """Import modules from text, and return them in order. They stay in `sys.modules`.

    `sources` is module name -> source text, in the order of the imports. A module may import those
    before it.
    """
    for name, source in sources.items():
        module = ModuleType(name)
        sys.modules[name] = module
        file = f"{name}.py"
        lines = source.splitlines(keepends=True)
        # There is no such file. AutoGraph, which needs the source of a function, reads this cache.
        linecache.cache[file] = (len(source), None, lines, file)
        exec(compile(source, file, "exec"), vars(module))
    return [sys.modules[name] for name in sources]


@contextmanager
def fresh_project(sources: dict[str, str]) -> Iterator[list[ModuleType]]:
    """Import modules from text for a `with` block, and restore `sys.modules` after it.

    The block gets the list of modules. `sources` is as in `imported`.
    """
    before = {name: sys.modules[name] for name in sources if name in sys.modules}
    try:
        yield imported(sources)
    finally:
        for name in sources:
            sys.modules.pop(name, None)
        sys.modules.update(before)


def list_changed_names(now: dict, before: dict) -> list[str]:
    """Return the names that are new, gone, or bound to another object, in alphabetical order.

    `now` and `before` are the globals of a module, now and earlier.
    """
    names = sorted({*before, *now})
    return [name for name in names if now.get(name) is not before.get(name)]
