"""A command, or source -> what a child process printed and told, and how it ended.

A child ends at its limit, at half of the machine's memory, on Ctrl-C and with the kernel, and what
it has started ends with it. What is printed is kept up to a size, the beginning and the end. A
child tells results on a channel of its own, so nothing that it prints is taken for one.
"""

import atexit
import ctypes
import json
import multiprocessing
import os
import signal
import site
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from types import ModuleType, NoneType
from unittest.mock import patch

with suppress(ImportError):  # a bare Python runs the small systems
    import psutil

from helpers.safety.folders import temporary

POSIX, LINUX = os.name == "posix", sys.platform == "linux"
CAN_FORK = LINUX
MOST = 19_900  # bytes of an output that are kept
MOST_PRINTED = 1 << 28  # bytes, at which a child is killed
MOST_TOLD = 50_000_000  # bytes that a child may tell
MOST_BITS = 14_000  # of an int: Python writes no more than 4,300 digits
LONGEST = 20_000  # characters of an error
SHARE = 0.5  # of the machine's memory, that a child may take
PLACE = "COURSE_CHILD_TELLS"  # in the environment of a child: its folder
TOLD, WORK, TEMPORARY, HOME, PRINTED = "told", "work", "temporary", "home", {1: "out", 2: "err"}


@dataclass(frozen=True)
class ProcessResult:
    """How a child ended: its exit code, or the signal below 0; whether a limit ended it.

    `late`: that of time. `large`: that of memory. `lost`: its code is not known.
    """

    code: int = 0
    late: bool = False
    out: str = ""
    err: str = ""
    lost: bool = False
    large: bool = False


@dataclass(frozen=True)
class ChildResult:
    """How a child ended, and the lines that it told on its own channel, in order."""

    ended: ProcessResult
    told: tuple[dict, ...]

    def last(self, name: str, missing=None):
        """Return what was told last under a name."""
        return next((line[name] for line in reversed(self.told) if name in line), missing)


