"""What the operating system keeps of a signal, which Python cannot read: saved, and restored.

`signal.signal` sets it anew each time. So the flag of `signal.siginterrupt` is lost, and what a
library in C had set.
"""

import ctypes

SIZE = 1024  # bytes; a `struct sigaction` has 16 on macOS and 152 on Linux
try:
    _sigaction = ctypes.CDLL(None).sigaction
except (AttributeError, OSError, TypeError):  # Windows has none
    _sigaction = None


class SystemAction:
    """What the system does at a signal, as it is now.

    For the system, Python's handlers are one function in C, whichever callable that calls. So while
    Python replaces one callable by another, the system need not know of it.
    """

    def __init__(self, number: int):
        """Read what the system does at the signal of this number."""
        self._number = number
        self._action = (ctypes.c_char * SIZE)()  # nobody looks into it
        self._is_read = _sigaction is not None and _sigaction(number, None, self._action) == 0

    def restore(self) -> None:
        """Have the system do the same at the signal again; nothing where it could not be read."""
        if self._is_read:
            _sigaction(self._number, self._action, None)
