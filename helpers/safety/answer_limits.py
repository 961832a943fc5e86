"""A block of code -> the same block, which ends within a time, a room and a number of characters.

What goes on for too long is pressed to stop as by Ctrl-C, so that all that is guarded against
Ctrl-C is guarded here: what must be put back is put back, and a framework at work is not cut in
two. What catches the interrupt and goes on is stopped where it no longer catches.
"""

import dis
import os
import signal
import sys
import threading
from _signal import SIGINT
from _signal import signal as set_handler
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from ctypes import c_ulong, py_object, pythonapi
from dataclasses import dataclass
from time import monotonic, sleep

from helpers.safety.code_places import HOUSE, LIBRARIES, STANDARD
from helpers.safety.interrupts import handler, in_main_thread
from helpers.safety.original_builtins import BUILTINS
from helpers.safety.output import Shielded, outliving
from helpers.safety.process_usage import Usage, children, limit_address_space, set_address_space
from helpers.safety.with_blocks import Block

__builtins__ = BUILTINS

GIBIBYTE = 1 << 30
LOOKS = 0.05  # seconds between two looks at the clock and the memory
LATELY = 2.0  # seconds in which whoever used no processor is taken to sleep
IDLE = 0.05  # share of a processor
STRETCH = 3  # times the limit, of wall time, where nobody else is at work
AGAIN = 0.5  # seconds between two presses
PATIENT = 2.0  # seconds in which the house may end what it does
_STANDARD = (*STANDARD, "<frozen ")


@dataclass
class Limits:
    """`seconds` of processor time, or of waiting; `characters` of output; `bytes` of new memory."""

    seconds: float = 10
    characters: int = 100_000
    bytes: int = GIBIBYTE


def _others() -> float:
    """Return by how much the machine is slowed down: it is nobody's fault who is being judged."""
    try:
        return max(1, os.getloadavg()[0] / (os.cpu_count() or 1))
    except (AttributeError, OSError):  # not on Windows
        return 1


class limited(Block):  # noqa: N801 (used like a function)
    """Stop what runs in a `with` block once it goes past its limits; `because` says past which.

    The block is left by a KeyboardInterrupt, or by whatever the code in it made of that: whoever
    opened the block asks `because` to tell it from the learner's own Ctrl-C. In the main thread
    everything can be stopped that looks for signals; elsewhere everything that runs Python code.
    """

    def __init__(self, limits: Limits):
        self.because = ""
        self._limits, self._ended, self._lock = limits, False, threading.Lock()
        self._thread, self._before, self._tracer = None, None, None
        self._since, self._presses, self._wall = 0.0, 0, None
        self._opener = None
        self._on_its_way = False  # a press that has not been heard yet
        self._children, self._acts, self.interrupted = frozenset(), [], False

    def begin(self, plan) -> "limited":
        """Hear Ctrl-C first, count what is printed, set the system's limit; watch."""
        self._thread, self._tracer = threading.get_ident(), sys.gettrace()
        self._opener = sys._getframe(2)  # who has the `with` block, under Block.__enter__
        self._children = children()
        try:
            self._wall = limit_address_space(self._limits.bytes)
            sys.stdout, sys.stderr = (
                outliving(_Counted(each, self)) for each in (sys.stdout, sys.stderr)
            )
            if in_main_thread():
                self._before = handler()
                if self._before is not None:
                    set_handler(SIGINT, self._heard)
            _OPEN.append(self)
            threading.Thread(target=self._watch, name="limits of a check", daemon=True).start()
        except BaseException:
            self.end(None, None)
            raise
        return self

    def end(self, kind, error) -> None:
        """Put back what was changed, if it was."""
        with self._lock:
            self._ended = True
        for _ in range(100):  # or it would be heard when nobody expects it any more
            if not self._on_its_way:
                break
            sleep(0.001)
        if self in _OPEN:
            _OPEN.remove(self)
        self._opener = None
        set_address_space(self._wall)
        for name in ("stdout", "stderr"):
            stream = getattr(sys, name)
            if type(stream) is _Counted and stream.limit is self:
                setattr(sys, name, stream.behind)
        if self._presses > 1:
            sys.settrace(self._tracer)
        if self._before is not None:
            set_handler(SIGINT, self._before)  # the C function first hands over what is pending
        if kind is not None and issubclass(kind, MemoryError) and not self.because:
            self.because = _took(self._limits.bytes)

    def stop(self, because: str) -> None:
        """Say why the block is to end; it is pressed from now on."""
        if not self.because:
            self._since, self.because = monotonic(), because

    # -- in the thread of the block

    def _heard(self, number, frame) -> None:
        self._on_its_way = False
        if not self.because:  # the learner's own Ctrl-C
            self.interrupted = True
            self._before(number, frame)
        elif not self._ended and not self._too_early(frame):
            if self._presses > 1:
                _stop_where_nothing_catches(frame, self._opener)
            self._before(number, frame)

    def _too_early(self, frame) -> bool:
        """Tell whether the house is at work, which is to end what it does, if that is soon."""
        if frame is not None and frame.f_code in _OWN:
            return True
        if monotonic() - self._since > PATIENT:
            return False
        while frame is not None and frame.f_code.co_filename.startswith(_STANDARD):
            frame = frame.f_back
        return frame is not None and frame.f_code.co_filename.startswith(HOUSE)

    # -- in a thread of its own

    def _watch(self) -> None:
        start = Usage()
        looks, pressed = [start], start.wall
        while not self._ended:
            with suppress(Exception):  # as where the block has taken all memory: look again
                threading.Event().wait(LOOKS)
                now = Usage()
                looks = [look for look in looks if now.wall - look.wall <= LATELY] + [now]
                if not self.because:
                    self._judge(now, start, looks[0])
                elif now.wall - pressed > AGAIN or not self._presses:
                    pressed = now.wall
                    self._press()

    def _judge(self, now: Usage, start: Usage, before: Usage) -> None:
        limit, wall, lately = self._limits.seconds, now.wall - start.wall, now.wall - before.wall
        idle = wall > limit and now.cpu - before.cpu < IDLE * lately
        asleep = idle and not children() - self._children  # those have limits of their own
        if now.cpu - start.cpu > limit or asleep or wall > limit * STRETCH * _others():
            self.stop(f"your code did not end within {limit:g} seconds")
        elif now.bytes - start.bytes > self._limits.bytes:
            self.stop(_took(self._limits.bytes))

    def _press(self) -> None:
        self._presses += 1
        with self._lock:
            if not self._ended:
                for act in self._acts:
                    act()
                self._on_its_way = self._before is not None
                self._interrupt()

    def _interrupt(self) -> None:
        if self._before is None:
            pythonapi.PyThreadState_SetAsyncExc(c_ulong(self._thread), py_object(KeyboardInterrupt))
        elif hasattr(signal, "pthread_kill"):  # it ends a sleep, too
            signal.pthread_kill(self._thread, SIGINT)
        else:
            signal.raise_signal(SIGINT)


