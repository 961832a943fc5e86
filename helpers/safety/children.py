"""A command, or source -> what a child process printed and reported, and how it ended.

A child, with all that it started, ends at its limit, at half of the machine's memory, on Ctrl-C and
with the kernel. It tells results in a file, so nothing that it prints is taken for one. Where the
memory of a process is unknown (processes.py), there is no limit on it.
"""

import atexit
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections import namedtuple
from collections.abc import Callable
from contextlib import ExitStack, suppress
from types import ModuleType, NoneType
from unittest.mock import patch

from . import progress
from .folders import temporary
from .processes import kill_tree, resident_bytes, total_bytes
from .restoring import note_interrupt

POSIX = os.name == "posix"
CAN_FORK = sys.platform == "linux"
SILENT = 2.0  # seconds of waiting until a terminal says so
MOST = 19_900  # bytes of an output that are kept
MOST_PRINTED = 1 << 28  # bytes, at which a child is killed
SHARE = 0.5  # of the machine's memory, that a child may take
TOLD, WORK, TEMPORARY, HOME, PRINTED = "told", "work", "temporary", "home", {1: "out", 2: "err"}


# How a child ended: its exit code, or the signal below 0; whether a limit ended it. `late`: that of
# time; `large`: that of memory; `flood`: that of output. `interrupted`: Ctrl-C did.
_RESULT = "code late out err large flood interrupted"
ProcessResult = namedtuple("ProcessResult", _RESULT, defaults=(False, False))


class ChildResult(namedtuple("ChildResult", "ended told")):
    """How a child ended, and the lines that it sent on its own channel, in order."""

    def last(self, name: str, missing=None):
        """Return what was last sent under a name."""
        return next((line[name] for line in reversed(self.told) if name in line), missing)


def signal_name(number: int) -> str:
    """Return the name of a signal; most of the real-time ones have none."""
    return next((one.name for one in signal.Signals if one == number), f"signal {number}")


def run(command, seconds: float, *, given=b"", cwd=None, env=None, kept=True) -> ProcessResult:
    """Run a command to its end, or to the limit. OSError where it cannot be started."""
    with ExitStack() as stack:
        stdin, *files = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(3))
        stdin.write(given)
        stdin.seek(0)
        process = subprocess.Popen(
            [os.fspath(word) for word in command],
            stdin=stdin,
            stdout=files[0] if kept else subprocess.DEVNULL,
            stderr=files[1] if kept else subprocess.DEVNULL,
            cwd=cwd,
            env=env,
            start_new_session=POSIX,
        )
        return _follow(process.pid, process.poll, seconds, files)


def ask(request: dict, seconds: float, env: dict | None = None, shows=False) -> ChildResult:
    """Run a request in a new interpreter: `source`, or a function by `source`, `name`, `args`.

    `shows`: after an interrupt too, the result has what was printed; the verb raises it later.
    """
    return _start(multiprocessing.get_context("spawn"), request, seconds, env or {}, shows)


def ask_fork(
    imports: str, source: str, seconds: float, preload: tuple[str, ...] = (), shows=False
) -> ChildResult:
    """Run source, after `imports`, in a child forked from one process that has modules loaded.

    `shows` is as in `ask`.
    """
    server = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload([*preload, __name__])
    return _start(server, {"imports": imports, "source": source}, seconds, {}, shows)


def _start(context, request: dict, seconds: float, env: dict, shows: bool) -> ChildResult:
    with temporary("child-") as home, ExitStack() as stack:
        for name in (WORK, TEMPORARY, HOME):
            (home.path / name).mkdir()
        files = [stack.enter_context(open(home.path / one, "x+b")) for one in PRINTED.values()]
        child = context.Process(target=_be_a_child, args=(request, str(home.path)))
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")  # or the child would run that program
        try:
            with patch.dict(os.environ, env):
                child.start()
        finally:
            sys.modules["__main__"] = main
        stack.callback(child.close)
        ended = _follow(child.pid, lambda: child.exitcode, seconds, files, shows)
        lines = []
        with suppress(FileNotFoundError, ValueError):  # none, or one that was cut off by its end
            lines += map(json.loads, (home.path / TOLD).read_bytes().splitlines())
        return ChildResult(ended, tuple(lines))


