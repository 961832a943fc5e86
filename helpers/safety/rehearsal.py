"""A call -> how it goes in a forked copy of this process, before it is made in this one.

A loop in C lets no other thread run, and may look for no signal: then nothing in its own process
can end it. The copy can be killed, and ends at the latest with this process. Threads are not
copied (fork(2)): who waits for one, as a graph of TensorFlow does, sits idle in the copy for ever,
which says nothing about the call.
"""

import ctypes
import faulthandler
import io
import json
import os
import re
import signal
import stat
import sys
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from time import monotonic, sleep

import psutil

from helpers.safety.folders import Refusal, temporary
from helpers.safety.interrupts import SIGINT, handler, in_main_thread, set_handler, uninterrupted
from helpers.safety.original_builtins import BUILTINS
from helpers.safety.process_usage import children
from helpers.safety.processes import ready

__builtins__ = BUILTINS

CAN_FORK = sys.platform == "linux"  # elsewhere the copy of a process with threads may crash
MARGIN = 4  # seconds of processor time after the limit, in which whoever hears Ctrl-C has ended
IDLE = 0.5  # seconds
STEP = 0.02  # seconds between two looks
SOME = 3  # ticks of the processor's clock, which who only looks at the time may use
MOST = 400_000  # bytes of what it printed: 100,000 characters
SAID = b"\0"  # before the words; a traceback begins otherwise
PR_SET_PDEATHSIG = 1  # linux/prctl.h
_FRAME = re.compile(r'^  File "(.*)", line (\d+) in ', re.MULTILINE)


@dataclass(frozen=True)
class Rehearsed:
    """How the call went: it `ended`, was `deaf`, sat `idle`, `left`, `died`, or was `not` made.

    `words` are what it returned, if it ended. `deaf`: it went on after the limit, whatever it was
    told; `at` has the file and the line of each Python frame, the innermost first. `left`: it
    ended the process. `died`: a signal did. `printed` is what it wrote to output and errors.
    """

    how: str
    words: str = ""
    at: tuple[tuple[str, int], ...] = ()
    printed: str = ""


def rehearsed(act: Callable[[], str], seconds: float) -> Rehearsed:
    """Make a call, which ends itself after so many seconds if it can, in a copy of this process.

    KeyboardInterrupt if Ctrl-C comes meanwhile; nothing of the copy is left then, either.
    """
    if not CAN_FORK or not in_main_thread():
        return Rehearsed("not")
    try:
        with temporary("rehearsal-") as home, tempfile.TemporaryFile() as out:
            found = _made(act, seconds, out.fileno(), home.path)
            out.seek(0)
            return Rehearsed(*found, printed=out.read(MOST).decode(errors="replace"))
    except (OSError, Refusal):  # no room for a process, or for its folder
        return Rehearsed("not")


def _made(act, seconds: float, out: int, folder: Path) -> tuple[str, str, tuple]:
    """Make the call in a copy, and follow it."""
    heard, here = handler(), os.getpid()
    with uninterrupted() as hold:
        told, tell = os.pipe()
        try:
            try:
                pid = _fork()
                if not pid:
                    _be_the_copy(act, seconds, tell, out, folder, heard, here)
            finally:
                os.close(tell)
            return _followed(_Life(pid, seconds + MARGIN), told, hold)
        finally:
            os.close(told)


def _fork() -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # that there are threads is known
        return os.fork()


# -- in the copy


def _be_the_copy(act, seconds, tell: int, out: int, folder: Path, heard, starter: int) -> None:
    """Make the call and tell its words; this does not return."""
    try:
        os.setsid()  # Ctrl-C is for the kernel alone
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() == starter:
            _cut_off({tell, out})
            _settle(folder, out)
            _limit(seconds, tell)
            if heard is not None:
                set_handler(SIGINT, heard)
            words = ""
            with suppress(BaseException):
                words = act()
            os.write(tell, SAID + json.dumps(words).encode())
    finally:
        os._exit(0)


