"""Imports: the module itself is run by CPython's own import."""

import sys

from helpers.mini.vm.opcodes.registry import argval, opcode
from helpers.mini.vm.values import NULL


@opcode("IMPORT_NAME", argument=argval)
def import_name(frame, name):
    """[level, names] → [module]"""
    names, level = frame.stack.pop(), frame.stack.pop()
    importer = frame.builtins.get("__import__")
    if importer is None:
        raise ImportError("__import__ not found")
    frame.stack.append(frame.machine.call(importer, name, frame.globals, frame.names, names, level))


@opcode("IMPORT_FROM", argument=argval)
def import_from(frame, name):
    """[module] → [module, its attribute]"""
    module = frame.stack[-1]
    value = getattr(module, name, NULL)
    frame.stack.append(_submodule(module, name) if value is NULL else value)


def _submodule(module, name):
    package = getattr(module, "__name__", None)
    known = sys.modules.get(f"{package}.{name}")
    if known is not None:
        return known
    if sys.modules.get(package) is module:
        exec(f"from {package} import {name}", {})  # CPython says why it cannot be imported.
    raise ImportError(f"cannot import name {name!r} from {package!r}")


@opcode("IMPORT_STAR")
def import_star(frame, _):
    """[module] → []: its public names are now in the namespace"""
    copy_public_names(frame.stack.pop(), frame.names)


def copy_public_names(module, names):
    """Copy what `from module import *` copies."""
    public = getattr(module, "__all__", None)
    if public is None:
        public = [name for name in vars(module) if not name.startswith("_")]
    for name in public:
        names[name] = getattr(module, name)