def _follow(pid: int, poll: Callable, seconds: float, files, shows=False) -> ProcessResult:
    """Follow a process to its end, or to a limit; leave nothing of it. Say that it is waited for.

    An interrupt ends it, too. If it `shows` what was printed, the verb under way raises that later.
    """
    start, late, large, flood = time.monotonic(), False, False, False
    words, interrupt = f"waiting for another process, at most {seconds:,g} s", None
    told = ", ".join(filter(None, (progress.said(), words)))
    try:
        with progress.doing(told):
            while poll() is None and not (late or large or flood):
                passed = time.monotonic() - start
                if words and passed > SILENT:
                    _say_on_a_terminal(words)
                    words = ""
                time.sleep(min(0.05, 0.001 + passed / 10))
                late = passed >= seconds
                flood = any(os.fstat(file.fileno()).st_size > MOST_PRINTED for file in files)
                large = _is_large(pid)
    except KeyboardInterrupt as error:
        if not shows:
            raise
        interrupt = error
    finally:
        kill_tree(pid)
        while (code := poll()) is None:
            time.sleep(0.001)
    if interrupt is not None:
        note_interrupt(interrupt)
    output = map(_beginning_of, files)
    return ProcessResult(code, late, *output, large, flood, interrupt is not None)


def _say_on_a_terminal(words: str) -> None:
    """Say once that a process is waited for, where no page of Jupyter does."""
    with suppress(Exception):  # there may be no stream, or a closed one
        if sys.stderr.isatty():
            print(f"{words[:1].upper()}{words[1:]} …", file=sys.stderr, flush=True)


def _beginning_of(file) -> str:
    more = file.seek(0, os.SEEK_END) - MOST
    file.seek(0)
    text = file.read(MOST).decode(errors="replace")
    return f"{text}\n… {more:,} bytes are left out here …" if more > 0 else text


def _is_large(pid: int) -> bool:
    used, total = resident_bytes(pid), total_bytes()
    return used is not None and total is not None and used > SHARE * total


# -- in the child


_MINE: list = []  # of this child: its process and its folder


def tell_starter(**words) -> None:
    """Add a line to what a child tells; a copy of the child is silent."""
    process, folder = _MINE
    if os.getpid() == process:
        with open(os.path.join(folder, TOLD), "ab") as file:
            file.write(json.dumps(words).encode() + b"\n")


def _be_a_child(request: dict, folder: str) -> None:
    for number, name in PRINTED.items():
        os.dup2(os.open(os.path.join(folder, name), os.O_WRONLY | os.O_APPEND), number)
    if POSIX:
        os.setsid()
    threading.Thread(target=_end_with_the_starter, daemon=True).start()
    # Not `reconfigure`: in a forked child these streams were made for another file.
    how = {"encoding": "utf-8", "errors": "backslashreplace", "closefd": False}
    sys.stdout, sys.stderr = open(1, "w", **how), open(2, "w", 1, **how)  # noqa: SIM115
    os.chdir(os.path.join(folder, WORK))
    os.environ.setdefault("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))
    os.environ["HOME" if POSIX else "USERPROFILE"] = os.path.join(folder, HOME)
    for name in ("TMPDIR", "TEMP", "TMP"):
        os.environ[name] = os.path.join(folder, TEMPORARY)
    tempfile.tempdir, sys.argv[:], _MINE[:] = None, ["-c"], (os.getpid(), folder)
    atexit._clear()  # what was imported before registered things for the server's end
    code = _run_source(request)
    if "name" in request:
        os._exit(code)  # what it left running does not count
    threading._shutdown()  # waits for the threads that are no daemons
    atexit._run_exitfuncs()
    sys.exit(code)


def _end_with_the_starter() -> None:
    multiprocessing.parent_process().join()
    os._exit(1)


def _run_source(request: dict) -> int:
    """Run source as a program; tell its uncaught exception, return Python's exit code for it."""
    code, error, name = 0, "", "failed"
    sys.modules["__main__"] = program = ModuleType("__main__")
    try:
        exec(compile(request.get("imports", ""), "<imports>", "exec"), vars(program))
        name = "error"
        exec(compile(request["source"], "<child>", "exec"), vars(program))
        if "name" in request:
            result = vars(program)[request["name"]](*request["args"])
            fault = why_not_json(result)
            tell_starter(**({"fault": fault} if fault else {"result": result}))
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except BaseException as raised:
        code = 1
        error = "".join(traceback.format_exception_only(raised)).strip()
    with suppress(Exception):
        sys.stdout.flush()
    tell_starter(**{name: error})
    return code & 0xFF


def why_not_json(value: object) -> str:
    """Return why a value does not come through JSON as it is, in words; "" if it does."""
    if type(value) in (str, int, float, bool, NoneType):
        return ""
    if type(value) is dict:
        if odd := [key for key in value if type(key) is not str]:
            return f"a dict with a key of type {type(odd[0]).__name__}"
        value = list(value.values())
    if type(value) not in (list, tuple):
        return f"a value of type {type(value).__name__}"
    return next(filter(None, map(why_not_json, value)), "")
