"""Whether the collector runs by itself: what finalisers call then is no call of the program's.

The collector runs at other times in each run of a program. A recorder that counts the calls of
finalisers would find two runs different because of that, and a recorder that turns the collector
off would change the program.
"""

import gc
from functools import partial
from operator import methodcaller


class _Running(list):
    """A list that has an item while the collector runs.

    The collector's callback reads `start` when it begins and `stop` when it ends, which are the
    names of the two phases. No Python code runs for that, because the collector may be called where
    the stack is full, and where an interrupt comes.
    """

    start = property(methodcaller("append", True))
    stop = property(methodcaller("clear"))


class CollectorHeard:
    """Knows in a `with` block whether the collector runs."""

    def __init__(self):
        """Make the callback for the collector; the block sets it."""
        #: Whether the program has called the collector, and that call has not ended.
        self.is_asked = False
        self._running = _Running()
        # The collector calls it with the name of a phase and a dict. So it reads the attribute of
        # `_running` of that name. `getattr` takes the dict as its default.
        self._callback = partial(getattr, self._running)

    def __enter__(self) -> "CollectorHeard":
        """Have the collector call us."""
        gc.callbacks.append(self._callback)
        return self

    def __exit__(self, *error) -> None:
        """Have the collector call us no more."""
        if self._callback in gc.callbacks:  # the program may have emptied the list
            gc.callbacks.remove(self._callback)

    def is_at_work(self, event: str, argument: object) -> bool:
        """Return whether the collector runs by itself at an event that a profiler receives."""
        if argument is gc.collect and event.startswith("c_"):
            self.is_asked = event == "c_call"
        return bool(self._running) and not self.is_asked
