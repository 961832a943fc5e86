"""Run a recorder's own code beside a user's call, so that its errors never reach that call."""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack


class Bookkeeping:
    """Runs functions of a recorder beside a user's call, and collects the errors that they raise.

    A mistake in a recorder must not end the user's program. The recorder looks at `lost` later, and
    says that its record has a gap.
    """

    def __init__(self):
        """Begin without errors and without open context managers."""
        #: The errors that the recorder's functions raised, oldest first.
        self.lost: list[Exception] = []
        self._stack = ExitStack()

    def attempt(self, act: Callable, *args, default=None):
        """Return `act(*args)`. If that raises an error, add it to `lost` and return `default`."""
        try:
            return act(*args)
        except Exception as error:
            self.lost.append(error)
            return default

    def open(self, make: Callable[..., AbstractContextManager], *args, default=None):
        """Enter the context manager `make(*args)`, and return what its `__enter__` returns.

        If that raises an error, add it to `lost` and return `default`. `close` leaves the context
        manager.
        """
        return self.attempt(lambda: self._stack.enter_context(make(*args)), default=default)

    def close(self) -> None:
        """Leave every context manager that was entered, the last first."""
        self.attempt(self._stack.close)
