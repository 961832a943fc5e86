"""A block of code -> the same block, which ends within a time, a room and a number of characters.

What goes on for too long is pressed to stop as by Ctrl-C, so that all that is guarded against
Ctrl-C is guarded here: what must be put back is put back, and a framework at work is not cut in
two. What catches the interrupt and goes on is stopped where it no longer catches.
"""

import dis
import os
import signal
import sys
import sysconfig
import threading
from _signal import SIGINT
from _signal import signal as set_handler
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from ctypes import c_ulong, py_object, pythonapi
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, process_time, sleep

import psutil

from helpers.safety.interrupts import handler, in_main_thread
from helpers.safety.original_builtins import BUILTINS
from helpers.safety.output import Shielded

__builtins__ = BUILTINS

CHARACTERS = 100_000
GIBIBYTE = 1 << 30
LOOKS = 0.05  # seconds between two looks at the clock and the memory
LATELY = 2.0  # seconds in which whoever used no processor is taken to sleep
IDLE = 0.05  # share of a processor
STRETCH = 3  # times the limit, of wall time: a busy machine is slow, and nobody's fault
AGAIN = 0.5  # seconds between two presses
PATIENT = 2.0  # seconds in which the house may end what it does
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_PLACES = sysconfig.get_paths()
_STANDARD = tuple(_PLACES[name] + os.sep for name in ("stdlib", "platstdlib")) + ("<frozen ",)
_LIBRARIES = tuple(_PLACES[name] + os.sep for name in ("purelib", "platlib"))
_HOUSE = str(Path(__file__).parents[1]) + os.sep


@dataclass
class Limits:
    """`seconds` of processor time, or of waiting; `characters` of output; `bytes` of new memory."""

    seconds: float = 10
    characters: int = CHARACTERS
    bytes: int = GIBIBYTE


class limited:  # noqa: N801 (used like a function)
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
        self._on_its_way = False  # a press that has not been heard yet
        self._children, self._acts, self.interrupted = frozenset(), [], False

    def __enter__(self) -> "limited":
        self._thread, self._tracer = threading.get_ident(), sys.gettrace()
        if in_main_thread():
            self._before = handler()
            if self._before is not None:
                set_handler(SIGINT, self._heard)
        sys.stdout, sys.stderr = (_Counted(each, self) for each in (sys.stdout, sys.stderr))
        self._children = _children()
        self._wall = _address_space(self._limits.bytes)
        _OPEN.append(self)
        threading.Thread(target=self._watch, name="limits of a check", daemon=True).start()
        return self

    def __exit__(self, kind, error, trace) -> None:
        with self._lock:
            self._ended = True
        for _ in range(100):  # or it would be heard when nobody expects it any more
            if not self._on_its_way:
                break
            sleep(0.001)
        _OPEN.remove(self)
        _set_address_space(self._wall)
        for name in ("stdout", "stderr"):
            stream = getattr(sys, name)
            if type(stream) is _Counted and stream.limit is self:
                setattr(sys, name, stream.behind)
        if self._presses > 1:
            sys.settrace(self._tracer)
        before, self._before = self._before, None
        if before is not None:
            set_handler(SIGINT, before)  # the C function first hands over what is pending
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
                _stop_where_nothing_catches(frame)
            self._before(number, frame)

    def _too_early(self, frame) -> bool:
        """Tell whether the house is at work, which is to end what it does, if that is soon."""
        if frame is not None and frame.f_code in _OWN:
            return True
        if monotonic() - self._since > PATIENT:
            return False
        while frame is not None and frame.f_code.co_filename.startswith(_STANDARD):
            frame = frame.f_back
        return frame is not None and frame.f_code.co_filename.startswith(_HOUSE)

    # -- in a thread of its own

    def _watch(self) -> None:
        start = _Usage()
        looks, pressed = [start], start.wall
        while not self._ended:
            with suppress(Exception):  # as where the block has taken all memory: look again
                threading.Event().wait(LOOKS)
                now = _Usage()
                looks = [look for look in looks if now.wall - look.wall <= LATELY] + [now]
                if not self.because:
                    self._judge(now, start, looks[0])
                elif now.wall - pressed > AGAIN or not self._presses:
                    pressed = now.wall
                    self._press()

    def _judge(self, now: "_Usage", start: "_Usage", before: "_Usage") -> None:
        limit, wall, lately = self._limits.seconds, now.wall - start.wall, now.wall - before.wall
        idle = wall > limit and now.cpu - before.cpu < IDLE * lately
        asleep = idle and not _children() - self._children  # those have limits of their own
        if now.cpu - start.cpu > limit or asleep or wall > STRETCH * limit:
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


