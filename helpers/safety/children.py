"""A command, or source -> what a child process printed and told, and how it ended.

Nothing that it started is left, however it ends. A supervisor stands between the kernel and a child
that runs Python: it ends the child at the limit, at half of the machine's memory, and with the
kernel. What is printed is kept up to a size, the beginning and the end.

A child tells results on a channel of its own, so nothing that it prints is taken for one.
"""

import atexit
import contextlib
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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

try:
    import psutil
except ImportError:  # a bare Python runs the small systems
    psutil = None

from helpers.safety.folders import Home, remove_known, temporary, write_new

POSIX, LINUX = os.name == "posix", sys.platform == "linux"
CAN_FORK = LINUX
ROOT = str(Path(__file__).parents[2])
MOST = 19_900  # bytes of an output that are kept
MEMORY = psutil.virtual_memory().total // 2 if psutil else 0  # bytes that a child may take
GRACE = 5  # seconds for what is killed to be gone
PDEATHSIG, SUBREAPER = 1, 36  # linux/prctl.h
PLACE = "COURSE_CHILD_TELLS"  # in the environment of a child: its folder
REQUEST, TOLD, WORK, TEMPORARY, HOME = "request.json", "told", "work", "temporary", "home"
MOST_TOLD = 50_000_000  # bytes that a child may tell
MOST_VALUES = 2_000_000  # of an argument or a result
MOST_BITS = 14_000  # of an int: Python writes no more than 4,300 digits
LONGEST = 20_000  # characters of an error


@dataclass(frozen=True)
class Ended:
    """How a child ended: its exit code, or the signal below 0; whether a limit ended it.

    `late`: that of time. `large`: that of memory. `lost`: it ended its supervisor, so `code` is
    not known.
    """

    code: int = 0
    late: bool = False
    out: str = ""
    err: str = ""
    lost: bool = False
    large: bool = False


@dataclass(frozen=True)
class Reply:
    """How a child ended, and the lines that it told on its own channel, in order."""

    ended: Ended
    told: tuple[dict, ...]

    def last(self, name: str, missing=None):
        """Return what was told last under a name."""
        return next((line[name] for line in reversed(self.told) if name in line), missing)


class BoundedBuffer:
    """Bytes in pieces -> the first and the last of them, in bounded memory."""

    def __init__(self):
        self._half, self._head, self._tail, self._count = MOST // 2, b"", b"", 0

    def add(self, data: bytes) -> None:
        """Take a piece."""
        self._count += len(data)
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail = (self._tail + data[room:])[-self._half :] if room < len(data) else self._tail

    def read(self, stream) -> None:
        """Take all that comes out of a pipe."""
        with stream, contextlib.suppress(OSError, ValueError):
            while data := stream.read1(65536):
                self.add(data)

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


# -- in the kernel


def run(command, seconds: float, *, given=b"", cwd=None, env=None, kept=True) -> Ended:
    """Run a command to its end, or to the limit. OSError where it cannot be started.

    What it prints is thrown away unless it is `kept`. Ctrl-C ends the command, then the wait.
    """
    return _run(command, seconds, given, cwd, env, kept)


def _run(command, seconds, given=b"", cwd=None, env=None, kept=True, gone=None) -> Ended:
    printed = subprocess.PIPE if kept else subprocess.DEVNULL
    with tempfile.TemporaryFile() as stdin:
        stdin.write(given)
        stdin.seek(0)
        process = subprocess.Popen(
            [os.fspath(word) for word in command],
            stdin=stdin,
            stdout=printed,
            stderr=printed,
            cwd=cwd,
            env=env,
            start_new_session=POSIX,
            preexec_fn=_be_a_child if gone and POSIX else None,  # a supervisor has no locks
        )
    return _follow(process.pid, process.poll, (process.stdout, process.stderr), seconds, gone)


def ask(request: dict, seconds: float, env: dict | None = None) -> Reply:
    """Run a request in a new interpreter: `source`, or `source`, `name` and `args` of a function.

    The child finds the modules that this process finds.
    """
    with _folder_of({"path": _search_path(), **request}) as home:
        start = f"import sys; sys.path.insert(0, {ROOT!r}); import {__name__} as c; c.main()"
        command = [sys.executable, "-P", "-c", start, str(home.path)]
        work = (_run_in, command, seconds, env, str(home.path / WORK))
        return _supervised(multiprocessing.get_context("spawn"), home, work)


def ask_fork(imports: str, source: str, seconds: float, preload: tuple[str, ...] = ()) -> Reply:
    """Run source in a child that is forked, on Linux, from a process that has modules loaded.

    That process is started once and ends with the kernel. `imports` is source that runs first; of
    an exception in it the child tells `failed`.
    """
    server = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload([*preload, __name__])
    with _folder_of({}) as home:
        return _supervised(server, home, (_run_forked, imports, source, seconds, str(home.path)))


