"""A learner's code -> the same code, which ends within a time, a room and so many characters."""

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
# Code that computes may take this many times its limit on the clock, because other processes use
# the processor, too.
STRETCH = 3
# A press is an interrupt that the watching thread sends to the code. Seconds that it waits:
LOOKS = 0.05  # from one look at the limits to the next, while it has not pressed
PATIENT = 1.0  # from the first press to the second: most code ends after one
AGAIN = 0.2  # from each later press to the next


@dataclass(frozen=True)
class Limits:
    """How much a learner's code may use."""

    #: Seconds of processor time, or of waiting.
    seconds: float = 10
    #: Characters of output.
    characters: int = 100_000
    #: Bytes of new memory, where the memory of this process is known (processes.py).
    bytes: int = GIBIBYTE


class limited:  # noqa: N801 (used like a function)
    """Stop what runs in a `with` block once it goes past its limits.

    A press is an interrupt like Ctrl-C. It is repeated until the block ends, because the code in it
    may catch a KeyboardInterrupt. The block is left by a KeyboardInterrupt, or by whatever the code
    made of that.
    """

    def __init__(self, limits: Limits):
        """Prepare to hold code to these limits; the block begins at `__enter__`."""
        #: Past which limit the code went, in a clause, or "".
        self.because = ""
        #: Whether the learner has pressed Ctrl-C.
        self.interrupted = False
        self._limits = limits
        self._is_over = threading.Event()
        self._lock = threading.Lock()  # nobody presses while the block ends
        self._call_at_press: list[Callable[[], object]] = []  # what `when_stopped` was given
        self._presses = 0  # how many there were

    def __enter__(self) -> "limited":
        """Count what is printed, receive Ctrl-C, and start the thread that watches the limits."""
        self._thread = threading.get_ident()  # the one that is interrupted
        self._opener = sys._getframe(1)  # the frame that has the `with`
        self._tracer = sys.gettrace()
        self._streams = (sys.stdout, sys.stderr)
        self._handler = self._find_handler()
        _open_blocks.append(self)
        sys.stdout = _CountedStream(sys.stdout, self)
        sys.stderr = _CountedStream(sys.stderr, self)
        if self._handler is not None:
            # `signal.signal` also resets flags of the system's. They are read before and written
            # after, so that the program finds them unchanged.
            self._action = SystemAction(signal.SIGINT)
            signal.signal(signal.SIGINT, self._receive_signal)
            self._action.restore()
        threading.Thread(target=self._watch, name="limits of a check", daemon=True).start()
        return self

    def __exit__(self, kind, error, trace) -> None:
        """End the presses, and restore the streams, the handler of Ctrl-C and the tracer."""
        with self._lock:  # a press that has begun ends first: a later one would hit other code
            self._is_over.set()
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
            self._action.restore()
        sys.stdout, sys.stderr = self._streams
        self._opener = None  # or this object would keep the frame alive
        if self._presses > 1:  # `_raise_at_next_line` has set another
            sys.settrace(self._tracer)
        _open_blocks.remove(self)

    def stop(self, because: str) -> None:
        """Note past which limit the code went; the watching thread presses from now on."""
        self.because = self.because or because

    def _find_handler(self) -> Callable | None:
        """Return the program's handler of Ctrl-C, if Python runs one in this thread, else None.

        Python runs handlers in the main thread alone. SIG_IGN, SIG_DFL and a handler that C has set
        cannot be called.
        """
        if threading.current_thread() is not threading.main_thread():
            return None
        handler = signal.getsignal(signal.SIGINT)
        return handler if callable(handler) else None

    def _receive_signal(self, number: int, frame: FrameType | None) -> None:
        """Handle SIGINT in the block: a press, or the learner's Ctrl-C. Python calls this."""
        if self._is_over.is_set():
            return
        self.interrupted = not self.because  # a press comes only after a limit was passed
        if self._presses > 1:  # the code has caught the first KeyboardInterrupt
            _raise_at_next_line(frame, self._opener)
        self._handler(number, frame)

    def _watch(self) -> None:
        """Look at the limits until the block ends, and press once one is passed. Runs in a thread.

        The limit of time counts processor time. Where the code uses almost none, as in a sleep, it
        counts time on the clock; else the clock may go on for `STRETCH` times the limit, because
        other processes use the processor, too.
        """
        clock_start = time.monotonic()
        processor_start = time.process_time()
        memory_start = self._read_memory()
        limit = self._limits.seconds
        seconds_by_presses = {0: LOOKS, 1: PATIENT}
        while not self._is_over.wait(seconds_by_presses.get(self._presses, AGAIN)):
            used = time.process_time() - processor_start
            passed = time.monotonic() - clock_start
            is_computing = used > limit / 10  # else it sleeps or waits
            clock_limit = limit * STRETCH if is_computing else limit
            if used > limit or passed > clock_limit:
                self.stop(f"your code did not end within {limit:g} seconds")
            elif self._read_memory() - memory_start > self._limits.bytes:
                gigabytes = self._limits.bytes / GIBIBYTE
                self.stop(f"your code took more than {gigabytes:g} GB of memory")
            with self._lock:  # the block cannot end between the question and the press
                if self.because and not self._is_over.is_set():
                    self._press()

    def _read_memory(self) -> int:
        """Return how many bytes this process takes; always 0, which never grows, if unknown."""
        return resident_bytes(os.getpid()) or 0

    def _press(self) -> None:
        """Interrupt the code in the block: by a signal where that works, else by an error."""
        self._presses += 1
        for call in self._call_at_press:
            call()
        if self._handler is None:  # no signal reaches the thread: the interpreter raises in it
            thread = ctypes.c_ulong(self._thread)
            error = ctypes.py_object(KeyboardInterrupt)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, error)
        elif hasattr(signal, "pthread_kill"):  # a real signal, which ends a sleep, too
            signal.pthread_kill(self._thread, signal.SIGINT)
        else:  # Windows
            _thread.interrupt_main()


