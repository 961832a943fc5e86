"""A stack, variables and output before one instruction -> the panels of a step, equal ones once."""

from dataclasses import dataclass

from helpers.capture.cpython.settrace import Printed
from helpers.model.listing import Column, Listing
from helpers.model.timeline import Panel

MOST_LOCALS = 24


@dataclass(frozen=True)
class Slot:
    """One value on the stack; `place` counts from the bottom, the top says so."""

    place: str
    value: str


@dataclass(frozen=True)
class Local:
    """One local variable with the words of its value."""

    name: str
    value: str


class Panels:
    """The panels of a run. `printed` is all that it printed."""

    def __init__(self, printed: Printed):
        self._printed, self._kept = printed, {}

    def of(self, stack, names, size: int, handler: str = "", real: bool = True):
        """Return the panels of one step; `size`: characters printed so far."""
        panels = [
            self._once(_stack, stack, real),
            self._once(_names, names),
            *([Panel("on an exception", handler)] if handler else []),
        ]
        if self._printed.size:
            panels.append(self._once(self._output, size))
        return tuple(panels)

    def _once(self, make, *facts) -> Panel:
        key = (make.__name__, *facts)
        if key not in self._kept:
            self._kept[key] = make(*facts)
        return self._kept[key]

    def _output(self, size: int) -> Panel:
        return Panel("printed so far", self._printed.text(size))


def _stack(stack, real: bool) -> Panel:
    columns = (Column("place", "place"), Column("value", "value", code=True))
    rows = [Slot(str(n), words) for n, words in enumerate(stack, 1)][::-1]
    if rows:
        rows[0] = Slot(f"{rows[0].place} top", rows[0].value)
    title = "value stack" if real else "value stack (recomputed)"
    return Panel(title, Listing(title, columns, tuple(rows), "" if rows else "empty"))


def _names(names) -> Panel:
    columns = (Column("name", "name", code=True), Column("value", "value", code=True))
    rows = tuple(Local(*pair) for pair in names[:MOST_LOCALS])
    more = len(names) - len(rows)
    note = f"and {more} more" if more else "" if rows else "none yet"
    return Panel("locals", Listing("locals", columns, rows, note))