def _cut_off(kept: set[int]) -> None:
    """Put nothing in the place of each channel to others: sockets, pipes, events, the terminal.

    The threads that serve them are in the other process, and would wake up there. Nor is anything
    written to a file that was open: what is still in its buffer is the other's to write. One that
    is read has a place of its own from here on.
    """
    signal.set_wakeup_fd(-1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for handle in set(map(int, os.listdir("/proc/self/fd"))) - kept:
        with suppress(OSError):
            to = os.readlink(f"/proc/self/fd/{handle}")
            if to.startswith(("socket:", "pipe:", "anon_inode:")) or handle < 3:
                os.dup2(nothing, handle, inheritable=handle < 3)
            elif stat.S_ISREG(os.fstat(handle).st_mode):
                os.dup2(_again(handle, nothing), handle, inheritable=False)
    if jupyter := sys.modules.get("jupyter_client.session"):
        jupyter.Session.send = lambda *given, **named: None  # or it says that it cannot


def _again(handle: int, nothing: int) -> int:
    """Return the file opened anew, where the other reads it now; `nothing` for one to write to."""
    import fcntl

    if fcntl.fcntl(handle, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY:
        return nothing
    anew = os.open(f"/proc/self/fd/{handle}", os.O_RDONLY)
    os.lseek(anew, os.lseek(handle, 0, os.SEEK_CUR), os.SEEK_SET)
    return anew


def _settle(folder: Path, out: int) -> None:
    """Work in a folder that goes afterwards, and write to one file."""
    os.chdir(folder)
    os.environ["TMPDIR"] = str(folder)
    tempfile.tempdir = None
    for handle in (1, 2):
        os.dup2(out, handle)
    sys.stdin = sys.__stdin__ = io.StringIO()
    stream = io.TextIOWrapper(io.FileIO(out, "w", closefd=False), "utf-8", "replace")
    stream.reconfigure(write_through=True)
    sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = stream


def _limit(seconds: float, tell: int) -> None:
    """Let the system end this process some time after the limit, and tell where it is then."""
    import resource

    most = ceil(seconds) + MARGIN
    resource.setrlimit(resource.RLIMIT_CPU, (most, most + 1))
    faulthandler.register(signal.SIGXCPU, file=tell, all_threads=True, chain=True)


# -- in the process itself


def _followed(life: "_Life", told: int, hold: uninterrupted) -> tuple[str, str, tuple]:
    """Follow the copy until it has ended or sits idle; leave nothing of it."""
    pid, data, idle = life.pid, b"", False
    try:
        while not idle and not _is_over(pid):
            if hold.came:
                raise KeyboardInterrupt
            data += _next(told)
            idle = monotonic() - life.last_sign() > IDLE
    finally:
        with suppress(OSError):
            os.killpg(pid, signal.SIGKILL)
        code = _code(pid)
    while more := _next(told, 0):
        data += more
    if data.startswith(SAID):
        return "ended", json.loads(data[len(SAID) :]), ()
    if idle:
        return "idle", "", ()
    if code == -signal.SIGXCPU or data:
        frames = _FRAME.findall(data.decode(errors="replace"))
        return "deaf", "", tuple((file, int(line)) for file, line in frames)
    return "died" if code < 0 else "left", "", ()


def _next(told: int, seconds: float = STEP) -> bytes:
    """Return what was told meanwhile."""
    since = monotonic()
    more = os.read(told, 65536) if ready([told], seconds) else b""
    if not more and seconds:  # nobody can tell anything any more
        sleep(max(0, STEP - (monotonic() - since)))
    return more


def _is_over(pid: int) -> bool:
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:  # somebody else here waits for all children
        return True


def _code(pid: int) -> int:
    """Wait for the end of a process; return its exit code, or the signal below 0."""
    try:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except ChildProcessError:
        return -signal.SIGKILL


class _Life:
    """When a process was last at work: its main thread ran or slept, or it has children.

    Who sleeps (`time.sleep`) wakes by itself, if within so many seconds; who waits for a lock may
    wait for a thread that is not there.
    """

    def __init__(self, pid: int, longest: float):
        self.pid, self._longest, self._used = pid, longest, 0
        self._last = self._ran = monotonic()

    def last_sign(self) -> float:
        """Look now; return the moment of the last sign of life."""
        with suppress(OSError, psutil.Error):
            fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
            used = int(fields[11]) + int(fields[12])  # proc(5): utime, stime
            if fields[0] != "S" or used > self._used + SOME or children(self.pid):
                self._last = self._ran = monotonic()
                self._used = used
            elif self._sleeps() and monotonic() - self._ran < self._longest:
                self._last = monotonic()
        return self._last

    def _sleeps(self) -> bool:
        return "nanosleep" in Path(f"/proc/{self.pid}/wchan").read_text()  # proc(5): "0" if unsaid
