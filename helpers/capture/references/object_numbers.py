"""Objects met in the moments of one run -> a number each, the same from moment to moment."""

from helpers.safety.original_builtins import BUILTINS

__builtins__ = BUILTINS  # those of the interpreter may be patched when this runs


class Numbers:
    """Tells objects apart by identity, over many moments, and keeps none of them alive.

    An object has its number for as long as it is met in every moment. Two objects share one if, in
    between two moments, the first is freed and the second, of the same type, gets its memory.
    """

    def __init__(self):
        self._count = 0
        self._before: dict[int, tuple[type, int]] = {}
        self._now: dict[int, tuple[type, int]] = {}

    def next_moment(self):
        """Begin another moment: whoever calls keeps what it meets in it alive until the next."""
        self._before, self._now = self._now, {}

    def of(self, value: object) -> int:
        """Return the number of an object, from 1."""
        known = self._now.get(id(value)) or self._before.get(id(value))
        if known is None or known[0] is not type(value):
            self._count += 1
            known = type(value), self._count
        self._now[id(value)] = known
        return known[1]