def _stop_where_nothing_catches(frame) -> None:
    """Raise KeyboardInterrupt at the next line of a learner's code that stands in no `try`.

    For code that catches every interrupt, such as `while True: try: … except BaseException: pass`:
    there, that is the line of the `except`.
    """

    def step(now, event, given):
        code = now.f_code
        theirs = not code.co_filename.startswith((_HOUSE, *_STANDARD, *_LIBRARIES))
        if event == "line" and theirs and not _catches(code, now.f_lasti):
            raise KeyboardInterrupt
        return step

    while frame is not None:
        frame.f_trace = step
        frame = frame.f_back
    sys.settrace(step)


def _catches(code, at: int) -> bool:
    """Tell whether an instruction stands in a `try`. What only cleans up keeps the offset."""
    entries = dis.Bytecode(code).exception_entries
    return any(entry.start <= at < entry.end and not entry.lasti for entry in entries)


class _Usage:
    """What this process has used by now: processor time, memory."""

    __slots__ = ("bytes", "cpu", "wall")

    def __init__(self):
        self.wall, self.cpu, self.bytes = monotonic(), process_time(), _memory()[1]


def _memory() -> tuple[int, int]:
    """Return the address space and the memory that this process has, in bytes."""
    try:  # psutil would look itself up in sys.modules, which an answer may have changed
        with open("/proc/self/statm") as file:
            most, resident, *_ = map(int, file.read().split())
        return most * _PAGE, resident * _PAGE
    except OSError:
        found = psutil.Process().memory_info()
        return found.vms, found.rss


def _children() -> frozenset[str]:
    try:
        tasks = Path("/proc/self/task")
        return frozenset(p for t in tasks.iterdir() for p in (t / "children").read_text().split())
    except OSError:
        return frozenset(str(child.pid) for child in psutil.Process().children())


class _Counted(Shielded):
    """A stream that takes so many characters, and then stops whoever writes to it."""

    def __init__(self, stream, limit: limited):
        super().__init__(stream)
        self.behind, self.limit, self._left = stream, limit, limit._limits.characters

    def write(self, text: str) -> int:
        """Write to the stream; KeyboardInterrupt, again and again, once it is too much."""
        self._left -= len(text)
        if self._left < 0:
            self.limit.stop(f"your code printed more than {CHARACTERS:,} characters")
            raise KeyboardInterrupt
        return super().write(text)


def _took(many: int) -> str:
    return f"your code took more than {many / GIBIBYTE:g} GB of memory"


# A loop in C, as of `list(itertools.count())`, lets no other thread look: the system refuses more.
ROOM = 4  # times the limit
PER_CORE = 1 << 28  # threads of a framework set aside more than they use (glibc: an arena each)


def _address_space(more: int):
    """Let this process have so much more than it has; return the limits of before, if it can."""
    with suppress(ImportError, OSError, ValueError, psutil.Error):
        import resource

        before = resource.getrlimit(resource.RLIMIT_AS)
        has, _ = _memory()
        most = has + ROOM * more + PER_CORE * (os.cpu_count() or 1)
        if before[0] == resource.RLIM_INFINITY or most < before[0]:
            resource.setrlimit(resource.RLIMIT_AS, (most, before[1]))
            return before
    return None


def _set_address_space(before) -> None:
    if before is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, before)


_OWN = frozenset(
    fn.__code__ for fn in (limited.__enter__, limited.__exit__, limited.stop, limited._heard)
)
