"""Ctrl-C while a verb is at work -> a KeyboardInterrupt in the user's code, not in a recorder.

A recorder's code runs between any two lines of the user's: in a tracer, in a callback from C. An
exception there would end the recorder, leave its record in the middle of a change, or be lost. So
an interrupt that comes there waits until the user's code runs on, but no longer than `PATIENCE`.
"""

import _thread
import signal
import threading
import time
from types import CodeType, FrameType

from .users_frames import is_machinery, is_users

PATIENCE, AGAIN = 0.5, 0.002  # seconds that an interrupt waits; between two tries
# Code that C calls and that must not be left by an exception: C has no place for it.
CALLED_BY_C: set[CodeType] = set()


class in_users_code:  # noqa: N801 (used like a function)
    """A `with` block in which Ctrl-C is raised where code of the user's runs.

    Nothing is changed in another thread than the main one, or where somebody else hears the signal.
    `pending`: an interrupt still waited when the block ended.
    """

    def __init__(self):
        self.pending, self._until, self._is_on = False, 0.0, False
        self._lock = threading.Lock()

    def __enter__(self) -> "in_users_code":
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._main = threading.get_ident()
            signal.signal(signal.SIGINT, self._hear)
            self._is_on = True
        return self

    def __exit__(self, kind, error, trace) -> None:
        if self._is_on:
            with self._lock:  # no press is on its way from here on
                self._is_on = False
            signal.signal(signal.SIGINT, signal.default_int_handler)  # first it hears what came

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if not self._is_on:
            self.pending = True
            return
        if not self.pending:
            self._until = time.monotonic() + PATIENCE
        waits = time.monotonic() < self._until or (frame and frame.f_code in CALLED_BY_C)
        if waits and _is_at_work(frame):
            if not self.pending:
                self.pending = True
                _thread.start_new_thread(self._press_again, ())  # no lock of `threading` is taken
            return
        self.pending = False
        raise KeyboardInterrupt

    def _press_again(self) -> None:
        while True:
            time.sleep(AGAIN)
            with self._lock:
                if not (self.pending and self._is_on):
                    return
                if hasattr(signal, "pthread_kill"):  # it ends a sleep, too
                    signal.pthread_kill(self._main, signal.SIGINT)
                else:
                    _thread.interrupt_main()


def _is_at_work(frame: FrameType | None) -> bool:
    """Return whether this frame is a verb's, or a library's that a verb has called."""
    while frame is not None:
        if is_machinery(frame):
            return True
        if is_users(frame):
            return False
        frame = frame.f_back
    return False
