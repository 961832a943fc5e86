"""A code object -> the names in it: of globals, of attributes, and of modules that it imports.
`watch_mutations` follows these names to find all that a function can change. Code can also reach
objects that it does not name, by `exec`, `globals()` or `sys.modules`. These are the *ways around
names*.
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
    """Return the functions and attributes by which code can reach objects that it does not name.

    For example {"exec"} for `def f(): exec("x.append(1)")`, and an empty set for most functions.
    """
    attribute_names = find_names(code)
    ways = list_global_names(code) & GLOBALS_AROUND_NAMES
    ways |= attribute_names & ATTRIBUTES_AROUND_NAMES
    # An attribute `modules` may also be the method of a torch module. So `sys` has to be there too.
    if {"sys", "modules"} <= attribute_names:
        ways.add("sys.modules")
    return ways


def find_names(code: CodeType) -> set[str]:
    """Return the names of globals and attributes in a code object and in the code inside it."""
    names = set()
    for inner in _list_codes(code):
        names.update(inner.co_names)
    return names


def find_names_in_strings(code: CodeType) -> set[str]:
    """Return the names in those strings of a code object that can be compiled as Python.

    A function with the string "x.append(y)" may pass it to `exec`, so x, append and y are returned.
    """
    names = set()
    for text in _list_strings(code):
        # Most strings are no code, so that `compile` raises, or warns of what it reads in them.
        with suppress(Exception), warnings.catch_warnings(action="ignore"):
            names |= find_names(compile(text, "", "exec"))
    return names


def find_attribute_names(code: CodeType) -> set[str]:
    """Return the names of the attributes that code may read.

    A string that could be a name counts too, because the code may pass the string to `getattr`.
    """
    return find_names(code) | {text for text in _list_strings(code) if text.isidentifier()}


def find_set_attributes(code: CodeType) -> set[str]:
    """Return the names of the attributes that code may set or delete.

    If the code calls `setattr` or `delattr`, it may set any attribute whose name it contains.
    """
    names = set()
    for inner in _list_codes(code):
        for instruction in _list_instructions(inner):
            if instruction.opname in SETTING_INSTRUCTIONS:
                names.add(instruction.argval)
    if SETTING_FUNCTIONS & list_global_names(code):
        names |= find_attribute_names(code)
    return names


def find_imported_modules(function: FunctionType) -> dict[str, ModuleType]:
    """Return name -> module, for the modules that the body of a function imports.

    A module that is not loaded yet is left out. For `import a.b`, the result has "a" and "a.b".
    """
    modules = {}
    package = function.__globals__.get("__package__")
    for code in _list_codes(function.__code__):
        instructions = _list_instructions(code)
        for index, instruction in enumerate(instructions):
            if instruction.opname != "IMPORT_NAME":
                continue
            # The compiler (Python/compile.c) pushes two constants before IMPORT_NAME: the level,
            # which is the number of dots of a relative import, and the names after `import`.
            level = instructions[index - 2].argval
            name = instruction.argval
            if level:
                with suppress(ImportError, TypeError, AttributeError):
                    name = resolve_name("." * level + name, package)
            # `import a.b` binds the name `a`.
            first_name, _, _ = name.partition(".")
            for module_name in (first_name, name):
                module = sys.modules.get(module_name)
                # An object of a derived class may be a lazy module, which loads when it is read.
                if type(module) is ModuleType:
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
    """Return the instructions of a code object, without CACHE and EXTENDED_ARG."""
    return [
        instruction
        for instruction in get_instructions(code)
        if instruction.opname not in SKIPPED_INSTRUCTIONS
    ]
