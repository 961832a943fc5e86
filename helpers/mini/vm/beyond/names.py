"""Names in namespaces, of modules and classes, and what else is done with cells and slots."""

# ruff: noqa: N802 - a handler is named for its opcode

from types import CellType

from helpers.mini.vm.values import NULL


class MoreNames:
    """Globals, the namespaces of classes and modules, and cells seen from there."""

    def STORE_GLOBAL(self, name):
        """[value] → []"""
        self.globals[name] = self.pop()

    def DELETE_GLOBAL(self, name):
        """[] → []"""
        _delete(self.globals, name)

    def LOAD_NAME(self, name):
        """[] → [value]"""
        self.push(_found(self.names, name, self.find))

    def STORE_NAME(self, name):
        """[value] → []"""
        self.names[name] = self.pop()

    def DELETE_NAME(self, name):
        """[] → []"""
        _delete(self.names, name)

    def LOAD_LOCALS(self):
        """[] → [namespace]"""
        self.push(self.names)

    def LOAD_FROM_DICT_OR_GLOBALS(self, name):
        """[namespace] → [value]"""
        self.push(_found(self.pop(), name, self.find))

    def LOAD_CLASSDEREF(self, name):
        """[] → [value]: the class's own name first, then the enclosing function's"""
        self.push(_found(self.names, name, self.content_of_cell))

    def LOAD_FROM_DICT_OR_DEREF(self, name):
        """[namespace] → [value]"""
        self.push(_found(self.pop(), name, self.content_of_cell))

    def DELETE_DEREF(self, name):
        """[] → []"""
        self.content_of_cell(name)
        del self.cells[name].cell_contents

    def SETUP_ANNOTATIONS(self):
        """[] → []"""
        if "__annotations__" not in self.names:
            self.names["__annotations__"] = {}


class Slots:
    """An inlined comprehension borrows the slot of a variable, and puts back whatever was there."""

    def LOAD_FAST_AND_CLEAR(self, name):
        """[] → [what the slot held]"""
        cell = name in self.code.co_cellvars and name not in self.local
        where = self.cells if cell else self.local
        self.push(Lent(where, where.pop(name, NULL)))

    def STORE_SLOT(self, name):
        """[value, or what the slot held] → []"""
        value = self.pop()
        if type(value) is not Lent:
            self.local[name] = value
            return
        self.local.pop(name, None)
        if value.value is not NULL:
            value.where[name] = value.value

    def LOAD_SLOT(self, name):
        """[] → [local or cell]"""
        self.push(self.local[name] if name in self.local else self.cells[name])

    def MAKE_CELL(self, name):
        """[] → []: the slot now holds a cell, and the cell holds the value"""
        self.cells[name] = CellType(self.local.pop(name)) if name in self.local else CellType()


class Lent:
    """What a slot held, and where it is to be put back."""

    __slots__ = ("where", "value")

    def __init__(self, where, value):
        self.where, self.value = where, value

    def __repr__(self):
        return repr(self.value)


def _content_of(space, name):
    """Return space[name] or NULL; a class's namespace may be any mapping."""
    if type(space) is dict:
        return space.get(name, NULL)
    try:
        return space[name]
    except KeyError:
        return NULL


def _found(space, name, otherwise):
    value = _content_of(space, name)
    return otherwise(name) if value is NULL else value


def _delete(space, name):
    if _content_of(space, name) is NULL:
        raise NameError(f"name '{name}' is not defined", name=name)
    del space[name]
