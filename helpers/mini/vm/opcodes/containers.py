"""Containers: build, extend, unpack, index, slice."""

import operator
from itertools import islice

from helpers.mini.vm import special
from helpers.mini.vm.opcodes.registry import opcode


def _take(stack, count):
    """Pop `count` values and return them in the order in which they were pushed."""
    if not count:
        return []
    values = stack[-count:]
    del stack[-count:]
    return values


@opcode("BUILD_TUPLE")
def build_tuple(frame, count):
    """[first, …, last] → [tuple]"""
    frame.stack.append(tuple(_take(frame.stack, count)))


@opcode("BUILD_LIST")
def build_list(frame, count):
    """[first, …, last] → [list]"""
    frame.stack.append(_take(frame.stack, count))


@opcode("BUILD_SET")
def build_set(frame, count):
    """[first, …, last] → [set]"""
    frame.stack.append(set(_take(frame.stack, count)))


@opcode("BUILD_MAP")
def build_map(frame, count):
    """[key, value, …] → [dict]"""
    flat = _take(frame.stack, 2 * count)
    frame.stack.append(dict(zip(flat[::2], flat[1::2], strict=True)))


@opcode("BUILD_CONST_KEY_MAP")
def build_const_key_map(frame, count):
    """[first, …, last, keys] → [dict]"""
    keys = frame.stack.pop()
    frame.stack.append(dict(zip(keys, _take(frame.stack, count), strict=True)))


@opcode("BUILD_SLICE")
def build_slice(frame, count):
    """[start, stop] or [start, stop, step] → [slice]"""
    frame.stack.append(slice(*_take(frame.stack, count)))


@opcode("LIST_APPEND")
def list_append(frame, depth):
    """[list, …, item] → [list, …]"""
    item = frame.stack.pop()
    frame.stack[-depth].append(item)


@opcode("SET_ADD")
def set_add(frame, depth):
    """[set, …, item] → [set, …]"""
    item = frame.stack.pop()
    frame.stack[-depth].add(item)


@opcode("MAP_ADD")
def map_add(frame, depth):
    """[dict, …, key, value] → [dict, …]"""
    key, value = _take(frame.stack, 2)
    frame.stack[-depth][key] = value


@opcode("LIST_EXTEND")
def list_extend(frame, depth):
    """[list, …, iterable] → [list, …]"""
    items = frame.stack.pop()
    if not hasattr(type(items), "__iter__") and not hasattr(type(items), "__getitem__"):
        raise TypeError(f"Value after * must be an iterable, not {type(items).__name__}")
    frame.stack[-depth].extend(items)


@opcode("SET_UPDATE")
def set_update(frame, depth):
    """[set, …, iterable] → [set, …]"""
    items = frame.stack.pop()
    frame.stack[-depth].update(items)


@opcode("DICT_UPDATE")
def dict_update(frame, depth):
    """[dict, …, mapping] → [dict, …]"""
    mapping = frame.stack.pop()
    if not hasattr(mapping, "keys"):
        raise TypeError(f"'{type(mapping).__name__}' object is not a mapping")
    frame.stack[-depth].update(mapping)


@opcode("LIST_TO_TUPLE")
def list_to_tuple(frame, _):
    """[list] → [tuple]"""
    frame.stack[-1] = tuple(frame.stack[-1])


@opcode("UNPACK_SEQUENCE")
def unpack_sequence(frame, count):
    """[iterable] → [last, …, first]: the first is on top, ready to be stored"""
    values = frame.stack.pop()
    if type(values) not in (tuple, list):
        iterator = _unpackable(frame, values)
        values = list(islice(iterator, count + 1))
    if len(values) > count:
        raise ValueError(f"too many values to unpack (expected {count})")
    if len(values) < count:
        raise ValueError(f"not enough values to unpack (expected {count}, got {len(values)})")
    frame.stack.extend(reversed(values))


@opcode("UNPACK_EX")
def unpack_ex(frame, counts):
    """[iterable] → [last, …, the list in the middle, …, first]"""
    before, after = counts & 255, counts >> 8
    values = list(_unpackable(frame, frame.stack.pop()))
    if len(values) < before + after:
        wanted = f"at least {before + after}"
        raise ValueError(f"not enough values to unpack (expected {wanted}, got {len(values)})")
    middle = len(values) - after
    unpacked = [*values[:before], values[before:middle], *values[middle:]]
    frame.stack.extend(reversed(unpacked))


def _unpackable(frame, values):
    if not hasattr(type(values), "__iter__") and not hasattr(type(values), "__getitem__"):
        raise TypeError(f"cannot unpack non-iterable {type(values).__name__} object")
    return special.iterate(frame.machine, values)


@opcode("BINARY_SUBSCR")
def binary_subscr(frame, _):
    """[container, key] → [container[key]]"""
    key = frame.stack.pop()
    container = frame.stack[-1]
    frame.stack[-1] = special.send(frame.machine, container, "__getitem__", operator.getitem, key)


@opcode("STORE_SUBSCR")
def store_subscr(frame, _):
    """[value, container, key] → []"""
    value, container, key = _take(frame.stack, 3)
    special.send(frame.machine, container, "__setitem__", operator.setitem, key, value)


@opcode("DELETE_SUBSCR")
def delete_subscr(frame, _):
    """[container, key] → []"""
    container, key = _take(frame.stack, 2)
    special.send(frame.machine, container, "__delitem__", operator.delitem, key)


@opcode("BINARY_SLICE")
def binary_slice(frame, _):
    """[container, start, stop] → [container[start:stop]]"""
    container, start, stop = _take(frame.stack, 3)
    part = slice(start, stop)
    frame.stack.append(
        special.send(frame.machine, container, "__getitem__", operator.getitem, part)
    )


@opcode("STORE_SLICE")
def store_slice(frame, _):
    """[value, container, start, stop] → []"""
    value, container, start, stop = _take(frame.stack, 4)
    part = slice(start, stop)
    special.send(frame.machine, container, "__setitem__", operator.setitem, part, value)
