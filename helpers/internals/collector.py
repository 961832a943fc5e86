"""Tell a profiler whether Python's garbage collector runs by itself, so that it skips finalisers.

The collector starts at other moments in each run of a program. A profiler that counted the calls
that finalisers make would count differently in each run. A profiler that turned the collector off
would change the program.
"""

import gc
from functools import partial
from operator import methodcaller


class _Running(list):
    """A list that has an item while the collector runs, and is empty otherwise.

    The collector calls its callbacks with "start" and with "stop". Here both are properties:
    reading `start` appends an item, and reading `stop` empties the list. Both properties are
    written in C, so no Python code runs. Python code could fail, because the collector may start
    where the stack is full or where Ctrl-C has just been pressed.
    """

    start = property(methodcaller("append", True))
    stop = property(methodcaller("clear"))


class CollectorWatch:
    """Knows in a `with` block whether the garbage collector runs."""

    def __init__(self):
        """Make the callback for the collector. `__enter__` installs it."""
        #: Whether the program has called `gc.collect`, and that call has not ended.
        self.is_called_by_program = False
        self._running = _Running()
        # The collector calls `_callback("start", info)`, where `info` is a dict. That runs
        # `getattr(self._running, "start", info)`, and so reads the property.
        self._callback = partial(getattr, self._running)

    def __enter__(self) -> "CollectorWatch":
        """Install the callback."""
        gc.callbacks.append(self._callback)
        return self

    def __exit__(self, *error) -> None:
        """Remove the callback."""
        if self._callback in gc.callbacks:  # the program may have emptied the list
            gc.callbacks.remove(self._callback)

    def runs_by_itself(self, event: str, argument: object) -> bool:
        """Return whether the collector runs now without a call of `gc.collect` by the program.

        A profiler calls this method at each event, with the event and the argument that
        `sys.setprofile` passes to it.
        """
        if argument is gc.collect and event.startswith("c_"):
            self.is_called_by_program = event == "c_call"  # c_return and c_exception end the call
        return bool(self._running) and not self.is_called_by_program
