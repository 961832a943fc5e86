"""A code object -> what it names: attributes, modules that it imports, and how it reaches more.

`watch_mutations` follows these names to find all that a body can change.
"""

import sys
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dis import Instruction, get_instructions
from importlib.util import resolve_name
from types import CodeType, FunctionType, ModuleType

from ..cpython.objects import names_used

# By these globals, and these attributes, a body can reach what its code does not name.
REACHING = {"exec", "eval", "globals", "__import__", "import_module"}
REACHING_ATTRIBUTES = {"import_module", "__globals__", "f_globals", "get_objects", "get_referents"}
REACHING_ATTRIBUTES |= {"get_referrers"}


def ways_to_reach_more(code: CodeType) -> set[str]:
    """Return by what a body can reach what its code does not name."""
    attributes = all_names(code)
    found = names_used(code) & REACHING | attributes & REACHING_ATTRIBUTES
    # a `modules` of its own is that of torch's modules
    return found | ({"sys.modules"} if {"sys", "modules"} <= attributes else set())


def all_names(code: CodeType) -> set[str]:
    """Return all names in a code and the code inside it, those of attributes too."""
    return {name for one in _with_inner(code) for name in one.co_names}


def names_in_strings(code: CodeType) -> set[str]:
    """Return the names in those strings of a code that are code themselves, or a name."""
    names = set()
    for text in _strings(code):
        with suppress(Exception), warnings.catch_warnings(action="ignore"):
            names |= all_names(compile(text, "", "exec"))
    return names


def attributes_named(code: CodeType) -> set[str]:
    """Return the names by which a code can read an attribute: also those that `getattr` gets."""
    return all_names(code) | {text for text in _strings(code) if text.isidentifier()}


def attributes_set(code: CodeType) -> set[str]:
    """Return the names of the attributes that a code sets or deletes."""
    sets = ("STORE_ATTR", "DELETE_ATTR")
    found = {i.argval for one in _with_inner(code) for i in _steps(one) if i.opname in sets}
    by_name = {"setattr", "delattr"} & names_used(code)
    return found | (attributes_named(code) if by_name else set())


def modules_imported(function: FunctionType) -> dict[str, ModuleType]:
    """Return name -> module, of those that the function's body imports and that are loaded."""
    found = {}
    package = function.__globals__.get("__package__")
    for code in _with_inner(function.__code__):
        steps = _steps(code)
        for at, step in enumerate(steps):
            if step.opname == "IMPORT_NAME":
                level = steps[at - 2].argval  # before the names after `import`, Python/compile.c
                name = step.argval
                if level:
                    with suppress(ImportError, TypeError, AttributeError):
                        name = resolve_name("." * level + name, package)
                for one in (name.partition(".")[0], name):  # the first is what `import a.b` binds
                    if type(module := sys.modules.get(one)) is ModuleType:
                        found[one] = module
    return found


def _with_inner(code: CodeType) -> Iterator[CodeType]:
    """Yield a code and all code inside it."""
    yield code
    for one in code.co_consts:
        if type(one) is CodeType:
            yield from _with_inner(one)


def _strings(code: CodeType) -> list[str]:
    return [text for one in _with_inner(code) for text in one.co_consts if type(text) is str]


def _steps(code: CodeType) -> list[Instruction]:
    skipped = ("CACHE", "EXTENDED_ARG")
    return [step for step in get_instructions(code) if step.opname not in skipped]
