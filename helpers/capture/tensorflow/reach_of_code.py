"""A code object -> what it names: attributes, modules that it imports, and ways around names.

`watch_mutations` follows these names to find all that a function can change.
"""

import sys
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dis import Instruction, get_instructions
from importlib.util import resolve_name
from types import CodeType, FunctionType, ModuleType

from ..cpython.objects import list_global_names

# Globals and attributes with which a function can reach objects that its code does not name.
GLOBALS_AROUND_NAMES = {"exec", "eval", "globals", "__import__", "import_module"}
ATTRIBUTES_AROUND_NAMES = {
    "import_module",
    "__globals__",
    "f_globals",
    "get_objects",
    "get_referents",
    "get_referrers",
}
SETTING_INSTRUCTIONS = ("STORE_ATTR", "DELETE_ATTR")
SETTING_FUNCTIONS = {"setattr", "delattr"}
SKIPPED_INSTRUCTIONS = ("CACHE", "EXTENDED_ARG")  # parts of the instruction beside them


def find_ways_around_names(code: CodeType) -> set[str]:
    """Return with what a function can reach objects that its code does not name."""
    attribute_names = find_names(code)
    ways = list_global_names(code) & GLOBALS_AROUND_NAMES
    ways |= attribute_names & ATTRIBUTES_AROUND_NAMES
    # Without `sys`, an attribute `modules` is the method of a torch module.
    if {"sys", "modules"} <= attribute_names:
        ways.add("sys.modules")
    return ways


def find_names(code: CodeType) -> set[str]:
    """Return all names in a code object and in the code inside it, also those of attributes."""
    names = set()
    for inner in _list_codes(code):
        names.update(inner.co_names)
    return names


def find_names_in_strings(code: CodeType) -> set[str]:
    """Return the names in those strings of a code object that are Python code, or a name."""
    names = set()
    for text in _list_strings(code):
        # Most strings are no code, and Python may warn of what it reads in them.
        with suppress(Exception), warnings.catch_warnings(action="ignore"):
            names |= find_names(compile(text, "", "exec"))
    return names


def find_attribute_names(code: CodeType) -> set[str]:
    """Return the names with which code can read an attribute, also those that `getattr` gets."""
    return find_names(code) | {text for text in _list_strings(code) if text.isidentifier()}


def find_set_attributes(code: CodeType) -> set[str]:
    """Return the names of the attributes that code can set or delete.

    If it calls `setattr` or `delattr`, these are all names in it.
    """
    names = set()
    for inner in _list_codes(code):
        for step in _list_instructions(inner):
            if step.opname in SETTING_INSTRUCTIONS:
                names.add(step.argval)
    if SETTING_FUNCTIONS & list_global_names(code):
        names |= find_attribute_names(code)
    return names


def find_imported_modules(function: FunctionType) -> dict[str, ModuleType]:
    """Return the modules that a function's body imports, if they are loaded, by their names."""
    modules = {}
    package = function.__globals__.get("__package__")
    for code in _list_codes(function.__code__):
        steps = _list_instructions(code)
        for index, step in enumerate(steps):
            if step.opname != "IMPORT_NAME":
                continue
            # The compiler (Python/compile.c) pushes the level and the imported names before it.
            level = steps[index - 2].argval
            name = step.argval
            if level:
                with suppress(ImportError, TypeError, AttributeError):
                    name = resolve_name("." * level + name, package)
            # `import a.b` binds the first of these names.
            first_name, _, _ = name.partition(".")
            for module_name in (first_name, name):
                module = sys.modules.get(module_name)
                if type(module) is ModuleType:  # a lazy module would be loaded
                    modules[module_name] = module
    return modules


def _list_codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object, and all code objects inside it."""
    yield code
    for constant in code.co_consts:
        if type(constant) is CodeType:
            yield from _list_codes(constant)


def _list_strings(code: CodeType) -> list[str]:
    """Return the strings among the constants of a code object and of the code inside it."""
    strings = []
    for inner in _list_codes(code):
        strings += [constant for constant in inner.co_consts if type(constant) is str]
    return strings


def _list_instructions(code: CodeType) -> list[Instruction]:
    """Return the instructions of a code object, without those that are parts of others."""
    return [step for step in get_instructions(code) if step.opname not in SKIPPED_INSTRUCTIONS]
