"""Attributes, methods and super."""

import sys
from types import BuiltinFunctionType, MethodType, MethodWrapperType, ModuleType

from helpers.mini.vm import suspended
from helpers.mini.vm.opcodes.names import push_callable
from helpers.mini.vm.opcodes.registry import argval, opcode

# In 3.11 a method has an opcode of its own; later a bit of LOAD_ATTR says that a call follows.
METHODS_BY_BIT = sys.version_info >= (3, 12)


def attribute(instruction, code, slots):
    """Feed a handler the attribute's name, and whether a call follows."""
    return instruction.argval, METHODS_BY_BIT and bool(instruction.arg & 1)


@opcode("LOAD_ATTR", argument=attribute)
def load_attr(frame, wanted):
    """[object] → [attribute], or the two values of a method call"""
    name, with_call = wanted
    if with_call:
        load_method(frame, name)
    elif name in suspended.SHOWN and suspended.is_ours(frame.stack[-1]):
        frame.stack[-1] = suspended.shown(frame.stack[-1], name)
    else:
        frame.stack[-1] = getattr(frame.stack[-1], name)


@opcode("LOAD_METHOD", argument=argval)
def load_method(frame, name):
    """[object] → [function, object], or [NULL, attribute] (3.13: [attribute, NULL])"""
    obj = frame.stack.pop()
    found = getattr(obj, name)
    function = unbound(obj, name, found)
    if function is None:
        push_callable(frame, found, True)
    else:
        frame.stack += (function, obj)


def unbound(obj, name, found):
    """Return the function behind a method of `obj`, so that none need be bound; None if none."""
    kind = type(found)
    if kind is MethodType:
        same = found.__self__ is obj and not isinstance(obj, type)
        return found.__func__ if same else None
    if kind in (BuiltinFunctionType, MethodWrapperType) and not isinstance(obj, (type, ModuleType)):
        return getattr(type(obj), name, None) if found.__self__ is obj else None
    return None


@opcode("STORE_ATTR", argument=argval)
def store_attr(frame, name):
    """[value, object] → []"""
    obj = frame.stack.pop()
    setattr(obj, name, frame.stack.pop())


@opcode("DELETE_ATTR", argument=argval)
def delete_attr(frame, name):
    """[object] → []"""
    delattr(frame.stack.pop(), name)


def super_attribute(instruction, code, slots):
    """Feed a handler the name, whether a call follows, and whether super() had no arguments."""
    return instruction.argval, bool(instruction.arg & 1), bool(instruction.arg & 2)


@opcode("LOAD_SUPER_ATTR", argument=super_attribute)
def load_super_attr(frame, wanted):
    """[super, class, self] → [attribute], or the two values of a method call"""
    name, with_call, with_arguments = wanted
    maker, cls, obj = frame.stack[-3:]
    del frame.stack[-3:]
    if maker is super:
        found = getattr(super(cls, obj), name)
    else:
        arguments = (cls, obj) if with_arguments else ()
        found = getattr(frame.machine.call(maker, *arguments), name)
    if with_call and maker is super and type(found) is MethodType and found.__self__ is obj:
        frame.stack += (found.__func__, obj)
    else:
        push_callable(frame, found, with_call)