# The blocks that are open, the innermost last. A check runs in one thread, so they are nested.
_open_blocks: list[limited] = []


@contextmanager
def when_stopped(act: Callable[[], object]) -> Iterator[None]:
    """Call `act` if the innermost `limited` stops the block: C++ that waits notices no signal.

    The thread of `limited` calls it at each press. Without an open `limited` nothing calls it.
    """
    call_at_press = _open_blocks[-1]._call_at_press if _open_blocks else []
    call_at_press.append(act)
    try:
        yield
    finally:
        call_at_press.remove(act)


def _raise_at_next_line(frame: FrameType | None, opener: FrameType) -> None:
    """Set a tracer that raises KeyboardInterrupt at the next line of a learner's code, too.

    Code such as `while True: try: … except: pass` catches the one that a handler raises. Its next
    line is in the `except`, where nothing catches the second one. `frame` is the innermost frame,
    and `opener` the frame that opened the block.
    """

    def raise_at_line(current_frame: FrameType, event: str, argument: object):
        if event == "line" and not is_library(current_frame.f_code.co_filename):
            raise KeyboardInterrupt
        return raise_at_line

    # `settrace` traces only frames that begin later, so those that run get the tracer here.
    while frame is not None and frame is not opener:
        frame.f_trace = raise_at_line
        frame = frame.f_back
    sys.settrace(raise_at_line)


def count_characters(stream):
    """Return a stream of which the innermost open `limited` counts the characters, if any is."""
    return _CountedStream(stream, _open_blocks[-1]) if _open_blocks else stream


class _CountedStream:
    """A stream that accepts so many characters, then stops the writer.

    Its `close` does nothing: the stream that it stands for is the learner's.
    """

    def __init__(self, stream, block: limited):
        """Stand for `stream`, and stop `block` after its limit of characters."""
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
        # By `__dict__`: a copy that is being made has no `_stream` yet, and would look here again.
        return getattr(self.__dict__["_stream"], name)
