"""Whether the collector runs by itself: what finalisers call then is no call of the program's.

It runs at other times in each run. A recorder that counts what it starts would tell one run from
another by that, and a recorder that turns it off would change the program.
"""

import gc
from functools import partial
from operator import methodcaller


class _Running(list):
    """Has an item while the collector runs, which reads one of these attributes at each end.

    No Python code runs for that: the collector may be called where the stack is full, and where an
    interrupt comes.
    """

    start = property(methodcaller("append", True))
    stop = property(methodcaller("clear"))


class CollectorHeard:
    """Hears in a `with` block when the collector runs; `is_asked`: the program has called it."""

    def __init__(self):
        self.is_asked, self._running = False, _Running()
        self._callback = partial(getattr, self._running)

    def __enter__(self) -> "CollectorHeard":
        gc.callbacks.append(self._callback)
        return self

    def __exit__(self, *error) -> None:
        if self._callback in gc.callbacks:
            gc.callbacks.remove(self._callback)

    def is_at_work(self, event: str, argument: object) -> bool:
        """Return whether the collector runs by itself at an event that a profiler hears."""
        if argument is gc.collect and event.startswith("c_"):
            self.is_asked = event == "c_call"
        return bool(self._running) and not self.is_asked
