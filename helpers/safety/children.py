"""A command, or source -> what a child process printed and reported, and how it ended.

A child, with all that it started, ends at its limit, at half of the machine's memory, on Ctrl-C and
with the kernel. Where the memory of a process is unknown (processes.py), there is no limit on it.
What runs in the child is in `child_side.py`.
"""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from types import ModuleType
from typing import BinaryIO
from unittest.mock import patch

from . import progress
from .child_side import HOME, POSIX, PRINTED, TEMPORARY, TOLD, WORK, be_a_child
from .folders import temporary
from .processes import kill_tree, resident_bytes, total_bytes
from .restoring import note_interrupt

CAN_FORK = sys.platform == "linux"
SILENT = 2.0  # seconds of waiting until a terminal says so
MOST = 19_900  # bytes of an output that are kept
MOST_PRINTED = 1 << 28  # bytes, at which a child is killed
SHARE = 0.5  # of the machine's memory, that a child may take


@dataclass(frozen=True)
class ProcessResult:
    """How a child process ended, and the beginning of what it printed."""

    #: Its exit code, or the number of the signal that ended it, below 0.
    code: int
    #: Whether the limit of time ended it.
    late: bool
    #: What it printed to its standard output.
    out: str
    #: What it printed to its standard error.
    err: str
    #: Whether the limit of memory ended it.
    large: bool = False
    #: Whether the limit of output ended it.
    flood: bool = False
    #: Whether Ctrl-C ended it.
    interrupted: bool = False


@dataclass(frozen=True)
class ChildResult:
    """How a child ended, and what it told its starter."""

    #: How it ended, and what it printed.
    ended: ProcessResult
    #: The lines that it told, in order: dicts of names and values.
    told: tuple[dict, ...]

    def last(self, name: str, missing=None):
        """Return what was last told under a name, or `missing`."""
        for line in reversed(self.told):
            if name in line:
                return line[name]
        return missing


def signal_name(number: int) -> str:
    """Return the name of a signal; most of the real-time ones have none."""
    for known_signal in signal.Signals:
        if known_signal == number:
            return known_signal.name
    return f"signal {number}"


def run_command(
    command,
    seconds: float,
    *,
    given: bytes = b"",
    cwd: str | os.PathLike | None = None,
    env: dict[str, str] | None = None,
    kept: bool = True,
) -> ProcessResult:
    """Run a command to its end, or to the limit. OSError where it cannot be started.

    Parameters
    ----------
    command
        The program and its arguments: text or paths.
    seconds
        The limit of time.
    given
        What the command reads from its standard input.
    cwd, env
        Its working folder and its environment; those of this process by default.
    kept
        Whether the result has what it printed.
    """
    with ExitStack() as stack:
        stdin, stdout, stderr = (
            stack.enter_context(tempfile.TemporaryFile()) for _ in ("stdin", "stdout", "stderr")
        )
        stdin.write(given)
        stdin.seek(0)
        process = subprocess.Popen(
            [os.fspath(word) for word in command],
            stdin=stdin,
            stdout=stdout if kept else subprocess.DEVNULL,
            stderr=stderr if kept else subprocess.DEVNULL,
            cwd=cwd,
            env=env,
            start_new_session=POSIX,
        )
        return _follow(process.pid, process.poll, seconds, [stdout, stderr])


def ask_child(
    request: dict, seconds: float, env: dict | None = None, shows: bool = False
) -> ChildResult:
    """Run a request in a new interpreter: `source`, or a function by `source`, `name`, `args`.

    `env` is added to the environment. With `shows`, an interrupt ends the child, and the result has
    what was printed; the verb raises the interrupt later.
    """
    return _start(multiprocessing.get_context("spawn"), request, seconds, env or {}, shows)


def ask_forked_child(
    imports: str, source: str, seconds: float, preload: tuple[str, ...] = (), shows: bool = False
) -> ChildResult:
    """Run source, after `imports`, in a child forked from one process that has modules loaded.

    That process imports the modules of `preload` once. `shows` is as in `ask_child`.
    """
    server = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload([*preload, __name__])
    return _start(server, {"imports": imports, "source": source}, seconds, {}, shows)


