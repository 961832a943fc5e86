"""`match`: is it a sequence, a mapping, an instance; and what are its parts."""

# ruff: noqa: N802 - a handler is named for its opcode

import sys
from collections.abc import Mapping

# Bits of a type's flags, from CPython's `Include/object.h`.
MATCHES_SEQUENCE, MATCHES_MAPPING, MATCHES_SELF = 1 << 5, 1 << 6, 1 << 22


CLASS = "class" if sys.version_info >= (3, 12) else "type"


class _Nothing:
    """What a mapping gives for a key that it does not have."""


class Patterns:
    """What `match` asks of its subject."""

    def GET_LEN(self):
        """[subject] → [subject, its length]"""
        self.push(len(self.stack[-1]))

    def MATCH_SEQUENCE(self):
        """[subject] → [subject, is it a sequence]"""
        self.push(bool(type(self.stack[-1]).__flags__ & MATCHES_SEQUENCE))

    def MATCH_MAPPING(self):
        """[subject] → [subject, is it a mapping]"""
        self.push(bool(type(self.stack[-1]).__flags__ & MATCHES_MAPPING))

    def MATCH_KEYS(self):
        """[subject, keys] → [subject, keys, values or None]"""
        self.push(_values(*self.stack[-2:]))

    def MATCH_CLASS(self, count):
        """[subject, class, keyword names] → [attributes or None]"""
        subject, cls, names = self.take(3)
        self.push(_attributes(subject, cls, count, names))


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
