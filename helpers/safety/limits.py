"""Stop a learner's code that takes too long, uses too much memory, or prints too much.
A thread watches the code. When a limit is passed, the thread interrupts the code as Ctrl-C does.
Such an interrupt is called a *press*.
"""

import _thread
import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from .processes import resident_bytes
from .signal_actions import SystemAction
from .users_frames import is_library

GIBIBYTE = 1 << 30
# Code that computes may take this many times its limit of processor time on the clock, because
# other processes use the processor, too.
STRETCH = 3
# Seconds for which the watching thread waits:
LOOKS = 0.05  # between two looks at the limits, before the first press
PATIENT = 1.0  # from the first press to the second: most code ends after one
AGAIN = 0.2  # from each later press to the next


@dataclass(frozen=True)
class Limits:
    """How much a learner's code may use."""

    #: Seconds of processor time. Code that sleeps or waits may take as many seconds on the clock.
    seconds: float = 10
    #: Characters of output.
    characters: int = 100_000
    #: Bytes of new memory, where the memory of this process is known (processes.py).
    bytes: int = GIBIBYTE


class enforce_limits:  # noqa: N801 (used like a function)
    """A `with` block whose code is interrupted when it passes one of its limits.

    A *press* is an interrupt like that of Ctrl-C. It is repeated until the block ends, because the
    code may catch KeyboardInterrupt. The block ends with a KeyboardInterrupt, or with another error
    if the code catches that one and raises another. Then `because` says which limit was passed.
    """

    def __init__(self, limits: Limits):
        """Prepare a block with these limits; it begins at `__enter__`."""
        #: A clause on the limit that was passed, such as "your code took …"; "" if none was.
        self.passed_limit = ""
        #: Whether the learner has pressed Ctrl-C.
        self.interrupted = False
        self._limits = limits
        self._is_over = threading.Event()  # set when the block ends
        self._lock = threading.Lock()  # the block does not end during a press
        self._call_at_press: list[Callable[[], object]] = []  # the functions of `when_stopped`
        self._presses = 0  # how often the code was interrupted

    def __enter__(self) -> "enforce_limits":
        """Count what is printed, receive Ctrl-C, and start the thread that watches the limits."""
        self._thread = threading.get_ident()  # the thread to interrupt
        self._opener = sys._getframe(1)  # the frame with the `with` statement
        self._tracer = sys.gettrace()
        self._streams = (sys.stdout, sys.stderr)
        self._handler = self._find_handler()
        _open_blocks.append(self)
        sys.stdout = _CountedStream(sys.stdout, self)
        sys.stderr = _CountedStream(sys.stderr, self)
        if self._handler is not None:
            # `signal.signal` resets flags that the operating system keeps for the signal. The
            # flags are read before and written after it, so that the program finds them unchanged.
            self._action = SystemAction(signal.SIGINT)
            signal.signal(signal.SIGINT, self._receive_signal)
            self._action.restore()
        threading.Thread(target=self._watch, name="limits of a check", daemon=True).start()
        return self

    def __exit__(self, kind, error, trace) -> None:
        """End the presses, and restore the streams, the handler of Ctrl-C and the tracer."""
        with self._lock:  # waits for a press that has begun, which would else hit later code
            self._is_over.set()
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
            self._action.restore()
        sys.stdout, sys.stderr = self._streams
        self._opener = None  # or this object would keep the frame alive
        if self._presses > 1:  # `_raise_at_next_line` has replaced the tracer
            sys.settrace(self._tracer)
        _open_blocks.remove(self)

    def stop(self, because: str) -> None:
        """Note the first limit that was passed. The watching thread presses from now on.

        `because` is a clause on the limit, such as "your code printed more than … characters".
        """
        self.passed_limit = self.passed_limit or because

    def _find_handler(self) -> Callable | None:
        """Return the program's handler of Ctrl-C; None if Python cannot call one in this thread.

        Python calls handlers only in the main thread. SIG_IGN and SIG_DFL cannot be called, and a
        handler that C code has set is unknown to Python.
        """
        if threading.current_thread() is not threading.main_thread():
            return None
        handler = signal.getsignal(signal.SIGINT)
        return handler if callable(handler) else None

    def _receive_signal(self, number: int, frame: FrameType | None) -> None:
        """Handle SIGINT in the block, be it a press or the learner's Ctrl-C. Python calls this."""
        if self._is_over.is_set():
            return
        # A press comes only after a limit was passed. Otherwise it was the learner.
        self.interrupted = not self.passed_limit
        if self._presses > 1:  # the code has caught the first KeyboardInterrupt
            _raise_at_next_line(frame, self._opener)
        self._handler(number, frame)

    def _watch(self) -> None:
        """Look at the limits until the block ends, and press when one is passed. Runs in a thread.

        Code that computes is limited by its processor time, and by `STRETCH` times as much time on
        the clock. Code that uses almost no processor time, as in a sleep, is limited by the clock.
        """
        clock_start = time.monotonic()
        processor_start = time.process_time()
        memory_start = self._read_memory()
        limit = self._limits.seconds
        seconds_by_presses = {0: LOOKS, 1: PATIENT}
        while not self._is_over.wait(seconds_by_presses.get(self._presses, AGAIN)):
            processor_seconds = time.process_time() - processor_start
            clock_seconds = time.monotonic() - clock_start
            is_computing = processor_seconds > limit / 10  # else the code sleeps or waits
            clock_limit = limit * STRETCH if is_computing else limit
            if processor_seconds > limit or clock_seconds > clock_limit:
                self.stop(f"your code did not end within {limit:g} seconds")
            elif self._read_memory() - memory_start > self._limits.bytes:
                gigabytes = self._limits.bytes / GIBIBYTE
                self.stop(f"your code took more than {gigabytes:g} GB of memory")
            with self._lock:  # so that the block cannot end between the `if` and the press
                if self.passed_limit and not self._is_over.is_set():
                    self._press()

    def _read_memory(self) -> int:
        """Return how many bytes of memory this process uses; always 0 if that is unknown."""
        return resident_bytes(os.getpid()) or 0

    def _press(self) -> None:
        """Interrupt the code in the block, by a signal if this thread can receive one."""
        self._presses += 1
        for function in self._call_at_press:
            function()
        # Without a handler no signal works. So CPython is asked to raise an error in the thread.
        if self._handler is None:
            thread = ctypes.c_ulong(self._thread)
            error = ctypes.py_object(KeyboardInterrupt)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, error)
        elif hasattr(signal, "pthread_kill"):  # a real signal, which ends a sleep, too
            signal.pthread_kill(self._thread, signal.SIGINT)
        else:  # Windows
            _thread.interrupt_main()


