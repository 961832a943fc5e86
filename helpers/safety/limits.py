"""A learner's code -> the same code, which ends within a time, a room and a number of characters.

`limited` stops a block in this process, as by Ctrl-C. `rehearsed` makes a call in a forked copy
first, which can be killed: a loop in C lets no other thread run, and looks for no signal.
"""

import _thread
import ctypes
import dis
import faulthandler
import io
import json
import math
import multiprocessing
import os
import re
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

try:
    import psutil
except ImportError:  # a bare Python runs the small systems
    psutil = None

from helpers.safety.folders import Refusal, temporary
from helpers.safety.restoring import HOUSE, LIBRARIES, STANDARD

GIBIBYTE = 1 << 30
LOOKS = 0.05  # seconds between two looks at the clock and the memory
STRETCH = 3  # times the limit, of wall time, where others use the processor
AGAIN = 0.2  # seconds between two presses
PATIENT = 2.0  # seconds in which the house and the libraries may end what they do
ROOM = 4  # times the limit of memory, of address space; threads of a framework set aside more
PER_CORE = 1 << 28


@dataclass
class Limits:
    """`seconds` of processor time, or of waiting; `characters` of output; `bytes` of new memory."""

    seconds: float = 10
    characters: int = 100_000
    bytes: int = GIBIBYTE


