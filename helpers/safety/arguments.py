"""An argument of a verb -> the same argument, known to be what it must be, or one sentence.

What is asked is the real type of a thing, never what its `__class__`, `__eq__`, `__bool__` or
`__getattr__` say; so no line of its own code runs, and nothing that it could raise comes out.
"""

import functools
import os
from itertools import repeat
from types import CodeType, FunctionType, GetSetDescriptorType, MappingProxyType, MethodType

from helpers.safety.original_builtins import BUILTINS

__builtins__ = BUILTINS

LONGEST = 60
_MRO = type.__dict__["__mro__"].__get__
_NAME = type.__dict__["__name__"].__get__
_IS_SUBCLASS = type.__subclasscheck__
_SPACE = type.__dict__["__dict__"].__get__
_PROXY = MappingProxyType
_SCALARS = (int, float, bool, type(None))


def is_a(value: object, *kinds: type) -> bool:
    """Return whether the real type of `value` is one of these, or derived from one."""
    return any(map(_IS_SUBCLASS, kinds, repeat(type(value))))


def is_exactly(value: object, *kinds: type) -> bool:
    """Return whether the real type of `value` is one of these; no metaclass is asked for `==`."""
    return id(type(value)) in map(id, kinds)


def by_type(table: dict, value: object, default: object = None):
    """Return what a dict has under the real type of `value`; no metaclass is asked for a hash.

    The keys are types whose own type is `type`; for all others there is only `default`.
    """
    real = type(value)
    return table.get(real, default) if type(real) is type else default


def kind_of(value: object) -> str:
    """Return the name of the real type, printable and short."""
    return printable(_NAME(type(value)))


def printable(words: str, longest: int = LONGEST) -> str:
    """Return exact text of at most so many characters; what cannot be printed is spelled out."""
    head = str.__getitem__(words, slice(longest))
    cut = f"{head[: longest - 1]}…" if str.__len__(words) > longest else head
    if cut.isprintable():
        return cut
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut)


def shown(value: object) -> str:
    """Return a value as a sentence may quote it: a plain scalar or a text itself, else its type."""
    if is_a(value, str):
        return f"'{printable(value)}'"
    if is_exactly(value, *_SCALARS):
        small = type(value) is not int or value.bit_length() <= 64
        return repr(value) if small else "a very large int"
    return kind_of(value)


def own(value: object, name: str, default: object = None):
    """Return an attribute that is stored in the object or its classes, else `default`.

    No line of the object's or its metaclass's code is run, as `inspect.getattr_static` may. A
    property counts as nothing.
    """
    bases = _MRO(type(value))
    spaces = [_SPACE(base) for base in (_MRO(value) if is_a(value, type) else bases)]
    instance = next((s["__dict__"] for s in map(_SPACE, bases) if _is_slot(s)), None)
    if instance is not None and not is_a(value, type):
        spaces.insert(0, instance.__get__(value))
    for space in spaces:
        if name in (space if type(space) is _PROXY else dict.keys(space)):
            found = space[name] if type(space) is _PROXY else dict.__getitem__(space, name)
            return default if is_a(found, property) else found
    return default


def _is_slot(space) -> bool:
    """Return whether a class has the `__dict__` of its objects, and no code in its place."""
    return type(space.get("__dict__")) is GetSetDescriptorType


def word(value: object, what: str) -> str:
    """Return `value` if it is text, as an exact str. TypeError names `what` it should have been."""
    if type(value) is str:
        return value
    if is_a(value, str):
        return "".join(str.__getitem__(value, slice(None)))
    raise TypeError(f"{what} must be text, not {kind_of(value)}")


def count(value: object, what: str, most: int, least: int = 1) -> int:
    """Return `value` if it is an int from `least` to `most`; TypeError or ValueError if not."""
    if type(value) is not int:
        raise TypeError(f"{what} must be an int, not {kind_of(value)}")
    if not least <= value <= most:
        raise ValueError(f"{what} must be from {least:,} to {most:,}, not {shown(value)}")
    return value


def table(value: object, what: str, of: str, most: int) -> list[tuple[str, object]]:
    """Return the (name, value) pairs of a dict with names: at least one, at most so many.

    TypeError or ValueError says `what` needs it, and what it should be a dict `of`.
    """
    needed = f"{what} needs a dict: {of}"
    if not is_a(value, dict):
        raise TypeError(f"{needed}, not {kind_of(value)}")
    size = dict.__len__(value)
    if not size:
        raise TypeError(f"{needed}; this one is empty")
    if size > most:
        raise ValueError(f"{what} takes {most:,} entries at a time, not {size:,}")
    pairs = []
    for name, item in dict.items(value):
        if not is_a(name, str):
            raise TypeError(f"{needed}; a name must be text, not {kind_of(name)}")
        pairs.append((word(name, "a name"), item))
    return pairs


def switch(value: object, what: str) -> bool:
    """Return `value` if it is True or False; TypeError for anything else."""
    if value is not True and value is not False:
        raise TypeError(f"{what} must be True or False, not {shown(value)}")
    return value


def parts(case) -> list:
    """Return a case, (function, *arguments), as a list; what is no tuple is a function alone."""
    return (list(tuple.__iter__(case)) if is_a(case, tuple) else None) or [case]


def called(value: object, what: str):
    """Return `value` if it can be called, and is no class. TypeError names `what` it should be."""
    if is_a(value, type) or not callable(value):
        raise TypeError(f"{what} must be a function, not {shown(value)}")
    return alive(value, what)


def alive(value, what: str):
    """Return `value` unless calling it is known to be `deadly`. TypeError says why."""
    if why := deadly(value):
        raise TypeError(f"{what} {why}")
    return value


def deadly(fn: object) -> str:
    """Return why a call of `fn`, or a look at its source, would end the process or never end.

    "" if nothing is known: a partial that holds itself recurses in C without a check, and reading
    the source from a device never ends.
    """
    seen = set()
    while is_a(fn, functools.partial, MethodType):
        if id(fn) in seen:
            return "is a partial that holds itself, and a call of it would never end"
        seen.add(id(fn))
        fn = fn.__func__ if is_a(fn, MethodType) else _PARTIAL_FUNCTION(fn)
    if type(fn) is FunctionType and _is_no_file(fn.__code__.co_filename):
        return "is said to have its source in what is no file"
    return ""


def unwritten(fn: object) -> str:
    """Return why no source can have made this function; "" if one can.

    AutoGraph hashes a code object, and so each of its constants.
    """
    while is_a(fn, functools.partial, MethodType) and not deadly(fn):
        fn = fn.__func__ if is_a(fn, MethodType) else _PARTIAL_FUNCTION(fn)
    plain = type(fn) is not FunctionType or _is_plain(fn.__code__)
    return "" if plain else "holds a constant that no source can write"


def _is_plain(constant) -> bool:
    if type(constant) is CodeType:
        return all(map(_is_plain, constant.co_consts))
    if is_exactly(constant, tuple, frozenset):
        return all(map(_is_plain, constant))
    return is_exactly(constant, *_CONSTANTS)


_CONSTANTS = (*_SCALARS, str, bytes, complex, type(...), slice)


def _is_no_file(name: str) -> bool:
    try:
        return os.path.exists(name) and not os.path.isfile(name)
    except (OSError, ValueError):  # a name that no file can have
        return False


_PARTIAL_FUNCTION = functools.partial.__dict__["func"].__get__