def _start(context, request: dict, seconds: float, env: dict, shows: bool) -> ChildResult:
    """Run a request in a child of one of multiprocessing's contexts, in a folder of its own."""
    with temporary("child-") as home, ExitStack() as stack:
        for name in (WORK, TEMPORARY, HOME):
            (home.path / name).mkdir()
        files = [stack.enter_context(open(home.path / name, "x+b")) for name in PRINTED.values()]
        child = context.Process(target=be_a_child, args=(request, str(home.path)))
        with _empty_main_module(), patch.dict(os.environ, env):  # the child gets both
            child.start()
        stack.callback(child.close)
        ended = _follow(child.pid, lambda: child.exitcode, seconds, files, shows)

        lines = []
        with suppress(FileNotFoundError, ValueError):  # none, or one that was cut off by its end
            for line in (home.path / TOLD).read_bytes().splitlines():
                lines.append(json.loads(line))
        return ChildResult(ended, tuple(lines))


@contextmanager
def _empty_main_module() -> Iterator[None]:
    """Have `__main__` be an empty module in the block, or a child would run this program again."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _follow(
    pid: int,
    poll: Callable[[], int | None],
    seconds: float,
    files: list[BinaryIO],
    shows: bool = False,
) -> ProcessResult:
    """Follow a process to its end, or to a limit, and end all that it has started.

    Parameters
    ----------
    pid
        The number of the process.
    poll
        Returns its exit code, or None while it runs.
    seconds
        The limit of time.
    files
        What it prints to: its standard output and its standard error.
    shows
        An interrupt ends the process, too. With `shows`, the verb under way raises it later.
    """
    start = time.monotonic()
    is_late = is_large = is_flood = False  # which of the three limits was passed
    interrupt = None  # a KeyboardInterrupt, if it is to be raised later
    sentence = f"waiting for another process, at most {seconds:,g} s"
    activity = ", ".join(filter(None, (progress.said(), sentence)))
    is_announced = False
    try:
        with progress.doing(activity):
            while poll() is None and not (is_late or is_large or is_flood):
                passed = time.monotonic() - start
                if not is_announced and passed > SILENT:
                    _announce_on_terminal(sentence)
                    is_announced = True
                time.sleep(min(0.05, 0.001 + passed / 10))  # short at first, for short commands
                is_late = passed >= seconds
                is_flood = any(os.fstat(file.fileno()).st_size > MOST_PRINTED for file in files)
                is_large = _is_large(pid)
    except KeyboardInterrupt as error:
        if not shows:
            raise
        interrupt = error
    finally:
        kill_tree(pid)  # also after its own end: what it has started may still run
        code = poll()
        while code is None:  # the system takes a moment to end it
            time.sleep(0.001)
            code = poll()
    if interrupt is not None:
        note_interrupt(interrupt)
    out, err = map(_read_beginning, files)
    return ProcessResult(
        code=code,
        late=is_late,
        out=out,
        err=err,
        large=is_large,
        flood=is_flood,
        interrupted=interrupt is not None,
    )


def _announce_on_terminal(sentence: str) -> None:
    """Print once that a process is waited for, where no page of Jupyter shows it."""
    with suppress(Exception):  # there may be no stream, or a closed one
        if sys.stderr.isatty():
            print(f"{sentence[:1].upper()}{sentence[1:]} …", file=sys.stderr, flush=True)


def _read_beginning(file: BinaryIO) -> str:
    """Return what a file begins with, and how much is left out."""
    left_out = file.seek(0, os.SEEK_END) - MOST
    file.seek(0)
    text = file.read(MOST).decode(errors="replace")
    if left_out > 0:
        return f"{text}\n… {left_out:,} bytes are left out here …"
    return text


def _is_large(pid: int) -> bool:
    """Return whether a process takes more than its share of memory; False where it is unknown."""
    used = resident_bytes(pid)
    total = total_bytes()
    return used is not None and total is not None and used > SHARE * total
