"""Read and write what a Place refers to. A Place is one reference in the program: it is in
`place.container`, at `place.position`, such as a dict and a key, a list and an index, or a function
and the index of a default argument. Each kind of place has a reader and a writer here.

Everything goes through the methods of the built-in types, so that no code of a subclass runs. A
reader returns MISSING, or raises, if the place is gone. If Python refuses a write, the writer
raises that error and has changed nothing.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from ...safety.restoring import HiddenFromSearch
from ..cpython.objects import read_instance_dict, read_namespace
from .module_caches import find_module_cache

MISSING = HiddenFromSearch()


@dataclass(frozen=True)
class Access:
    """How the places of one kind are read and written."""

    #: `read(place)` returns what the place refers to.
    read: Callable
    #: `write(place, value)` makes it refer to `value`.
    write: Callable


def _read_dict(place) -> object:
    return dict.__getitem__(place.container, place.position)


def _write_dict(place, value: object) -> None:
    dict.__setitem__(place.container, place.position, value)


def _write_module(place, value: object) -> None:
    """Write a global name of a module.

    A module that TensorFlow wraps has up to three copies of a name: in the dict of the wrapper, in
    the dict of the wrapped module, and in a cache in C. All of them are written.
    """
    name = place.position
    dict.__setitem__(place.container, name, value)
    cache = find_module_cache(place.holder)
    if cache is None:
        return
    dict.__setitem__(read_namespace(cache.wrapped), name, value)
    if not cache.has(name):
        return
    if place.was_cached:
        cache.insert(name, value)
    else:  # the cache had no such name when the place was found, so it is left without one
        cache.pop(name)


def _read_cache(place) -> object:
    """Return what TensorFlow's cache of a module has under a name; MISSING if it has nothing."""
    cache = find_module_cache(place.container)
    return cache.get(place.position) if cache.has(place.position) else MISSING


def _write_cache(place, value: object) -> None:
    find_module_cache(place.container).insert(place.position, value)


def _read_class(place) -> object:
    """Return an attribute of a class; of a static or class method, the function in it.

    `place.wrapper` is `staticmethod`, `classmethod` or None.
    """
    value = vars(place.container)[place.position]
    if place.wrapper is not None and type(value) is place.wrapper:
        return value.__func__
    return value


def _write_class(place, value: object) -> None:
    """Assign an attribute of a class, in a new static or class method if it was in one."""
    # A new wrapper is assigned. If the old one were changed in place, the version of the class
    # would stay the same, and CPython's specialised instructions would use what they have cached.
    wrapped = value if place.wrapper is None else place.wrapper(value)
    type.__setattr__(place.container, place.position, wrapped)


def _read_list(place) -> object:
    return list.__getitem__(place.container, place.position)


def _write_list(place, value: object) -> None:
    list.__setitem__(place.container, place.position, value)


def _read_deque(place) -> object:
    return deque.__getitem__(place.container, place.position)


def _write_deque(place, value: object) -> None:
    deque.__setitem__(place.container, place.position, value)


def _read_member(place) -> object:
    """Return the member of a set, which is its own position; MISSING if it is no member now."""
    return place.position if place.position in place.container else MISSING


def _write_member(place, value: object) -> None:
    """Replace a member of a set by `value`. The position of such a place is the member itself."""
    set.add(place.container, value)
    set.discard(place.container, place.position)
    place.position = value


def _read_cell(place) -> object:
    return place.container.cell_contents


def _write_cell(place, value: object) -> None:
    place.container.cell_contents = value


def _read_default(place) -> object:
    return place.container.__defaults__[place.position]


def _write_default(place, value: object) -> None:
    """Give a function another tuple of defaults, because a tuple cannot be changed."""
    defaults = list(place.container.__defaults__)
    defaults[place.position] = value
    place.container.__defaults__ = tuple(defaults)


def _read_partial(place) -> object:
    return place.container.func


def _write_partial(place, value: object) -> None:
    """Give a partial another function; only `__setstate__` can (Modules/_functoolsmodule.c)."""
    holder = place.container
    state = (value, holder.args, holder.keywords, read_instance_dict(holder) or None)
    partial.__setstate__(holder, state)


_DICT_ACCESS = Access(_read_dict, _write_dict)
_ACCESS_BY_KIND = {
    "module attribute": Access(_read_dict, _write_module),
    "class attribute": Access(_read_class, _write_class),
    "set member": Access(_read_member, _write_member),
    "list item": Access(_read_list, _write_list),
    "deque item": Access(_read_deque, _write_deque),
    "closure cell": Access(_read_cell, _write_cell),
    "default argument": Access(_read_default, _write_default),
    "partial": Access(_read_partial, _write_partial),
    "C-level cache": Access(_read_cache, _write_cache),
}


def find_access(kind: str) -> Access:
    """Return how the places of a kind are read and written; all other kinds are in a dict."""
    return _ACCESS_BY_KIND.get(kind, _DICT_ACCESS)
