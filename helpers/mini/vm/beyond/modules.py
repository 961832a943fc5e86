"""Imports: the module itself is run by CPython's own import."""

# ruff: noqa: N802 - a handler is named for its opcode

import sys

from helpers.mini.vm.values import NULL


class Modules:
    """`import` and `from … import …`."""

    def IMPORT_NAME(self, name):
        """[level, names] → [module]"""
        level, names = self.take(2)
        importer = self.builtins.get("__import__")
        if importer is None:
            raise ImportError("__import__ not found")
        self.push(self.call(importer, name, self.globals, self.names, names, level))

    def IMPORT_FROM(self, name):
        """[module] → [module, its attribute]"""
        module = self.stack[-1]
        value = getattr(module, name, NULL)
        self.push(_submodule(module, name) if value is NULL else value)

    def IMPORT_STAR(self):
        """[module] → []: its public names are now in the namespace"""
        module = self.pop()
        public = getattr(module, "__all__", None)
        if public is None:
            public = [name for name in vars(module) if not name.startswith("_")]
        for name in public:
            self.names[name] = getattr(module, name)


def _submodule(module, name):
    package = getattr(module, "__name__", None)
    known = sys.modules.get(f"{package}.{name}")
    if known is not None:
        return known
    if sys.modules.get(package) is module:
        exec(f"from {package} import {name}", {})  # CPython says why it cannot be imported.
    raise ImportError(f"cannot import name {name!r} from {package!r}")
