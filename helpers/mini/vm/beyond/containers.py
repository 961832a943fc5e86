"""Containers: build, extend, unpack, store, delete."""

# ruff: noqa: N802 - a handler is named for its opcode

import operator
from itertools import islice

from helpers.mini.vm import special


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
            values = list(islice(_unpackable(self, values), count + 1))
        if len(values) > count:
            raise ValueError(f"too many values to unpack (expected {count})")
        if len(values) < count:
            raise ValueError(f"not enough values to unpack (expected {count}, got {len(values)})")
        self.stack.extend(reversed(values))

    def UNPACK_EX(self, counts):
        """[iterable] → [last, …, the list in the middle, …, first]"""
        before, after = counts & 255, counts >> 8
        values = list(_unpackable(self, self.pop()))
        if len(values) < before + after:
            wanted = f"at least {before + after}"
            raise ValueError(f"not enough values to unpack (expected {wanted}, got {len(values)})")
        middle = len(values) - after
        unpacked = [*values[:before], values[before:middle], *values[middle:]]
        self.stack.extend(reversed(unpacked))

    def STORE_SUBSCR(self):
        """[value, container, key] → []"""
        value, container, key = self.take(3)
        special.send(self, container, "__setitem__", operator.setitem, key, value)

    def DELETE_SUBSCR(self):
        """[container, key] → []"""
        container, key = self.take(2)
        special.send(self, container, "__delitem__", operator.delitem, key)


def _unpackable(frame, values):
    if not hasattr(type(values), "__iter__") and not hasattr(type(values), "__getitem__"):
        raise TypeError(f"cannot unpack non-iterable {type(values).__name__} object")
    return special.iterate(frame, values)