@contextlib.contextmanager
def _folder_of(request: dict) -> Iterator[Home]:
    """Give a folder with a request and all that a child needs; it is gone after the block."""
    with temporary("child-") as home:
        for name in (WORK, TEMPORARY, HOME):
            (home.path / name).mkdir()
        write_new(home.path / REQUEST, json.dumps(request).encode())
        yield home


def _supervised(context, home: Home, work: tuple) -> Reply:
    """Have a supervisor do some work, which returns an `Ended`, beside the kernel."""
    ours, theirs = context.Pipe()
    supervisor = context.Process(target=_supervise, args=(theirs, home.passport, *work))
    try:
        with _no_main_program():
            supervisor.start()
        theirs.close()
        ended = ours.recv()
    except (EOFError, ConnectionError):
        ended = Ended(-signal.SIGKILL if POSIX else 1, lost=True)
    finally:
        theirs.close()
        ours.close()  # at this the supervisor ends the child and all it started
        if supervisor.pid is not None:
            supervisor.join(GRACE)
            supervisor.kill()
            supervisor.join()
            supervisor.close()
    return Reply(ended, _told_in(home))


@contextlib.contextmanager
def _no_main_program() -> Iterator[None]:
    """Hide `__main__` meanwhile: multiprocessing would run that program again in each child."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _search_path() -> list[str]:
    """Return where this process finds modules, by places that hold in any working folder."""
    texts = [one for one in sys.path if type(one) is str]
    try:
        os.getcwd()
    except OSError:  # the folder is gone, so nothing is found in it
        texts = list(filter(os.path.isabs, texts))
    return list(dict.fromkeys([ROOT, *(os.path.abspath(one) for one in texts)]))


def _told_in(home: Home) -> tuple[dict, ...]:
    """Return the lines that a child told; one that was cut off by its end is no line."""
    try:
        with open(home.path / TOLD, "rb") as file:
            data = file.read(MOST_TOLD + 1)
    except OSError:
        return ()
    if len(data) > MOST_TOLD:
        return ({"fault": f"more than {MOST_TOLD // 1_000_000:,} MB"},)
    lines = []
    for line in data.split(b"\n"):
        with contextlib.suppress(ValueError):
            lines.append(json.loads(line))
    return tuple(line for line in lines if type(line) is dict)


# -- in the kernel for a command, in the supervisor for Python


def _follow(pid: int, poll: Callable, streams, seconds: float, gone) -> Ended:
    """Follow a process to its end, to the limit, or until the kernel is `gone`; leave nothing."""
    supervised, gone = gone is not None, gone or threading.Event()
    buffers = [BoundedBuffer() for _ in streams]
    readers = [
        threading.Thread(target=buffer.read, args=(stream,), daemon=True)
        for buffer, stream in zip(buffers, streams, strict=True)
        if stream is not None
    ]
    start, looked, late, large = time.monotonic(), 0.0, False, False
    try:
        for reader in readers:
            reader.start()
        while poll() is None and not (late or large or gone.is_set()):
            now = time.monotonic() - start
            gone.wait(min(0.05, 0.001 + now / 10))
            late = now >= seconds
            if now > looked + 0.2:
                looked = now
                with contextlib.suppress(psutil.Error):
                    large = psutil.Process(pid).memory_info().rss > MEMORY
    finally:
        _kill_tree(pid)
        while (code := poll()) is None:
            time.sleep(0.001)
        if supervised:
            _end_the_rest()
        for reader in readers:
            reader.join(1)  # somebody may hold the pipe open for ever
    return Ended(code, late, *map(str, buffers), large=large)


def _kill_tree(pid: int) -> None:
    """Kill a process, its group, and all that it has started and that can still be found."""
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        for one in [*process.children(recursive=True), process]:
            with contextlib.suppress(psutil.NoSuchProcess):
                one.kill()
    if POSIX:
        with contextlib.suppress(OSError):
            os.killpg(pid, signal.SIGKILL)


# -- in the supervisor


def _supervise(theirs, home: tuple, work: Callable, *args) -> None:
    """Do the work, tell how it ended; end all that is left, also when the kernel is gone.

    On Linux whatever the child has started comes to this process when the child ends (prctl(2):
    PR_SET_CHILD_SUBREAPER).
    """
    if POSIX:
        os.setsid()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(number, signal.SIG_IGN)
    if LINUX:
        _prctl(SUBREAPER, 1)
    gone = threading.Event()

    def watch() -> None:
        with contextlib.suppress(EOFError, OSError):
            theirs.recv()
        gone.set()

    watcher = threading.Thread(target=watch, daemon=True)
    try:
        ended = work(*args, gone, watcher.start)
        if gone.is_set():
            remove_known(*home)
        theirs.send(ended)
    finally:
        os._exit(0)


def _end_the_rest() -> None:
    """Kill what has come to this process from children that have ended, till nothing is left."""
    until = time.monotonic() + GRACE
    while (left := psutil.Process().children()) and time.monotonic() < until:
        for one in left:
            _kill_tree(one.pid)
        psutil.wait_procs(left, timeout=0.1)


def _run_in(command, seconds, env, folder, gone, watch: Callable) -> Ended:
    watch()
    return _run(command, seconds, cwd=folder, env=env, gone=gone)


def _run_forked(imports, source, seconds, folder, gone, watch: Callable) -> Ended:
    """Fork a child that runs source."""
    pipes = [os.pipe(), os.pipe()]
    pid = os.fork()
    if not pid:
        code = 1
        try:
            nothing = os.open(os.devnull, os.O_RDONLY)
            for number, end in enumerate((nothing, pipes[0][1], pipes[1][1])):
                os.dup2(end, number)
            os.closerange(3, 1 + nothing)
            sys.stdin = open(0, closefd=False)  # noqa: SIM115
            os.setsid()
            _be_a_child()
            atexit._clear()  # what was imported before registered things for the server's end
            code = run_source(source, settle(folder), imports)
            with contextlib.suppress(BaseException):
                threading._shutdown()  # waits for the threads that are no daemons; a fork does not
            atexit._run_exitfuncs()
            sys.stdout.flush()
        finally:
            os._exit(code)
    for _, end in pipes:
        os.close(end)
    watch()
    found = []

    def poll() -> int | None:
        ended, status = (0, 0) if found else os.waitpid(pid, os.WNOHANG)
        if ended:
            found.append(os.waitstatus_to_exitcode(status))
        return found[0] if found else None

    return _follow(pid, poll, [os.fdopen(end, "rb") for end, _ in pipes], seconds, gone)


def _be_a_child() -> None:
    """Die with the supervisor, and before the kernel where memory runs out; leave no core."""
    import resource

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if LINUX:
        _prctl(PDEATHSIG, int(signal.SIGKILL))
        with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


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


def settle(folder: str) -> Channel:
    """Make this process the child of a folder: work, home and temporary files are inside.

    Caches stay where they are, and so do the packages that its user has installed. What it prints
    is UTF-8 whatever the locale says, as in a kernel.
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


