"""Names: fast locals by slot, namespaces by name, cells that two functions share."""

import sys
from types import CellType

from helpers.mini.vm.opcodes.registry import argval, opcode
from helpers.mini.vm.values import NULL

# 3.13 pushes the callable first and NULL after it; before, NULL came first.
NULL_ABOVE = sys.version_info >= (3, 13)


def slot_and_name(instruction, code, slots):
    """Feed a handler the slot's number and the variable's name, which an error must say."""
    return instruction.arg, slots[instruction.arg]


def pair_of_slots(instruction, code, slots):
    """Feed a handler two slots: 3.13 packs two small numbers into one argument."""
    first, second = instruction.arg >> 4, instruction.arg & 15
    return (first, slots[first]), (second, slots[second])


def cell_and_name(instruction, code, slots):
    """Feed a handler the slot, the name, and whether the cell is the function's own."""
    name = slots[instruction.arg]
    return instruction.arg, name, name not in code.co_freevars


def name_and_null(instruction, code, slots):
    """Feed a handler the name, and whether a call wants a NULL beside the value."""
    return instruction.argval, instruction.arg & 1


def _undefined(name):
    return NameError(f"name '{name}' is not defined", name=name)


def _unbound(name):
    return UnboundLocalError(
        f"cannot access local variable '{name}' where it is not associated with a value"
    )


def _unbound_cell(name, own):
    if own:
        return _unbound(name)
    return NameError(
        f"cannot access free variable '{name}' where it is not associated with a value"
        " in enclosing scope"
    )


@opcode("LOAD_FAST", "LOAD_FAST_CHECK", argument=slot_and_name)
def load_fast(frame, where):
    """[] → [local]"""
    value = frame.fast[where[0]]
    if value is NULL:
        raise _unbound(where[1])
    frame.stack.append(value)


@opcode("LOAD_CLOSURE")
def load_closure(frame, slot):
    """[] → [cell]"""
    frame.stack.append(frame.fast[slot])


@opcode("STORE_FAST", "STORE_FAST_MAYBE_NULL")
def store_fast(frame, slot):
    """[value] → []"""
    frame.fast[slot] = frame.stack.pop()


@opcode("DELETE_FAST", argument=slot_and_name)
def delete_fast(frame, where):
    """[] → []"""
    if frame.fast[where[0]] is NULL:
        raise _unbound(where[1])
    frame.fast[where[0]] = NULL


@opcode("LOAD_FAST_AND_CLEAR")
def load_fast_and_clear(frame, slot):
    """[] → [local or NULL]: an inlined comprehension borrows the slot and puts it back"""
    frame.stack.append(frame.fast[slot])
    frame.fast[slot] = NULL


@opcode("LOAD_FAST_LOAD_FAST", argument=pair_of_slots)
def load_two(frame, slots):
    """[] → [first, second]"""
    load_fast(frame, slots[0])
    load_fast(frame, slots[1])


@opcode("STORE_FAST_STORE_FAST", argument=pair_of_slots)
def store_two(frame, slots):
    """[second, first] → []"""
    frame.fast[slots[0][0]] = frame.stack.pop()
    frame.fast[slots[1][0]] = frame.stack.pop()


@opcode("STORE_FAST_LOAD_FAST", argument=pair_of_slots)
def store_and_load(frame, slots):
    """[first] → [second]"""
    frame.fast[slots[0][0]] = frame.stack.pop()
    load_fast(frame, slots[1])


def find_global(frame, name):
    """Return the value of a global or builtin name; NameError as CPython words it."""
    value = frame.globals.get(name, NULL)
    if value is NULL:
        value = frame.builtins.get(name, NULL)
        if value is NULL:
            raise _undefined(name)
    return value


def find_name(frame, space, name):
    """Return a name from a namespace (of a class or module), else a global or builtin."""
    value = _content_of(space, name)
    return find_global(frame, name) if value is NULL else value


def _content_of(space, name):
    """Return space[name] or NULL; a class's namespace may be any mapping."""
    if type(space) is dict:
        return space.get(name, NULL)
    try:
        return space[name]
    except KeyError:
        return NULL