def signal_name(number: int) -> str:
    """Return the name of a signal; most of the real-time ones have none."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


# -- in the kernel


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


def ask(request: dict, seconds: float, env: dict | None = None) -> ChildResult:
    """Run a request in a new interpreter: `source`, or a function by `source`, `name`, `args`."""
    return _start(multiprocessing.get_context("spawn"), request, seconds, env or {})


def ask_fork(
    imports: str, source: str, seconds: float, preload: tuple[str, ...] = ()
) -> ChildResult:
    """Run source in a child that is forked from a process, started once, that has modules loaded.

    `imports` is source that runs first; of an exception in it the child tells `failed`.
    """
    server = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload([*preload, __name__])
    return _start(server, {"imports": imports, "source": source}, seconds, {})


def _start(context, request: dict, seconds: float, env: dict) -> ChildResult:
    """Run a request in a child with a folder of its own, which is gone afterwards."""
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
        ended = _follow(child.pid, lambda: child.exitcode, seconds, files)
        told = home.path / TOLD
        return ChildResult(ended, _lines(told.read_bytes() if told.is_file() else b""))


def _lines(data: bytes) -> tuple[dict, ...]:
    """Return what a child told; a line that was cut off by its end is none."""
    if len(data) > MOST_TOLD:
        return ({"fault": f"more than {MOST_TOLD // 1_000_000:,} MB"},)
    lines = []
    for line in data.splitlines():
        with suppress(ValueError):
            lines.append(json.loads(line))
    return tuple(line for line in lines if type(line) is dict)


def _follow(pid: int, poll: Callable, seconds: float, files) -> ProcessResult:
    """Follow a process to its end, or to a limit; leave nothing of it."""
    start, late, large, flood = time.monotonic(), False, False, False
    try:
        while poll() is None and not (late or large or flood):
            passed = time.monotonic() - start
            time.sleep(min(0.05, 0.001 + passed / 10))
            late = passed >= seconds
            flood = any(os.fstat(file.fileno()).st_size > MOST_PRINTED for file in files)
            with suppress(psutil.Error):
                used = psutil.Process(pid).memory_info().rss
                large = used > SHARE * psutil.virtual_memory().total
    finally:
        _kill_tree(pid)
        while (code := poll()) is None:
            time.sleep(0.001)
    return ProcessResult(code, late, *map(_ends_of, files), large=large)


def _ends_of(file) -> str:
    """Return what was printed into a file, or the first and the last of it."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if size <= MOST:
        return file.read().decode(errors="replace")
    head = file.read(MOST // 2).decode(errors="replace")
    file.seek(size - MOST // 2)
    tail = file.read(MOST // 2).decode(errors="replace")
    return f"{head}\n… {size - MOST:,} bytes are left out here …\n{tail}"


def _kill_tree(pid: int) -> None:
    """Kill a process, what it has started, and its group."""
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        for one in [*process.children(recursive=True), process]:
            with suppress(psutil.NoSuchProcess):
                one.kill()
    if POSIX:
        with suppress(OSError):
            os.killpg(pid, signal.SIGKILL)


# -- in the child


class Channel:
    """The file in which a child tells its starter, a line each; a copy of the child is silent."""

    def __init__(self, folder: str):
        self._path, self._teller = os.path.join(folder, TOLD), os.getpid()

    def tell(self, **words) -> None:
        """Add a line. The file is open only so long: nobody can close it or write garbage to it."""
        if os.getpid() == self._teller:
            with open(self._path, "ab") as file:
                file.write(json.dumps(words).encode() + b"\n")


def channel() -> Channel:
    """Return the channel of the child that this is."""
    return Channel(os.environ[PLACE])


def _be_a_child(request: dict, folder: str) -> None:
    """Do what a request asks: end with the starter, and before it where memory runs out."""
    for number, name in PRINTED.items():
        os.dup2(os.open(os.path.join(folder, name), os.O_WRONLY | os.O_APPEND), number)
    if POSIX:
        os.setsid()
    if LINUX:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        ctypes.CDLL(None).prctl(1, int(signal.SIGKILL), 0, 0, 0)  # PR_SET_PDEATHSIG
        with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
    threading.Thread(target=_end_with_the_starter, daemon=True).start()
    told = _settle(folder)
    sys.argv[:] = ["-c"]
    if "name" in request:
        _run_function(request["source"], request["name"], request["args"], told)
        os._exit(0)  # what it left running does not count
    atexit._clear()  # what was imported before registered things for the server's end
    code = _run_source(request["source"], told, request.get("imports", ""))
    threading._shutdown()  # waits for the threads that are no daemons
    atexit._run_exitfuncs()
    sys.exit(code)


def _end_with_the_starter() -> None:
    multiprocessing.parent_process().join()
    os._exit(1)


def _settle(folder: str) -> Channel:
    """Make this process the child of a folder: work, home and temporary files are inside.

    Caches and the user's packages stay where they are. What it prints is UTF-8, as in a kernel.
    """
    # Not `reconfigure`: in a forked child these streams were made for another file.
    how = {"encoding": "utf-8", "errors": "backslashreplace", "closefd": False}
    sys.stdout, sys.stderr = open(1, "w", **how), open(2, "w", 1, **how)  # noqa: SIM115
    os.chdir(os.path.join(folder, WORK))
    cache = os.path.join(os.path.expanduser("~"), ".cache")
    for name, place in (("XDG_CACHE_HOME", cache), ("PYTHONUSERBASE", site.USER_BASE or "")):
        if os.path.isabs(place) and not os.environ.get(name):
            os.environ[name] = place
    os.environ["HOME" if POSIX else "USERPROFILE"] = os.path.join(folder, HOME)
    for name in ("TMPDIR", "TEMP", "TMP"):
        os.environ[name] = os.path.join(folder, TEMPORARY)
    tempfile.tempdir = None
    os.environ[PLACE] = folder
    return Channel(folder)


def _run_source(source: str, told: Channel, imports: str = "") -> int:
    """Run source as a program; tell its uncaught exception, return Python's exit code for it."""
    code, error, name = 0, "", "failed"
    sys.modules["__main__"] = program = ModuleType("__main__")
    try:
        exec(compile(imports, "<imports>", "exec"), vars(program))
        name = "error"
        exec(compile(source, "<child>", "exec"), vars(program))
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except BaseException as raised:
        code, error = 1, _words_of(raised)
    with suppress(Exception):
        sys.stdout.flush()
    told.tell(**{name: error})
    return code & 0xFF


def _run_function(source: str, name: str, args: list, told: Channel) -> None:
    """Call the function that source defines, and tell its result, or why there is none."""
    space = {"__name__": "apart"}
    try:
        exec(compile(source, "<apart>", "exec"), space)
        result = space[name](*args)
    except SystemExit as leaving:
        told.tell(raised=f"it left by {_words_of(leaving)} instead of returning")
    except BaseException as raised:
        told.tell(raised=_words_of(raised))
    else:
        fault = why_not_json(result)
        told.tell(fault=fault) if fault else told.tell(result=result)


def _words_of(raised: BaseException) -> str:
    """Return an exception's lines as Python prints them, without its traceback."""
    lines = "".join(traceback.format_exception_only(type(raised), raised)).strip()
    more = len(lines) - LONGEST
    return lines if more <= 0 else f"{lines[:LONGEST]} … ({more:,} more)"


def why_not_json(value: object, depth: int = 0) -> str:
    """Return why a value does not come through JSON as it is, in words; "" if it does."""
    if type(value) is int and value.bit_length() > MOST_BITS:
        return "an int of thousands of digits"
    if type(value) in (str, int, float, bool, NoneType):
        return ""
    if depth > 100:
        return "what holds itself, or is nested more than 100 deep"
    if type(value) is dict:
        odd = next((key for key in value if type(key) is not str), "")
        if odd != "":
            return f"a dict with a key of type {type(odd).__name__}"
        value = list(value.values())
    if type(value) not in (list, tuple):
        return f"a value of type {type(value).__name__}"
    return next(filter(None, (why_not_json(one, depth + 1) for one in value)), "")
