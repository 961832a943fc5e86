"""Save and restore what the operating system stores about a signal, which Python does not show.
Each call of `signal.signal` resets it. The flag of `signal.siginterrupt` would be lost, and
settings of a C library.
"""

import ctypes

SIZE = 1024  # bytes; a `struct sigaction` has 16 on macOS and 152 on Linux
try:
    _sigaction = ctypes.CDLL(None).sigaction
except (AttributeError, OSError, TypeError):  # Windows has none
    _sigaction = None


class SystemAction:
    """A copy of the operating system's settings for one signal (`struct sigaction`).

    For the system, all Python handlers are the same C function, which then calls a Python callable.
    So the settings are still right after Python has replaced one callable by another.
    """

    def __init__(self, number: int):
        """Copy the settings for the signal `number`. On Windows nothing can be copied."""
        self._number = number
        self._action = (ctypes.c_char * SIZE)()  # copied as bytes, whatever the fields are
        self._is_read = _sigaction is not None and _sigaction(number, None, self._action) == 0

    def restore(self) -> None:
        """Give the operating system the copied settings again; do nothing if none were copied."""
        if self._is_read:
            _sigaction(self._number, self._action, None)
