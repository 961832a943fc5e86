"""A frame of the machine -> its locals as a mapping, which follows both ways (PEP 667, 3.13)."""

from collections.abc import MutableMapping
from types import CellType

from helpers.mini.vm.values import NULL


class FrameLocalsProxy(MutableMapping):
    """Reads and writes the frame's own slots; a name that the code does not have is kept beside."""

    def __init__(self, frame):
        self._frame = frame

    def __getitem__(self, name):
        value = content(self._slot(name)) if name in self._names() else NULL
        if value is not NULL:
            return value
        return self._frame.extra_locals[name]

    def __setitem__(self, name, value):
        if name not in self._names():
            self._frame.extra_locals[name] = value
        elif type(self._slot(name)) is CellType:
            self._slot(name).cell_contents = value
        else:
            self._frame.fast[self._names().index(name)] = value

    def __delitem__(self, name):
        if name in self._names():
            raise ValueError("cannot remove local variables from FrameLocalsProxy")
        del self._frame.extra_locals[name]

    def __iter__(self):
        pairs = zip(self._names(), self._frame.fast, strict=True)
        yield from [name for name, value in pairs if content(value) is not NULL]
        yield from list(self._frame.extra_locals)

    def __len__(self):
        return sum(1 for _ in self)

    def keys(self):
        """Return a list, as CPython's does."""
        return list(self)

    def values(self):
        """Return a list, as CPython's does."""
        return [self[name] for name in self]

    def items(self):
        """Return a list, as CPython's does."""
        return [(name, self[name]) for name in self]

    def __repr__(self):
        return repr(dict(self))

    def _names(self):
        return self._frame.decoded.names

    def _slot(self, name):
        return self._frame.fast[self._names().index(name)]


def content(value):
    """Return what a slot's cell holds, or the slot's own value; NULL where there is none."""
    if type(value) is not CellType:
        return value
    try:
        return value.cell_contents
    except ValueError:
        return NULL