@opcode("LOAD_GLOBAL", argument=name_and_null)
def load_global(frame, wanted):
    """[] → [value], or with the NULL that a call wants below it (3.13: above)"""
    push_callable(frame, find_global(frame, wanted[0]), wanted[1])


def push_callable(frame, value, with_null):
    """Push what may be called next, NULL on the side where this Python wants it."""
    if not with_null:
        frame.stack.append(value)
    elif NULL_ABOVE:
        frame.stack += (value, NULL)
    else:
        frame.stack += (NULL, value)


@opcode("STORE_GLOBAL", argument=argval)
def store_global(frame, name):
    """[value] → []"""
    frame.globals[name] = frame.stack.pop()


@opcode("DELETE_GLOBAL", argument=argval)
def delete_global(frame, name):
    """[] → []"""
    _delete(frame.globals, name)


@opcode("LOAD_NAME", argument=argval)
def load_name(frame, name):
    """[] → [value]"""
    frame.stack.append(find_name(frame, frame.names, name))


@opcode("STORE_NAME", argument=argval)
def store_name(frame, name):
    """[value] → []"""
    frame.names[name] = frame.stack.pop()


@opcode("DELETE_NAME", argument=argval)
def delete_name(frame, name):
    """[] → []"""
    _delete(frame.names, name)


def _delete(space, name):
    if _content_of(space, name) is NULL:
        raise _undefined(name)
    del space[name]


@opcode("LOAD_LOCALS")
def load_locals(frame, _):
    """[] → [namespace]"""
    frame.stack.append(frame.names)


@opcode("LOAD_FROM_DICT_OR_GLOBALS", argument=argval)
def load_from_dict_or_globals(frame, name):
    """[namespace] → [value]"""
    frame.stack.append(find_name(frame, frame.stack.pop(), name))


@opcode("MAKE_CELL")
def make_cell(frame, slot):
    """[] → []: the slot now holds a cell, and the cell holds the value"""
    value = frame.fast[slot]
    frame.fast[slot] = CellType() if value is NULL else CellType(value)


@opcode("COPY_FREE_VARS")
def copy_free_vars(frame, count):
    """[] → []: the function's cells go into the last slots"""
    frame.fast[-count:] = frame.closure


def _cell_content(cell, name, own):
    try:
        return cell.cell_contents
    except ValueError:
        pass  # Raised below, where no other error is being handled that would become its context.
    raise _unbound_cell(name, own)


@opcode("LOAD_DEREF", argument=cell_and_name)
def load_deref(frame, where):
    """[] → [what the cell holds]"""
    slot, name, own = where
    frame.stack.append(_cell_content(frame.fast[slot], name, own))


@opcode("STORE_DEREF")
def store_deref(frame, slot):
    """[value] → []"""
    frame.fast[slot].cell_contents = frame.stack.pop()


@opcode("DELETE_DEREF", argument=cell_and_name)
def delete_deref(frame, where):
    """[] → []"""
    slot, name, own = where
    _cell_content(frame.fast[slot], name, own)
    del frame.fast[slot].cell_contents


@opcode("LOAD_CLASSDEREF", argument=cell_and_name)
def load_classderef(frame, where):
    """[] → [value]: the class's own name first, then the enclosing function's"""
    _load_from(frame, frame.names, where)


@opcode("LOAD_FROM_DICT_OR_DEREF", argument=cell_and_name)
def load_from_dict_or_deref(frame, where):
    """[namespace] → [value]"""
    _load_from(frame, frame.stack.pop(), where)


def _load_from(frame, space, where):
    slot, name, own = where
    value = _content_of(space, name)
    if value is NULL:
        value = _cell_content(frame.fast[slot], name, own)
    frame.stack.append(value)


@opcode("SETUP_ANNOTATIONS")
def setup_annotations(frame, _):
    """[] → []"""
    if "__annotations__" not in frame.names:
        frame.names["__annotations__"] = {}
