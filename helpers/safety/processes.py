"""A command -> what it wrote and how it ended; nothing that it started is left, however it ends.

Every child has a keeper (child_keeper.py) that ends it at the limit and with the kernel. Ctrl-C
ends the child, then the wait. Of a flood the beginning and the end are kept, and what is missing
is told.
"""

import contextlib
import json
import os
import secrets
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from helpers.safety.interrupts import uninterrupted

POSIX = os.name == "posix"
KEEPER = str(Path(__file__).with_name("child_keeper.py"))
MOST = 19_900  # bytes of an output that are kept
GRACE = 2  # seconds after the limit in which the keeper has to answer
STEP = 0.05  # seconds between two looks at whether Ctrl-C came
TOKEN = "COURSE_CHILD"  # in the environment of a child: finds what it has started, wherever that is
_READ = 65536


@dataclass(frozen=True)
class Ended:
    """How a child ended: its exit code, or the signal below 0; whether a limit ended it.

    `late`: that of time. `large`: that of memory. `lost`: whoever watched it was ended itself, so
    `code` is not known. `started` is False where that came first.
    """

    code: int = 0
    late: bool = False
    out: str = ""
    err: str = ""
    lost: bool = False
    started: bool = True
    large: bool = False


class Flood:
    """Bytes in pieces -> the first and the last of them, in bounded memory."""

    def __init__(self):
        self._half, self._head, self._tail, self._count = MOST // 2, b"", b"", 0

    def add(self, data: bytes) -> None:
        """Take a piece."""
        self._count += len(data)
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail = (self._tail + data[room:])[-self._half :] if room < len(data) else self._tail

    def __str__(self):
        missing = self._count - len(self._head) - len(self._tail)
        if not missing:
            return (self._head + self._tail).decode(errors="replace")
        head, tail = (part.decode(errors="replace") for part in (self._head, self._tail))
        return f"{head}\n… {missing:,} bytes are left out here …\n{tail}"


def signal_name(number: int) -> str:
    """Return the name of a signal; most of the real-time ones have none."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def run(
    command, seconds: float, *, given: bytes = b"", cwd=None, env=None, kept=True, home=None
) -> Ended:
    """Run a command to its end, or to the limit. OSError where it cannot be started.

    `home`: a folder (`Home.passport`) that goes if the kernel is killed meanwhile. Without `kept`
    no keeper stands between: it starts at once, what it prints is thrown away, and it has to end
    with the kernel by itself.
    """
    words = [os.fspath(word) for word in command]
    env = dict(os.environ if env is None else env)
    cwd = os.path.abspath(cwd or os.getcwd())
    with uninterrupted() as hold, _file_of(given) as stdin:
        if not POSIX or not kept:
            return _alone(words, seconds, stdin, cwd, env, hold, quiet=not kept)
        token = secrets.token_hex(16)
        request = {"command": words, "cwd": cwd, "seconds": seconds, "env": {**env, TOKEN: token}}
        with channels() as pipes:
            process = _start_keeper(pipes, stdin)
            try:
                pipes.hand_over()
                pipes.request({**request, "home": home})
                ended = follow(pipes, seconds, hold)
                if not ended.started:
                    raise OSError(f"the process that is to watch it did not start: {ended.err}")
                return ended
            finally:
                pipes.close()
                end(process, token)


@contextlib.contextmanager
def _file_of(given: bytes):
    """Give a file with these bytes to read; it has no name, so nobody has to remove it."""
    if not given:
        yield subprocess.DEVNULL
        return
    with tempfile.TemporaryFile() as file:
        file.write(given)
        file.seek(0)
        yield file


class Pipes:
    """The four channels of a child: its output, its errors, the keeper's word, the kernel's life.

    Each is a pair (read, write); `hand_over` closes the ends that are the child's.
    """

    def __init__(self):
        self.out, self.err, self.status, self.life = [os.pipe() for _ in range(4)]
        self._open = {*self.out, *self.err, *self.status, *self.life}

    @property
    def theirs(self) -> list[int]:
        """Return the child's ends: output, errors, life, status."""
        return [self.out[1], self.err[1], self.life[0], self.status[1]]

    def hand_over(self) -> None:
        """Close here what the child has."""
        for handle in self.theirs:
            self._close(handle)

    def request(self, words: dict) -> None:
        """Write one line to the keeper."""
        data = memoryview(json.dumps(words).encode() + b"\n")
        with contextlib.suppress(BrokenPipeError):  # `follow` will tell that nobody is there
            while data:
                data = data[os.write(self.life[1], data) :]

    def see_out(self) -> bool:
        """Let the keeper end the child; return whether it has left, after a short wait at most."""
        self._close(self.life[1])
        until = time.monotonic() + GRACE
        while time.monotonic() < until:
            if ready([self.status[0]], STEP) and not os.read(self.status[0], _READ):
                return True
        return False

    def close(self) -> None:
        """Close all that is open: the keeper then ends the child."""
        for handle in tuple(self._open):
            self._close(handle)

    def _close(self, handle: int) -> None:
        if handle in self._open:
            self._open.discard(handle)
            os.close(handle)