def main() -> None:
    """Do what the request in the folder asks; the folder is the one argument."""
    folder = sys.argv[1]
    with open(os.path.join(folder, REQUEST), encoding="utf-8") as file:
        request = json.load(file)
    told = settle(folder)
    sys.argv[:] = ["-c"]
    sys.path[:] = [*request["path"], *(one for one in sys.path if one not in request["path"])]
    if "name" in request:
        _run_function(request["source"], request["name"], request["args"], told)
        os._exit(0)  # what it left running does not count
    sys.exit(run_source(request["source"], told))


def run_source(source: str, told: Channel, imports: str = "") -> int:
    """Run source as a program; tell its uncaught exception, return Python's exit code for it."""
    code, error, name = 0, "", "failed"
    space = vars(sys.modules.setdefault("__main__", ModuleType("__main__")))
    sys.modules["__main__"] = program = ModuleType("__main__")
    space = vars(program)
    try:
        exec(compile(imports, "<imports>", "exec"), space)
        name = "error"
        exec(compile(source, "<child>", "exec"), space)
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
        code = code if -(2**31) <= code < 2**31 else -1  # as Python does
    except BaseException as raised:
        code, error = 1, _words_of(raised)
    with contextlib.suppress(Exception):
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
    try:
        lines = "".join(traceback.format_exception_only(type(raised), raised)).strip()
    except BaseException:
        lines = type(raised).__name__
    return (
        lines if len(lines) <= LONGEST else f"{lines[:LONGEST]} … ({len(lines) - LONGEST:,} more)"
    )


def why_not_json(value: object) -> str:
    """Return why a value does not come through JSON as it is, in words; "" if it does."""
    return _fault(value, 0, iter(range(MOST_VALUES)))


def _fault(value: object, depth: int, left: Iterator[int]) -> str:
    # JSON writes what two places share twice: sixty lists of the next one twice would never end.
    if next(left, None) is None:
        return f"what comes to more than {MOST_VALUES:,} values when it is written out"
    if type(value) is int and value.bit_length() > MOST_BITS:
        return "an int of thousands of digits"
    if type(value) in (str, int, float, bool, type(None)):
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
    return next(filter(None, (_fault(one, depth + 1, left) for one in value)), "")