# The open blocks, the innermost last. A check runs in one thread, so the blocks are nested.
_open_blocks: list[enforce_limits] = []


@contextmanager
def when_stopped(act: Callable[[], object]) -> Iterator[None]:
    """Call `act` at each press while this `with` block runs. The watching thread calls it.

    It is for code that waits in C++, which notices no signal: `act` ends the wait. Nothing calls
    `act` if no `enforce_limits` block is open.
    """
    call_at_press = _open_blocks[-1]._call_at_press if _open_blocks else []
    call_at_press.append(act)
    try:
        yield
    finally:
        call_at_press.remove(act)


def _raise_at_next_line(frame: FrameType | None, opener: FrameType) -> None:
    """Set a tracer that raises KeyboardInterrupt at the next line of the learner's code.

    Code such as `while True: try: … except: pass` catches the KeyboardInterrupt of a handler. The
    next line that runs is in the `except`, where nothing catches the one of this tracer.

    `frame` is the innermost frame, and `opener` the frame with the `with` statement of the block.
    """

    def raise_at_line(current_frame: FrameType, event: str, argument: object):
        """Raise at a line of the learner; return this tracer, so that CPython calls it again."""
        if event == "line" and not is_library(current_frame.f_code.co_filename):
            raise KeyboardInterrupt
        return raise_at_line

    # `settrace` traces only frames that begin later. So the frames that run already get it here.
    while frame is not None and frame is not opener:
        frame.f_trace = raise_at_line
        frame = frame.f_back
    sys.settrace(raise_at_line)


def count_characters(stream):
    """Return a stream that writes to `stream`, and whose characters count for the open block.

    The innermost `enforce_limits` block counts them. Return `stream` itself if none is open.
    """
    return _CountedStream(stream, _open_blocks[-1]) if _open_blocks else stream


class _CountedStream:
    """A stream that writes to another one, and interrupts a block that prints too much.

    Its `close` does nothing, because the other stream belongs to the learner.
    """

    def __init__(self, stream, block: enforce_limits):
        """Write to `stream`, and stop `block` after its limit of characters."""
        self._stream = stream
        self._block = block
        self._remaining = block._limits.characters

    def write(self, text: str) -> int:
        """Write text to the stream; past the limit, stop the block and raise KeyboardInterrupt."""
        self._remaining -= len(text)
        if self._remaining < 0:
            limit = self._block._limits.characters
            self._block.stop(f"your code printed more than {limit:,} characters")
            raise KeyboardInterrupt
        return self._stream.write(text)

    def close(self) -> None:
        """Do nothing."""

    def __getattr__(self, name):
        """Return any other attribute of the stream itself."""
        # `copy.copy` makes an object without `_stream`, and asks it for attributes. `self._stream`
        # would call this method again without end, and `__dict__` raises KeyError.
        return getattr(self.__dict__["_stream"], name)
