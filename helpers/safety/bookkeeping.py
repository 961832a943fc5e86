"""What a verb notes beside a user's call: an error in it is kept, and never reaches the call."""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack


class Bookkeeping:
    """Runs what is ours beside a user's call, and keeps the errors that it raises."""

    def __init__(self):
        """Begin without errors and without open context managers."""
        #: The errors that it raised, oldest first.
        self.lost: list[Exception] = []
        self._stack = ExitStack()

    def attempt(self, act: Callable, *args, default=None):
        """Return `act(*args)`, or `default` if it raises an error."""
        try:
            return act(*args)
        except Exception as error:
            self.lost.append(error)
            return default

    def open(self, make: Callable[..., AbstractContextManager], *args, default=None):
        """Enter the context manager that `make(*args)` returns; return what it yields.

        Return `default` if that raises an error. `close` leaves the context manager.
        """
        return self.attempt(lambda: self._stack.enter_context(make(*args)), default=default)

    def close(self) -> None:
        """Leave every context manager that was entered, the last first."""
        self.attempt(self._stack.close)
