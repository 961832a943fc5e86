"""Handlers beyond the learner's steps that work on data: names, attributes, containers, strings.

A handler is a method that is named for an opcode. Its docstring is its stack effect, the top of the
stack on the right. `native` hands one instruction to CPython, which also says what is wrong.
"""

# ruff: noqa: N802 - a handler is named for its opcode

import dis
import operator
from functools import cache
from operator import setitem
from types import CellType

from helpers.mini.vm.instructions import NULL
from helpers.mini.vm.steps import gathering, pushing

CONVERSIONS = (lambda value: value, str, repr, ascii)


@cache
def native(opname: str, number: int, takes: int, gives: int | None = None, name=""):
    """Return a function of so many arguments whose body is this one instruction of CPython's.

    Its result is what the instruction leaves on the stack: a tuple of `gives` values, if given.
    """
    template = eval(f"lambda {', '.join(f'a{n}' for n in range(takes))}: a0")
    steps = [("RESUME", 0), *(("LOAD_FAST", slot) for slot in range(takes))]
    steps += [("EXTENDED_ARG", number >> 8)] * (number > 255) + [(opname, number & 255)]
    steps += [("CACHE", 0)] * (opname == "UNPACK_SEQUENCE")
    steps += [("BUILD_TUPLE", gives)] * (gives is not None) + [("RETURN_VALUE", 0)]
    body = bytes(byte for step, argument in steps for byte in (dis.opmap[step], argument))
    template.__code__ = template.__code__.replace(
        co_code=body, co_stacksize=takes + (gives or 1) + 1, co_names=(name,)
    )
    return template


def doing(function, takes: int, effect: str):
    """Return a handler that calls `function` with so many values, and pushes nothing."""

    def handler(self):
        function(*self.take(takes))

    handler.__doc__ = effect
    return handler


def adding(function, effect: str):
    """Return a handler that calls `function` with a container in the stack and the top value."""

    def handler(self, depth):
        value = self.pop()
        function(self.stack[-depth], value)

    handler.__doc__ = effect
    return handler


class MoreNames:
    """Globals that are set, and names that are deleted."""

    def STORE_GLOBAL(self, name):
        """[value] → []"""
        self.globals[name] = self.pop()

    def DELETE_GLOBAL(self, name):
        """[] → []"""
        if name not in self.globals:
            raise NameError(f"name '{name}' is not defined", name=name)
        del self.globals[name]

    def DELETE_DEREF(self, name):
        """[] → []"""
        self.content_of_cell(name)
        del self.cells[name].cell_contents


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

    def __init__(self, where, value):
        self.where, self.value = where, value

    def __repr__(self):
        return repr(self.value)


class Attributes:
    """What is done with an attribute but reading it, and two operators."""

    UNARY_POSITIVE = pushing(operator.pos, 1, "[value] → [+value]")
    UNARY_INVERT = pushing(operator.invert, 1, "[value] → [~value]")

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
        found = self.call(maker, *((cls, obj) if with_arguments or maker is super else ()))
        self.push(getattr(found, name))


class Containers:
    """What the steps leave out: they build lists and tuples, and read items."""

    BUILD_SET = gathering(set, "[first, …, last] → [set]")
    BUILD_SLICE = gathering(
        lambda parts: slice(*parts), "[start, stop, and a step if so] → [slice]"
    )
    LIST_APPEND = adding(list.append, "[list, …, item] → [list, …]")
    SET_ADD = adding(set.add, "[set, …, item] → [set, …]")
    LIST_EXTEND = adding(native("LIST_EXTEND", 1, 2), "[list, …, iterable] → [list, …]")
    SET_UPDATE = adding(set.update, "[set, …, iterable] → [set, …]")
    DICT_UPDATE = adding(native("DICT_UPDATE", 1, 2), "[dict, …, mapping] → [dict, …]")
    LIST_TO_TUPLE = pushing(tuple, 1, "[list] → [tuple]")
    STORE_SUBSCR = doing(lambda v, c, k: setitem(c, k, v), 3, "[value, container, key] → []")
    DELETE_SUBSCR = doing(operator.delitem, 2, "[container, key] → []")

    def MAP_ADD(self, depth):
        """[dict, …, key, value] → [dict, …]"""
        key, value = self.take(2)
        self.stack[-depth][key] = value

    def BUILD_MAP(self, count):
        """[key, value, …] → [dict]"""
        flat = self.take(2 * count)
        self.push(dict(zip(flat[::2], flat[1::2], strict=True)))

    def BUILD_CONST_KEY_MAP(self, count):
        """[first, …, last, keys] → [dict]"""
        keys = self.pop()
        self.push(dict(zip(keys, self.take(count), strict=True)))

    def UNPACK_SEQUENCE(self, count):
        """[iterable] → [last, …, first]: the first is on top, ready to be stored"""
        self.stack += native("UNPACK_SEQUENCE", count, 1, count)(self.pop())

    def UNPACK_EX(self, counts):
        """[iterable] → [last, …, the list in the middle, …, first]"""
        total = (counts & 255) + 1 + (counts >> 8)
        self.stack += native("UNPACK_EX", counts, 1, total)(self.pop())


class Strings:
    """What an f-string becomes."""

    BUILD_STRING = gathering("".join, "[first, …, last] → [str]")

    def FORMAT_VALUE(self, which, with_spec):
        """[value] or [value, spec] → [str]"""
        spec = self.pop() if with_spec else ""
        self.push(format(CONVERSIONS[which](self.pop()), spec))

    def CONVERT_VALUE(self, which):
        """[value] → [its str, repr or ascii]"""
        self.push(CONVERSIONS[which](self.pop()))


DATA = (MoreNames, Slots, Attributes, Containers, Strings)