class limited:  # noqa: N801 (used like a function)
    """Stop what runs in a `with` block once it goes past its limits; `because` says past which.

    The block is left by a KeyboardInterrupt, or by whatever the code in it made of that: whoever
    opened the block asks `because` to tell it from the learner's own Ctrl-C, which `interrupted`
    notes. Code that catches every interrupt is pressed again and again.
    """

    def __init__(self, limits: Limits):
        self.because, self.interrupted = "", False
        self._limits, self._over, self._lock = limits, threading.Event(), threading.Lock()
        self._acts, self._presses, self._on_its_way = [], 0, False

    def __enter__(self) -> "limited":
        self._thread, self._opener = threading.get_ident(), sys._getframe(1)
        self._tracer = sys.gettrace()
        main = threading.current_thread() is threading.main_thread()
        heard = signal.getsignal(signal.SIGINT) if main else None
        self._before = heard if callable(heard) else None
        self._streams = sys.stdout, sys.stderr
        self._wall = _limit_address_space(self._limits.bytes)
        _OPEN.append(self)
        sys.stdout, sys.stderr = (_Counted(stream, self) for stream in self._streams)
        if self._before is not None:
            signal.signal(signal.SIGINT, self._hear)
        threading.Thread(target=self._watch, name="limits of a check", daemon=True).start()
        return self

    def __exit__(self, kind, error, trace) -> None:
        with self._lock:
            self._over.set()
        for _ in range(100):  # or it would be heard when nobody expects it any more
            if not self._on_its_way:
                break
            time.sleep(0.001)
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
        sys.stdout, sys.stderr = self._streams
        self._opener = None
        if self._presses > 1:
            sys.settrace(self._tracer)
        _OPEN.remove(self)
        _set_address_space(self._wall)
        if isinstance(error, MemoryError) and not self.because:
            self.because = self._took_memory()

    def stop(self, because: str) -> None:
        """Say why the block is to end; it is pressed from now on."""
        self.because = self.because or because

    def _hear(self, number, frame) -> None:
        """Take SIGINT, in the main thread: a press, or the learner's own Ctrl-C."""
        self._on_its_way = False
        if not self.because:
            self.interrupted = True
        elif self._over.is_set() or self._is_cleaning_up(frame):
            return
        elif self._presses > 1:
            _stop_where_nothing_catches(frame, self._opener)
        self._before(number, frame)

    def _is_cleaning_up(self, frame) -> bool:
        """Tell whether what puts things back is at work after the first press."""
        if self._presses == 1 or time.monotonic() > self._since + PATIENT or frame is None:
            return False
        return frame.f_code.co_filename.startswith((HOUSE, *STANDARD, *LIBRARIES))

    def _watch(self) -> None:
        start, cpu, memory = time.monotonic(), time.process_time(), _resident()
        while not self._over.wait(AGAIN if self._presses else LOOKS):
            used, waited = time.process_time() - cpu, time.monotonic() - start
            limit = self._limits.seconds
            if used > limit or waited > limit * (STRETCH if used > limit / 10 else 1):
                self.stop(f"your code did not end within {limit:g} seconds")
            elif _resident() - memory > self._limits.bytes:
                self.stop(self._took_memory())
            with self._lock:
                if self.because and not self._over.is_set():
                    self._press()

    def _press(self) -> None:
        if not self._presses:
            self._since = time.monotonic()
        self._presses += 1
        for act in self._acts:
            act()
        if self._before is None:
            thread, error = ctypes.c_ulong(self._thread), ctypes.py_object(KeyboardInterrupt)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, error)
        elif hasattr(signal, "pthread_kill"):  # it ends a sleep, too
            self._on_its_way = True
            signal.pthread_kill(self._thread, signal.SIGINT)
        else:
            _thread.interrupt_main()

    def _took_memory(self) -> str:
        return f"your code took more than {self._limits.bytes / GIBIBYTE:g} GB of memory"


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

    For code that catches every interrupt, as `while True: try: … except: pass`: there, that is the
    line of the `except`. The `opener` of the block is left alone.
    """

    def step(now, event, given):
        code = now.f_code
        theirs = not code.co_filename.startswith((HOUSE, *STANDARD, "<frozen ", *LIBRARIES))
        entries = dis.Bytecode(code).exception_entries if theirs and event == "line" else None
        caught = (one.start <= now.f_lasti < one.end and not one.lasti for one in entries or ())
        if entries is not None and not any(caught):
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
    """A stream that takes so many characters, then stops whoever writes; `close` closes this."""

    def __init__(self, stream, limit: limited):
        self._stream, self._limit, self._left = stream, limit, limit._limits.characters
        self.closed = False

    def write(self, text: str) -> int:
        """Write to the stream; KeyboardInterrupt, again and again, once it is too much."""
        if self.closed:
            raise ValueError("I/O operation on closed file.")
        self._left -= len(text)
        if self._left < 0:
            most = self._limit._limits.characters
            self._limit.stop(f"your code printed more than {most:,} characters")
            raise KeyboardInterrupt
        return self._stream.write(text)

    def writelines(self, lines) -> None:
        """Write each."""
        for line in lines:
            self.write(line)

    def close(self) -> None:
        """Take no more output; the stream of the kernel stays open."""
        self.closed = True

    def __getattr__(self, name):
        if name == "_stream":  # not there yet, as while copying
            raise AttributeError(name)
        return getattr(self._stream, name)


def _resident() -> int:
    return psutil.Process().memory_info().rss


def _limit_address_space(more: int):
    """Let this process have so much more than it has; return the limits of before, if it can."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        before = resource.getrlimit(resource.RLIMIT_AS)
        most = psutil.Process().memory_info().vms + ROOM * more + PER_CORE * (os.cpu_count() or 1)
        if before[0] == resource.RLIM_INFINITY or most < before[0]:
            resource.setrlimit(resource.RLIMIT_AS, (most, before[1]))
            return before
    return None


def _set_address_space(before) -> None:
    if before is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, before)


# -- a try in a copy of this process

CAN_FORK = sys.platform == "linux"  # elsewhere the copy of a process with threads may crash
MARGIN = 4  # seconds of processor time after the limit, in which whoever hears Ctrl-C has ended
IDLE = 0.5  # seconds
MOST = 400_000  # bytes of what it printed: 100,000 characters
_FRAME = re.compile(r'^  File "(.*)", line (\d+) in ', re.MULTILINE)


