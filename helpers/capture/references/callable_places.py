"""What a function keeps for its calls: closure cells, defaults, the parts of a partial."""

import functools
from operator import is_

from helpers.capture.cpython.objects import instance_dict, part
from helpers.capture.references.heap import Kept
from helpers.capture.references.places import MISSING, Place
from helpers.safety.original_builtins import BUILTINS

__builtins__ = BUILTINS


class Cell(Place):
    """What a closure cell holds; every function that shares the cell sees the change."""

    __slots__ = ()

    def __init__(self, cell, name, holder):
        super().__init__("closure cell", cell, name, holder)
        if name == "__class__":
            self.reason = "super() without arguments needs it"

    @property
    def key(self):
        """One place per cell, whatever its functions call it."""
        return id(self.container), "cell_contents"

    def get(self):
        """Return the contents, MISSING where the cell is empty."""
        try:
            return self.container.cell_contents
        except ValueError:
            return MISSING

    def put(self, value) -> None:
        """Fill the cell."""
        self.container.cell_contents = value


class Default(Place):
    """A default argument: the tuple of defaults is replaced by one with another item."""

    __slots__ = ("at", "first")

    def __init__(self, function, at, kind="default argument", name="__defaults__"):
        super().__init__(kind, function, f"{name}[{at}]")
        self.at, self.first = at, Kept(self._items())

    def _items(self):
        return self.container.__defaults__

    def _replace(self, items):
        self.container.__defaults__ = items

    def get(self):
        """Return the item, MISSING where the tuple has become too short."""
        items = self._items() or ()
        return items[self.at] if self.at < len(items) else MISSING

    def put(self, value) -> None:
        """Replace the tuple; the very tuple that was there comes back with its last item."""
        items = list(self._items())
        items[self.at] = value
        first = self.first.thing
        same = len(items) == len(first) and all(map(is_, items, first))
        self._replace(first if same else tuple(items))


class PartialArgument(Default):
    """A positional argument stored in a `functools.partial`."""

    __slots__ = ()

    def __init__(self, partial, at):
        super().__init__(partial, at, "partial", "args")

    def _items(self):
        return part(functools.partial, "args", self.container)

    def _replace(self, items):
        _set_partial(self.container, part(functools.partial, "func", self.container), items)


class PartialFunction(Place):
    """The function inside a `functools.partial` (Modules/_functoolsmodule.c)."""

    __slots__ = ()

    def __init__(self, partial):
        super().__init__("partial", partial, "func")

    def get(self):
        """Return the function."""
        return part(functools.partial, "func", self.container)

    def put(self, value) -> None:
        """Replace the function, and leave the stored arguments alone."""
        _set_partial(self.container, value, part(functools.partial, "args", self.container))


def _set_partial(partial, function, arguments) -> None:
    keywords = part(functools.partial, "keywords", partial)
    state = (function, arguments, keywords, instance_dict(partial) or None)
    functools.partial.__setstate__(partial, state)
