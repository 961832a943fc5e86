"""Run a command, or Python source, in a child process with limits; return what it printed.
A child is killed, with all processes that it started, when it passes its limit of time, takes half
of the machine's memory or prints too much, on Ctrl-C, and when this process ends. Where the memory
of a process is unknown (processes.py), there is no limit on it. The code that runs in the child is
in `child_side.py`.
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
from .folders import make_temporary_folder
from .processes import kill_tree, resident_bytes, total_bytes
from .restoring import note_interrupt

CAN_FORK = sys.platform == "linux"
SILENT = 2.0  # seconds of waiting, after which a message is printed to a terminal
MOST = 19_900  # bytes of each output that a result contains
MOST_PRINTED = 1 << 28  # bytes of output; a child that prints more is killed
SHARE = 0.5  # share of the machine's memory; a child that takes more is killed


@dataclass(frozen=True)
class ProcessResult:
    """How a child process ended, and the beginning of what it printed."""

    #: Its exit code, or the number of the signal that ended it, below 0.
    code: int
    #: Whether the limit of time ended it.
    hit_time_limit: bool
    #: What it printed to its standard output.
    out: str
    #: What it printed to its standard error.
    err: str
    #: Whether the limit of memory ended it.
    hit_memory_limit: bool = False
    #: Whether the limit of output ended it.
    hit_output_limit: bool = False
    #: Whether Ctrl-C ended it.
    interrupted: bool = False


@dataclass(frozen=True)
class ChildResult:
    """How a child ended, and what it reported to this process."""

    #: How it ended, and what it printed.
    ended: ProcessResult
    #: Its reports in order, each a dict, name -> value.
    told: tuple[dict, ...]

    def last(self, name: str, missing=None):
        """Return the value of the last report that has this name; `missing` if none has."""
        for report in reversed(self.told):
            if name in report:
                return report[name]
        return missing


def signal_name(number: int) -> str:
    """Return the name of a signal such as "SIGKILL"; "signal 40" for a number without a name."""
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
    """Run a command until it ends, or kill it at a limit. Raise OSError if it cannot be started.

    Parameters
    ----------
    command
        The program and its arguments: text or paths.
    seconds
        The limit of time.
    given
        The bytes that the command reads from its standard input.
    cwd, env
        Its working folder and its environment; those of this process by default.
    kept
        Whether the result contains what the command printed. If not, its output is thrown away.
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
    """Run Python source in a new interpreter, and return what it printed and reported.

    Parameters
    ----------
    request
        `source` is the text of a program. With `name` and `args`, the function of that name in the
        source is called.
    seconds
        The limit of time.
    env
        Variables to add to the environment of the child.
    shows
        What Ctrl-C does besides ending the child. If True, this function returns what was printed
        until then, so that the verb can show it, and the verb raises KeyboardInterrupt later. If
        False, this function raises it.
    """
    return _start(multiprocessing.get_context("spawn"), request, seconds, env or {}, shows)


def ask_forked_child(
    imports: str, source: str, seconds: float, preload: tuple[str, ...] = (), shows: bool = False
) -> ChildResult:
    """Run Python source, after the source `imports`, in a process forked from a fork server.

    The fork server is one process that imports the modules named in `preload` once. So its children
    need not import them again. `seconds` and `shows` are as in `ask_child`.
    """
    server = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload([*preload, __name__])
    return _start(server, {"imports": imports, "source": source}, seconds, {}, shows)


def _start(context, request: dict, seconds: float, env: dict, shows: bool) -> ChildResult:
    """Run a request in a child process that has a temporary folder of its own.

    The child runs `be_a_child`. `context` is what `multiprocessing.get_context` returned. The other
    arguments are those of `ask_child`.
    """
    with make_temporary_folder("child-") as folder, ExitStack() as stack:
        for name in (WORK, TEMPORARY, HOME):  # the subfolders that the child uses
            (folder.path / name).mkdir()
        files = []  # for what the child prints to stdout and stderr
        for name in PRINTED.values():
            files.append(stack.enter_context(open(folder.path / name, "x+b")))
        child = context.Process(target=be_a_child, args=(request, str(folder.path)))
        with _empty_main_module(), patch.dict(os.environ, env):  # the child inherits both
            child.start()
        stack.callback(child.close)
        ended = _follow(child.pid, lambda: child.exitcode, seconds, files, shows)

        reports = []
        # There is no file if the child reported nothing. A child that was killed while it wrote
        # leaves half a line, which is no JSON.
        with suppress(FileNotFoundError, ValueError):
            for line in (folder.path / TOLD).read_bytes().splitlines():
                reports.append(json.loads(line))
        return ChildResult(ended, tuple(reports))


