"""Read how much memory a process takes, and kill a process with all that it has started.

The package psutil does both on every system. Without psutil, the standard library has to do: on
Linux by the files in /proc, elsewhere only by the process group. The programs in `mini` run without
psutil.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

try:
    import psutil
except ImportError:
    psutil = None

POSIX = os.name == "posix"
PROC = Path("/proc")


def resident_bytes(pid: int) -> int | None:
    """Return how many bytes of memory a process takes now; None if that is unknown.

    That is unknown of a process that has ended, and on a system with neither psutil nor /proc.
    """
    if psutil is not None:
        with suppress(psutil.Error):
            return psutil.Process(pid).memory_info().rss
        return None
    try:
        pages = int((PROC / str(pid) / "statm").read_bytes().split()[1])
    except (OSError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def total_bytes() -> int | None:
    """Return how many bytes of memory the machine has; None if that is unknown."""
    if psutil is not None:
        return psutil.virtual_memory().total
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # Windows, or a system without these names
        return None


def kill_tree(pid: int) -> None:
    """Kill a process, its process group, and all processes that it started.

    A process that has ended already is no error. Without psutil and /proc, a child that has left
    the process group is not found, and runs on.
    """
    if psutil is not None:
        _kill_by_psutil(pid)
    else:
        for member in [*_descendants(pid), pid]:
            with suppress(OSError):  # that process has ended
                os.kill(member, signal.SIGKILL if POSIX else signal.SIGTERM)
    if POSIX:
        with suppress(OSError):
            os.killpg(pid, signal.SIGKILL)


def _kill_by_psutil(pid: int) -> None:
    """Kill a process and all that it started, also those that have left its process group."""
    with suppress(psutil.Error):
        process = psutil.Process(pid)
        for member in [*process.children(recursive=True), process]:
            with suppress(psutil.Error):  # this member has ended; the others may run
                member.kill()


def _descendants(pid: int) -> list[int]:
    """Return the process IDs of all children of a process, of their children, and so on.

    They are read from /proc. The list is empty on a system without /proc.
    """
    children_by_parent: dict[int, list[int]] = {}
    for child, parent in _read_parents():
        children_by_parent.setdefault(parent, []).append(child)
    descendants = []
    waiting = [pid]
    while waiting:
        # Each parent is removed from the dict, so that a circle of parents cannot loop for ever.
        # The system may use a process ID again while /proc is read.
        children = children_by_parent.pop(waiting.pop(), [])
        descendants += children
        waiting += children
    return descendants


def _read_parents() -> Iterator[tuple[int, int]]:
    """Yield (process ID, process ID of its parent) for each process in /proc."""
    for path in PROC.glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):  # the process has ended meanwhile
            # The file is "123 (name) state parent …". The name may contain spaces and brackets, so
            # the fields are counted from the last bracket.
            _, parent, *_ = path.read_bytes().rpartition(b")")[2].split()
            yield int(path.parent.name), int(parent)