@contextlib.contextmanager
def channels():
    """Give new pipes, all closed after the block."""
    pipes = Pipes()
    try:
        yield pipes
    finally:
        pipes.close()


def _start_keeper(pipes: Pipes, stdin) -> subprocess.Popen:
    out, err, life, status = pipes.theirs
    return subprocess.Popen(
        [sys.executable, "-I", "-S", KEEPER, str(life), str(status)],
        stdin=stdin,
        stdout=out,
        stderr=err,
        pass_fds=(life, status),
        start_new_session=True,  # Ctrl-C in a terminal is for the kernel alone
    )


def follow(
    pipes: Pipes, seconds: float, hold: uninterrupted, alive: Callable[[], bool] | None = None
) -> Ended:
    """Read a child's channels until its keeper has told its end.

    The seconds count from the child's start; `alive` says whether it may still start. OSError if
    it did not start, RuntimeError where whoever forks says why it cannot, KeyboardInterrupt once
    Ctrl-C came.
    """
    floods = {pipes.out[0]: Flood(), pipes.err[0]: Flood()}
    words, told, deadline = b"", {}, None if alive else time.monotonic() + seconds + GRACE
    open_ends = {*floods, pipes.status[0]}
    while pipes.status[0] in open_ends and (deadline is None or time.monotonic() < deadline):
        if hold.came:
            raise KeyboardInterrupt
        if deadline is None and not alive():
            break
        for handle in ready(open_ends, STEP):
            data = os.read(handle, _READ)
            if not data:
                open_ends.discard(handle)
            elif handle in floods:
                floods[handle].add(data)
            else:
                words += data
                *lines, words = words.split(b"\n")
                for line in lines:
                    told |= json.loads(line)
                if deadline is None and "started" in told:
                    deadline = time.monotonic() + seconds + GRACE
    _drain(floods)
    if "errno" in told:
        raise OSError(told["errno"], told["words"])
    if "failed" in told:
        raise RuntimeError(told["failed"])
    out, err = (str(flood) for flood in floods.values())
    if "code" in told:
        return Ended(told["code"], told["late"], out, err, large=told["large"])
    late = deadline is not None and time.monotonic() >= deadline
    return Ended(-int(signal.SIGKILL), late, out, err, lost=True, started="started" in told)


def ready(handles, seconds: float) -> list[int]:
    """Return which of the handles can be read, after so many seconds at most."""
    watch = select.poll()  # select() itself takes no handle above 1023
    for handle in handles:
        watch.register(handle, select.POLLIN | select.POLLHUP)
    return [handle for handle, _ in watch.poll(seconds * 1000)]


def _drain(floods: dict[int, Flood]) -> None:
    """Take what is in the pipes still, without waiting: somebody may hold them open for ever."""
    for handle, flood in floods.items():
        for _ in range(1 + (1 << 20) // _READ):  # more than a pipe holds
            if not ready([handle], 0):
                break
            data = os.read(handle, _READ)
            if not data:
                break
            flood.add(data)


def end(process: subprocess.Popen, token: str) -> None:
    """See a keeper out; where it does not come to its end, end it and all that has its token."""
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.returncode:
        sweep(token)


def sweep(token: str) -> None:
    """Kill every process that has this token in its environment, on Linux."""
    mark = f"{TOKEN}={token}".encode()
    for _ in range(20):
        found = [pid for pid in _processes() if mark in _environment(pid)]
        if not found:
            return
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def _processes() -> list[int]:
    own = os.getpid()
    found = os.listdir("/proc") if sys.platform == "linux" else ()
    return [int(name) for name in found if name.isdigit() and int(name) != own]


def _environment(pid: int) -> list[bytes]:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []


def _alone(words, seconds, stdin, cwd, env, hold, quiet: bool) -> Ended:
    """Run a command without a keeper; its group is ended with it where the system has groups."""
    with contextlib.ExitStack() as stack:
        files = [] if quiet else [stack.enter_context(tempfile.TemporaryFile()) for _ in range(2)]
        out, err = files or (subprocess.DEVNULL, subprocess.DEVNULL)
        process = subprocess.Popen(
            words, stdin=stdin, stdout=out, stderr=err, cwd=cwd, env=env, start_new_session=POSIX
        )
        until, late = time.monotonic() + seconds, False
        try:
            while process.poll() is None and not late:
                if hold.came:
                    raise KeyboardInterrupt
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(STEP)
                late = process.poll() is None and time.monotonic() >= until
        finally:
            _kill_group(process)
        return Ended(process.returncode, late, *map(_told, files))


def _kill_group(process: subprocess.Popen) -> None:
    with contextlib.suppress(OSError):
        if POSIX:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()


def _told(file) -> str:
    file.seek(0)
    flood = Flood()
    while data := file.read(_READ):
        flood.add(data)
    return str(flood)