_OPEN: list[limited] = []


@contextmanager
def when_stopped(act: Callable[[], object]) -> Iterator[None]:
    """Call `act`, in another thread, if the innermost open `limited` stops what runs in the block.

    For what waits in C++, where no signal comes; the block is pressed all the same.
    """
    acts = _OPEN[-1]._acts if _OPEN else []
    acts.append(act)
    try:
        yield
    finally:
        acts.remove(act)


def _stop_where_nothing_catches(frame, opener) -> None:
    """Raise KeyboardInterrupt at the next line of a learner's code that stands in no `try`.

    For code that catches every interrupt, such as `while True: try: … except BaseException: pass`:
    there, that is the line of the `except`. The `opener` of the block is left alone: raised at its
    line of the `with`, nothing would end the block.
    """

    def step(now, event, given):
        code = now.f_code
        theirs = not code.co_filename.startswith((HOUSE, *_STANDARD, *LIBRARIES))
        if event == "line" and theirs and not _catches(code, now.f_lasti):
            raise KeyboardInterrupt
        return step

    while frame is not None and frame is not opener:
        frame.f_trace = step
        frame = frame.f_back
    sys.settrace(step)


def _catches(code, at: int) -> bool:
    """Tell whether an instruction stands in a `try`. What only cleans up keeps the offset."""
    entries = dis.Bytecode(code).exception_entries
    return any(entry.start <= at < entry.end and not entry.lasti for entry in entries)


def counted(stream):
    """Return a stream of which the innermost open `limited` counts the characters, if any is."""
    return outliving(_Counted(stream, _OPEN[-1])) if _OPEN else stream


class _Counted(Shielded):
    """A stream that takes so many characters, and then stops whoever writes to it."""

    def __init__(self, stream, limit: limited):
        super().__init__(stream)
        self.behind, self.limit, self._left = stream, limit, limit._limits.characters

    def write(self, text: str) -> int:
        """Write to the stream; KeyboardInterrupt, again and again, once it is too much."""
        self._left -= len(text)
        if self._left < 0:
            most = self.limit._limits.characters
            self.limit.stop(f"your code printed more than {most:,} characters")
            raise KeyboardInterrupt
        return super().write(text)


def _took(many: int) -> str:
    return f"your code took more than {many / GIBIBYTE:g} GB of memory"


_OWN = frozenset(
    function.__code__
    for function in (
        *(Block.__enter__, Block.__exit__),
        *(limited.begin, limited.end, limited.stop, limited._heard),
    )
)