@dataclass(frozen=True)
class Rehearsed:
    """How the call went: it `ended`, was `deaf`, sat `idle`, `left`, `died`, or was `not` made.

    `words` are what it returned, if it ended. `deaf`: it went on after the limit, whatever it was
    told; `at` has the file and the line of each Python frame, the innermost first. `idle`: it
    waited, perhaps for a thread that is not in the copy (fork(2)). `left`: it ended the process.
    `died`: a signal did. `printed` is what it wrote to output and errors.
    """

    how: str
    words: str = ""
    at: tuple[tuple[str, int], ...] = ()
    printed: str = ""


def rehearsed(act: Callable[[], str], seconds: float) -> Rehearsed:
    """Make a call, which ends itself after so many seconds if it can, in a copy of this process.

    KeyboardInterrupt if Ctrl-C comes meanwhile; nothing of the copy is left then, either.
    """
    if not CAN_FORK or threading.current_thread() is not threading.main_thread():
        return Rehearsed("not")
    try:
        with temporary("rehearsal-") as home, tempfile.TemporaryFile() as out:
            told = home.path / "told"
            copy = multiprocessing.get_context("fork").Process(
                target=_be_the_copy, args=(act, seconds, told, out.fileno()), daemon=False
            )
            idle, code = _follow(copy)
            out.seek(0)
            printed = out.read(MOST).decode(errors="replace")
            words = told.read_text(errors="replace") if told.is_file() else ""
    except (OSError, Refusal):  # no room for a process, or for its folder
        return Rehearsed("not")
    if words.startswith("{"):
        return Rehearsed("ended", json.loads(words)["words"], printed=printed)
    if idle:
        return Rehearsed("idle", printed=printed)
    if words or code == -signal.SIGXCPU:
        at = tuple((file, int(line)) for file, line in _FRAME.findall(words))
        return Rehearsed("deaf", at=at, printed=printed)
    return Rehearsed("died" if code < 0 else "left", printed=printed)


def _follow(copy: multiprocessing.Process) -> tuple[bool, int]:
    """Run the copy until it has ended or sits idle; leave nothing of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # that there are threads is known
        copy.start()
    idle = False
    try:
        used, since = -1.0, time.monotonic()
        while not idle and copy.exitcode is None:
            copy.join(0.02)
            with suppress(psutil.Error):
                process = psutil.Process(copy.pid)
                now = sum(process.cpu_times()[:2])
                if now > used + 0.03 or process.status() == "running" or process.children():
                    used, since = now, time.monotonic()
            idle = time.monotonic() - since > IDLE
        return idle and copy.exitcode is None, copy.exitcode or 0
    finally:
        with suppress(OSError):
            os.killpg(copy.pid, signal.SIGKILL)
        copy.kill()
        copy.join()


def _be_the_copy(act, seconds: float, told, out: int) -> None:
    """Make the call and tell its words; this does not return."""
    import resource

    try:
        os.setsid()  # Ctrl-C is for the kernel alone
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: die with the kernel
        signal.set_wakeup_fd(-1)
        os.chdir(told.parent)
        os.environ["TMPDIR"], tempfile.tempdir = str(told.parent), None
        for number in (1, 2):
            os.dup2(out, number)
        file = io.FileIO(out, "w", closefd=False)
        stream = io.TextIOWrapper(file, "utf-8", "replace", write_through=True)
        sys.stdin, sys.stdout, sys.stderr = io.StringIO(), stream, stream
        if jupyter := sys.modules.get("jupyter_client.session"):
            jupyter.Session.send = lambda *given, **named: None  # the page is the kernel's
        most = math.ceil(seconds) + MARGIN
        with open(told, "w") as place:
            faulthandler.register(signal.SIGXCPU, file=place, all_threads=True, chain=True)
            resource.setrlimit(resource.RLIMIT_CPU, (most, most + 1))
            words = ""
            with suppress(BaseException):
                words = act()
            told.write_text(json.dumps({"words": words}))
    finally:
        os._exit(0)
