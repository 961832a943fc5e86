"""A way to start a child -> its end, told on a pipe; whatever it has started is ended with it.

A keeper stands between the kernel and a child. It ends the child at the limit, and when the pipe
from the kernel closes, by SIGKILL from outside; on Linux also when it takes half of the machine's
memory, and what the child has started in sessions of its own comes to the keeper (prctl(2):
PR_SET_CHILD_SUBREAPER) and is ended too. Run as a script it starts a command; a process that forks
calls `keep`. Standard library only, POSIX only.
"""

import contextlib
import ctypes
import json
import os
import select
import signal
import sys
import time

LINUX = sys.platform == "linux"
PDEATHSIG, SUBREAPER = 1, 36  # linux/prctl.h
STEP = 0.02  # seconds between two looks where the system cannot wake us
LOOK = 0.2  # seconds between two looks at the memory
PAGE = os.sysconf("SC_PAGE_SIZE")
MOST = PAGE * os.sysconf("SC_PHYS_PAGES") // 2  # bytes
PATIENCE = 5  # seconds for what is killed to be gone


def keep(start, life: int, status: int, seconds: float, orphaned=None) -> None:
    """Fork, call `start` in the child, see to its end and tell it; then leave the process.

    The child's stdin, stdout and stderr are 0, 1 and 2 of this process. `life` is a pipe that
    closes with the kernel, `status` the one that is told. `orphaned` is called at the end if the
    kernel is gone.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    if LINUX:
        _prctl(SUBREAPER, 1)
    if select.select([life], [], [], 0)[0]:  # the kernel waits no longer
        if orphaned:
            orphaned()
        os._exit(0)
    _tell(status, started=True)
    keeper, child = os.getpid(), os.fork()
    if child == 0:
        _be_the_child(start, keeper, life, status)
    _let_go()
    why = _wait(child, life, time.monotonic() + seconds)
    code = _end(child)
    _end_the_rest()
    _tell(status, code=code, late=why == "late", large=why == "large")
    if orphaned and select.select([life], [], [], 0)[0]:
        orphaned()
    os._exit(0)


def _be_the_child(start, keeper: int, life: int, status: int) -> None:
    code = 127
    try:
        os.setsid()
        if LINUX:
            _prctl(PDEATHSIG, int(signal.SIGKILL))
            _go_first()
            if os.getppid() != keeper:
                return
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _no_core()
        os.close(life)
        os.set_inheritable(status, False)
        start(status)
    except OSError as error:
        _tell(status, errno=error.errno, words=error.strerror)
    finally:
        os._exit(code)


def _let_go() -> None:
    """Hold none of the child's channels: they are to close when the child does."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    os.close(nothing)


def _wait(child: int, life: int, deadline: float) -> str:
    """Wait for the child or the kernel to end; "late" at the deadline, "large" if it grows so."""
    try:
        watched = [life, os.pidfd_open(child)]
    except (AttributeError, OSError):
        watched = [life]
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            return "" if _has_ended(child) else "late"
        if _resident(child) > MOST:
            return "large"
        step = min(left, LOOK) if len(watched) == 2 else min(left, STEP)
        if life in select.select(watched, [], [], step)[0] or _has_ended(child):
            return ""


def _resident(child: int) -> int:
    """Return how much memory a process has, in bytes; 0 where the system does not tell."""
    try:
        with open(f"/proc/{child}/statm", "rb") as file:
            return int(file.read().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


def _has_ended(child: int) -> bool:
    if hasattr(os, "waitid"):
        return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    pid, status = os.waitpid(child, os.WNOHANG)
    if pid:
        _ENDED[child] = status
    return bool(pid)


_ENDED: dict[int, int] = {}  # what was waited for where one cannot look only


def _end(child: int) -> int:
    """Kill the child's whole group, if it lives; return how the child ended."""
    with contextlib.suppress(OSError):
        os.killpg(child, signal.SIGKILL)
    with contextlib.suppress(OSError):
        if child not in _ENDED:
            os.kill(child, signal.SIGKILL)
    status = _ENDED.get(child)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1] if status is None else status)


def _end_the_rest() -> None:
    """Kill what has come to this process from children that have ended, till nothing is left."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            if os.waitpid(-1, os.WNOHANG)[0]:
                continue
        except ChildProcessError:
            return
        for pid in children_of(os.getpid()):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.001)


def children_of(parent: int) -> list[int]:
    """Return the numbers of a process's children, on Linux."""
    found = []
    for name in os.listdir("/proc") if LINUX else ():
        with contextlib.suppress(OSError, ValueError, IndexError), _stat_of(name) as file:
            if int(file.read().rpartition(b")")[2].split()[1]) == parent:
                found.append(int(name))
    return found


def _stat_of(name: str):
    return open(f"/proc/{name}/stat", "rb")


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def _go_first() -> None:
    """Where memory runs out, let the system end this child, and not the kernel (proc(5))."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def _no_core() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _tell(status: int, **words) -> None:
    with contextlib.suppress(OSError):  # nobody may be listening any more
        os.write(status, json.dumps(words).encode() + b"\n")


def read_request(life: int) -> dict:
    """Return what the kernel has written as one line; leave where it was gone before."""
    line = b""
    while not line.endswith(b"\n"):
        more = os.read(life, 65536)
        if not more:
            os._exit(0)
        line += more
    return json.loads(line)


def main() -> None:
    """Keep the command that the request names."""
    life, status = int(sys.argv[1]), int(sys.argv[2])
    for handle in (life, status):
        os.set_inheritable(handle, False)
    request = read_request(life)

    def start(_) -> None:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, and exec keeps that
        os.chdir(request["cwd"])
        os.execvpe(request["command"][0], request["command"], request["env"])

    def orphaned() -> None:
        sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
        from removal import remove_folder

        path, *known = request["home"]
        remove_folder(path, tuple(known))

    keep(start, life, status, request["seconds"], orphaned if request["home"] else None)


if __name__ == "__main__":
    main()
