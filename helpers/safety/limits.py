"""A learner's code -> the same code, which ends within a time, a room and so many characters."""

import _thread
import ctypes
import os
import signal
import sys
import threading
import time
from collections import namedtuple
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .processes import resident_bytes
from .signal_actions import SystemAction
from .users_frames import is_library

GIBIBYTE = 1 << 30
STRETCH = 3  # times the limit, of wall time, where others use the processor
LOOKS, PATIENT, AGAIN = 0.05, 1.0, 0.2  # seconds until the first look, the second press, others


# `seconds` of processor time, or of waiting; `characters` of output; `bytes` of new memory, where
# the memory of this process is known (processes.py).
Limits = namedtuple("Limits", "seconds characters bytes", defaults=(10, 100_000, GIBIBYTE))


class limited:  # noqa: N801 (used like a function)
    """Stop what runs in a `with` block once it goes past its limits; `because` says past which.

    The block is left by a KeyboardInterrupt, or by whatever the code in it made of that; the
    learner's own Ctrl-C is noted in `interrupted`.
    """

    def __init__(self, limits: Limits):
        self.because, self.interrupted = "", False
        self._limits, self._over, self._lock = limits, threading.Event(), threading.Lock()
        self._acts, self._presses = [], 0

    def __enter__(self) -> "limited":
        self._thread, self._opener = threading.get_ident(), sys._getframe(1)
        self._tracer, self._streams = sys.gettrace(), (sys.stdout, sys.stderr)
        main = threading.current_thread() is threading.main_thread()
        heard = signal.getsignal(signal.SIGINT) if main else None
        self._before = heard if callable(heard) else None
        _OPEN.append(self)
        sys.stdout, sys.stderr = (_Counted(stream, self) for stream in self._streams)
        if self._before is not None:
            self._action = SystemAction(signal.SIGINT)
            signal.signal(signal.SIGINT, self._hear)
            self._action.put_back()
        threading.Thread(target=self._watch, name="limits of a check", daemon=True).start()
        return self

    def __exit__(self, kind, error, trace) -> None:
        with self._lock:  # no press is on its way from here on
            self._over.set()
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._action.put_back()
        sys.stdout, sys.stderr = self._streams
        self._opener = None
        if self._presses > 1:
            sys.settrace(self._tracer)
        _OPEN.remove(self)

    def stop(self, because: str) -> None:
        """Say why the block is to end; it is pressed from now on."""
        self.because = self.because or because

    def _hear(self, number, frame) -> None:
        if self._over.is_set():
            return
        self.interrupted = not self.because
        if self._presses > 1:
            _stop_at_the_next_line(frame, self._opener)
        self._before(number, frame)

    def _watch(self) -> None:
        start, cpu = time.monotonic(), time.process_time()
        memory, limit = self._resident(), self._limits.seconds
        waits = {0: LOOKS, 1: PATIENT}
        while not self._over.wait(waits.get(self._presses, AGAIN)):
            used, waited = time.process_time() - cpu, time.monotonic() - start
            if used > limit or waited > limit * (STRETCH if used > limit / 10 else 1):
                self.stop(f"your code did not end within {limit:g} seconds")
            elif self._resident() - memory > self._limits.bytes:
                most = self._limits.bytes / GIBIBYTE
                self.stop(f"your code took more than {most:g} GB of memory")
            with self._lock:
                if self.because and not self._over.is_set():
                    self._press()

    def _resident(self) -> int:
        return resident_bytes(os.getpid()) or 0  # where it is unknown, it never grows

    def _press(self) -> None:
        self._presses += 1
        for act in self._acts:
            act()
        if self._before is None:
            thread, error = ctypes.c_ulong(self._thread), ctypes.py_object(KeyboardInterrupt)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, error)
        elif hasattr(signal, "pthread_kill"):  # it ends a sleep, too
            signal.pthread_kill(self._thread, signal.SIGINT)
        else:
            _thread.interrupt_main()


_OPEN: list[limited] = []


@contextmanager
def when_stopped(act: Callable[[], object]) -> Iterator[None]:
    """Call `act` if the innermost `limited` stops the block: C++ that waits hears no signal."""
    acts = _OPEN[-1]._acts if _OPEN else []
    acts.append(act)
    try:
        yield
    finally:
        acts.remove(act)


def _stop_at_the_next_line(frame, opener) -> None:
    """Raise it at the next line of a learner's code, too: in `except: pass`, the `except`."""

    def step(now, event, given):
        if event == "line" and not is_library(now.f_code.co_filename):
            raise KeyboardInterrupt
        return step

    while frame is not None and frame is not opener:
        frame.f_trace = step
        frame = frame.f_back
    sys.settrace(step)


def counted(stream):
    """Return a stream of which the innermost open `limited` counts the characters, if any is."""
    return _Counted(stream, _OPEN[-1]) if _OPEN else stream


class _Counted:
    """A stream that accepts so many characters, then stops the writer; `close` does nothing."""

    def __init__(self, stream, limit: limited):
        self._stream, self._limit, self._left = stream, limit, limit._limits.characters

    def write(self, text: str) -> int:
        self._left -= len(text)
        if self._left < 0:
            most = self._limit._limits.characters
            self._limit.stop(f"your code printed more than {most:,} characters")
            raise KeyboardInterrupt
        return self._stream.write(text)

    def close(self) -> None:
        pass

    def __getattr__(self, name):
        return getattr(self.__dict__["_stream"], name)