@contextmanager
def _empty_main_module() -> Iterator[None]:
    """Make `__main__` an empty module in the `with` block.

    A child that multiprocessing spawns runs the `__main__` of its parent again, here the user's
    program.
    """
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
    """Wait until a process ends or passes a limit, then kill it and all that it has started.

    Parameters
    ----------
    pid
        The process ID.
    poll
        Returns its exit code, or None while it runs.
    seconds
        The limit of time.
    files
        The two files to which the process prints: standard output and standard error.
    shows
        What Ctrl-C does, as in `ask_child`.
    """
    passed_limits: set[str] = set()
    interrupt = None  # the KeyboardInterrupt that the verb under way is to raise later
    try:
        passed_limits = _wait_for_end_or_limit(pid, poll, seconds, files)
    except KeyboardInterrupt as error:
        if not shows:
            raise
        interrupt = error
    finally:
        kill_tree(pid)  # also if it ended by itself, because processes that it started may run on
        code = poll()
        while code is None:  # the system takes a moment to end a process that was killed
            time.sleep(0.001)
            code = poll()
    if interrupt is not None:
        note_interrupt(interrupt)
    out, err = map(_read_beginning, files)
    return ProcessResult(
        code=code,
        hit_time_limit="time" in passed_limits,
        out=out,
        err=err,
        hit_memory_limit="memory" in passed_limits,
        hit_output_limit="output" in passed_limits,
        interrupted=interrupt is not None,
    )


def _wait_for_end_or_limit(
    pid: int, poll: Callable[[], int | None], seconds: float, files: list[BinaryIO]
) -> set[str]:
    """Wait until a process ends or passes a limit.

    Return the limits that it passed, of "time", "memory" and "output". The set is empty if the
    process ended by itself. The arguments are those of `_follow`.
    """
    start = time.monotonic()
    passed_limits: set[str] = set()
    sentence = f"waiting for another process, at most {seconds:,g} s"
    activity = ", ".join(filter(None, (progress.read_activity(), sentence)))
    is_announced = False
    with progress.report_activity(activity):
        while poll() is None and not passed_limits:
            elapsed = time.monotonic() - start
            if not is_announced and elapsed > SILENT:
                _announce_on_terminal(sentence)
                is_announced = True
            time.sleep(min(0.05, 0.001 + elapsed / 10))  # short at first, for short commands
            if elapsed >= seconds:
                passed_limits.add("time")
            if any(os.fstat(file.fileno()).st_size > MOST_PRINTED for file in files):
                passed_limits.add("output")
            if _is_large(pid):
                passed_limits.add("memory")
    return passed_limits


def _announce_on_terminal(sentence: str) -> None:
    """Print the sentence if stderr is a terminal. In Jupyter a widget shows it instead."""
    with suppress(Exception):  # there may be no stream, or a closed one
        if sys.stderr.isatty():
            print(f"{sentence[:1].upper()}{sentence[1:]} …", file=sys.stderr, flush=True)


def _read_beginning(file: BinaryIO) -> str:
    """Return the first `MOST` bytes of a file as text, and a last line on how many are left out."""
    left_out = file.seek(0, os.SEEK_END) - MOST
    file.seek(0)
    text = file.read(MOST).decode(errors="replace")
    if left_out > 0:
        return f"{text}\n… {left_out:,} bytes are left out here …"
    return text


def _is_large(pid: int) -> bool:
    """Return whether a process takes more than `SHARE` of the memory; False if that is unknown."""
    used = resident_bytes(pid)
    total = total_bytes()
    return used is not None and total is not None and used > SHARE * total
