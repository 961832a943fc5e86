"""Handlers beyond the learner's steps that work on data: names, attributes, containers, strings.

A handler is a method that is named for an opcode. Its docstring is its stack effect, the top of the
stack on the right.
"""

# ruff: noqa: N802 - a handler is named for its opcode

from itertools import islice
from types import CellType

from helpers.mini.vm.instructions import NULL

CONVERSIONS = (lambda value: value, str, repr, ascii)


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


class MoreOperators:
    """Plus and invert."""

    def UNARY_POSITIVE(self):
        """[value] → [+value]"""
        self.push(+self.pop())

    def UNARY_INVERT(self):
        """[value] → [~value]"""
        self.push(~self.pop())


class Attributes:
    """What is done with an attribute but reading it."""

    def STORE_ATTR(self, name):
        """[value, object] → []"""
        value, obj = self.take(2)
        setattr(obj, name, value)

    def DELETE_ATTR(self, name):
        """[object] → []"""
        delattr(self.pop(), name)

    def LOAD_SUPER_ATTR(self, name, with_arguments):
        """[super, class, self] → [attribute]"""
        maker, cls, obj = self.take(3)
        if maker is super:
            self.push(getattr(super(cls, obj), name))
        else:
            self.push(getattr(self.call(maker, *((cls, obj) if with_arguments else ())), name))


class Containers:
    """What the steps leave out: they build lists and tuples, and read items."""

    def BUILD_SET(self, count):
        """[first, …, last] → [set]"""
        self.push(set(self.take(count)))

    def BUILD_MAP(self, count):
        """[key, value, …] → [dict]"""
        flat = self.take(2 * count)
        self.push(dict(zip(flat[::2], flat[1::2], strict=True)))

    def BUILD_CONST_KEY_MAP(self, count):
        """[first, …, last, keys] → [dict]"""
        keys = self.pop()
        self.push(dict(zip(keys, self.take(count), strict=True)))

    def BUILD_SLICE(self, count):
        """[start, stop] or [start, stop, step] → [slice]"""
        self.push(slice(*self.take(count)))

    def LIST_APPEND(self, depth):
        """[list, …, item] → [list, …]"""
        item = self.pop()
        self.stack[-depth].append(item)

    def SET_ADD(self, depth):
        """[set, …, item] → [set, …]"""
        item = self.pop()
        self.stack[-depth].add(item)

    def MAP_ADD(self, depth):
        """[dict, …, key, value] → [dict, …]"""
        key, value = self.take(2)
        self.stack[-depth][key] = value

    def LIST_EXTEND(self, depth):
        """[list, …, iterable] → [list, …]"""
        items = self.pop()
        if not hasattr(type(items), "__iter__") and not hasattr(type(items), "__getitem__"):
            raise TypeError(f"Value after * must be an iterable, not {type(items).__name__}")
        self.stack[-depth].extend(items)

    def SET_UPDATE(self, depth):
        """[set, …, iterable] → [set, …]"""
        items = self.pop()
        self.stack[-depth].update(items)

    def DICT_UPDATE(self, depth):
        """[dict, …, mapping] → [dict, …]"""
        mapping = self.pop()
        if not hasattr(mapping, "keys"):
            raise TypeError(f"'{type(mapping).__name__}' object is not a mapping")
        self.stack[-depth].update(mapping)

    def LIST_TO_TUPLE(self):
        """[list] → [tuple]"""
        self.push(tuple(self.pop()))

    def UNPACK_SEQUENCE(self, count):
        """[iterable] → [last, …, first]: the first is on top, ready to be stored"""
        values = self.pop()
        if type(values) not in (tuple, list):
            values = list(islice(_unpackable(values), count + 1))
        if len(values) > count:
            raise ValueError(f"too many values to unpack (expected {count})")
        if len(values) < count:
            raise ValueError(f"not enough values to unpack (expected {count}, got {len(values)})")
        self.stack.extend(reversed(values))

    def UNPACK_EX(self, counts):
        """[iterable] → [last, …, the list in the middle, …, first]"""
        before, after = counts & 255, counts >> 8
        values = list(_unpackable(self.pop()))
        if len(values) < before + after:
            wanted = f"at least {before + after}"
            raise ValueError(f"not enough values to unpack (expected {wanted}, got {len(values)})")
        middle = len(values) - after
        unpacked = [*values[:before], values[before:middle], *values[middle:]]
        self.stack.extend(reversed(unpacked))

    def STORE_SUBSCR(self):
        """[value, container, key] → []"""
        value, container, key = self.take(3)
        container[key] = value

    def DELETE_SUBSCR(self):
        """[container, key] → []"""
        container, key = self.take(2)
        del container[key]


def _unpackable(values):
    if not hasattr(type(values), "__iter__") and not hasattr(type(values), "__getitem__"):
        raise TypeError(f"cannot unpack non-iterable {type(values).__name__} object")
    return iter(values)


class Strings:
    """What an f-string becomes."""

    def FORMAT_VALUE(self, which, with_spec):
        """[value] or [value, spec] → [str]"""
        spec = self.pop() if with_spec else ""
        self.push(format(CONVERSIONS[which](self.pop()), spec))

    def CONVERT_VALUE(self, which):
        """[value] → [its str, repr or ascii]"""
        self.push(CONVERSIONS[which](self.pop()))

    def BUILD_STRING(self, count):
        """[first, …, last] → [str]"""
        self.push("".join(self.take(count)))


DATA = (MoreNames, Slots, MoreOperators, Attributes, Containers, Strings)
