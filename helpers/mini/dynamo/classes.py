"""A class, none of whose code is run -> what a name means in it, and a number that changes with it.

CPython keeps that number for its own caches: `tp_version_tag` (PyType_Modified in
Objects/typeobject.c). No name of Python gives it, so it is read from where it lies, after a trial.
"""

import contextlib
import ctypes

_PLACE = 48 * ctypes.sizeof(ctypes.c_void_p)  # in PyTypeObject: 48 words come before it
_HEAP, _IMMUTABLE = 1 << 9, 1 << 8  # Py_TPFLAGS_HEAPTYPE, Py_TPFLAGS_IMMUTABLETYPE
MISSING = object()

_mro = type.__dict__["__mro__"].__get__
_space = type.__dict__["__dict__"].__get__
_name = type.__dict__["__name__"].__get__
_flags = type.__dict__["__flags__"].__get__


def found(kind: type, name: str) -> object:
    """Return what the class, or one above it, has under a name, as it lies there; else MISSING."""
    for one in _mro(kind):
        space = _space(one)
        if name in space:
            return space[name]
    return MISSING


def name_of(kind: type) -> str:
    """Return the name of a class, whatever its metaclass says; the first letters of a long one."""
    return _name(kind)[:60]


def is_fixed(kind: type) -> bool:
    """Return whether nobody can change the class: it is a static one of C."""
    return not _flags(kind) & _HEAP or bool(_flags(kind) & _IMMUTABLE)


def version(kind: type) -> ctypes.c_uint:
    """Return a view of the class's number: `.value` is another one, or 0, once it has changed.

    That holds for its attributes, its bases and all above it. 0 now: this class has no number.
    """
    if not _NUMBERED:
        return ctypes.c_uint(0)
    return _view(kind)


def _view(kind: type) -> ctypes.c_uint:
    view = ctypes.c_uint.from_address(id(kind) + _PLACE)
    if not view.value:
        with contextlib.suppress(AttributeError):
            type.__getattribute__(kind, "no such name")  # being looked into, it gets a number
    return view


def _trial() -> bool:
    """Return whether the number lies where we think: it changes with a class, or one above it."""

    class Above:
        pass

    class Below(Above):
        pass

    view, seen = _view(Below), set()
    for change in range(3):
        if not view.value or view.value in seen or _view(Below).value != view.value:
            return False
        seen.add(view.value)
        Above.changed = change
        if view.value:
            return False
        _view(Below)
    return True


_NUMBERED = _trial()
