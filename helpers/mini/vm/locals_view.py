"""A frame of the machine -> its locals as a mapping, which follows both ways (PEP 667, 3.13)."""

from collections.abc import MutableMapping

from helpers.internals.interpreter_frame import variables
from helpers.mini.vm.values import NULL


class FrameLocalsProxy(MutableMapping):
    """Reads and writes the frame's own slots; a name that the code does not have is kept beside."""

    def __init__(self, frame):
        self._frame = frame

    def __getitem__(self, name):
        value = self._frame.value_of_slot(name) if name in self._names() else NULL
        return self._frame.extra_locals[name] if value is NULL else value

    def __setitem__(self, name, value):
        if name not in self._names():
            self._frame.extra_locals[name] = value
        elif name in self._frame.cells:
            self._frame.cells[name].cell_contents = value
        else:
            self._frame.local[name] = value

    def __delitem__(self, name):
        if name in self._names():
            raise ValueError("cannot remove local variables from FrameLocalsProxy")
        del self._frame.extra_locals[name]

    def __iter__(self):
        yield from [n for n in self._names() if self._frame.value_of_slot(n) is not NULL]
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
        return variables(self._frame.code)
