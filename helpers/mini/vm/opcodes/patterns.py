"""`match`: is it a sequence, a mapping, an instance; and what are its parts."""

import sys
from collections.abc import Mapping

from helpers.mini.vm.opcodes.registry import opcode

# Bits of a type's flags, from CPython's `Include/object.h`.
MATCHES_SEQUENCE, MATCHES_MAPPING, MATCHES_SELF = 1 << 5, 1 << 6, 1 << 22


CLASS = "class" if sys.version_info >= (3, 12) else "type"


class _Nothing:
    """What a mapping gives for a key that it does not have."""


@opcode("GET_LEN")
def get_len(frame, _):
    """[subject] → [subject, its length]"""
    frame.stack.append(len(frame.stack[-1]))


@opcode("MATCH_SEQUENCE")
def match_sequence(frame, _):
    """[subject] → [subject, is it a sequence]"""
    frame.stack.append(bool(type(frame.stack[-1]).__flags__ & MATCHES_SEQUENCE))


@opcode("MATCH_MAPPING")
def match_mapping(frame, _):
    """[subject] → [subject, is it a mapping]"""
    frame.stack.append(bool(type(frame.stack[-1]).__flags__ & MATCHES_MAPPING))


@opcode("MATCH_KEYS")
def match_keys(frame, _):
    """[subject, keys] → [subject, keys, values or None]"""
    subject, keys = frame.stack[-2:]
    frame.stack.append(_values(subject, keys))


def _values(subject: Mapping, keys: tuple):
    seen, values = set(), []
    for key in keys:
        if key in seen:
            raise ValueError(f"mapping pattern checks duplicate key ({key!r})")
        seen.add(key)
        value = subject.get(key, _Nothing)
        if value is _Nothing:
            return None
        values.append(value)
    return tuple(values)


@opcode("MATCH_CLASS")
def match_class(frame, count):
    """[subject, class, keyword names] → [attributes or None]"""
    names, cls, subject = frame.stack.pop(), frame.stack.pop(), frame.stack.pop()
    frame.stack.append(_attributes(subject, cls, count, names))


def _attributes(subject, cls, count, names):
    """Return the values of `count` positional and the named patterns, or None if one is missing."""
    if not isinstance(cls, type):
        raise TypeError(f"called match pattern must be a {CLASS}")
    if not isinstance(subject, cls):
        return None
    itself, positional = _positional_names(cls, count)
    values, seen = ([subject] if itself else []), set()
    for name in (*positional, *names):
        if name in seen:
            raise TypeError(f"{cls.__name__}() got multiple sub-patterns for attribute {name!r}")
        seen.add(name)
        try:
            values.append(getattr(subject, name))
        except AttributeError:
            return None
    return tuple(values)


def _positional_names(cls, count):
    """Return (is the subject itself the one positional value, the attributes' names)."""
    if not count:
        return False, ()
    known = getattr(cls, "__match_args__", None)
    itself = known is None and bool(cls.__flags__ & MATCHES_SELF)
    if known is not None and type(known) is not tuple:
        kind = type(known).__name__
        raise TypeError(f"{cls.__name__}.__match_args__ must be a tuple (got {kind})")
    allowed = 1 if itself else len(known or ())
    if count > allowed:
        plural = "" if allowed == 1 else "s"
        raise TypeError(
            f"{cls.__name__}() accepts {allowed} positional sub-pattern{plural} ({count} given)"
        )
    positional = () if itself else (known or ())[:count]
    for name in positional:
        if type(name) is not str:
            kind = type(name).__name__
            raise TypeError(f"__match_args__ elements must be strings (got {kind})")
    return itself, positional
