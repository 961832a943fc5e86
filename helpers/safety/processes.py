"""A process of this system -> the memory that it takes, and its end with all that it started.

psutil answers on every system. The small systems run in a bare Python too, and there the standard
library answers: by /proc on Linux, elsewhere by no more than a process group.
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
    """Return how many bytes of memory a process takes now; None where that is unknown.

    It is unknown of a process that has ended, and without psutil on a system without /proc.
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
    """Return how many bytes of memory the machine has; None where that is unknown."""
    if psutil is not None:
        return psutil.virtual_memory().total
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # Windows; a system without the name
        return None


def kill_tree(pid: int) -> None:
    """End a process, its group, and all that it started; one that has ended is no error.

    Without psutil and /proc, a child that has left the group of the process stays.
    """
    if psutil is not None:
        _kill_by_psutil(pid)
    else:
        for number in [*_descendants(pid), pid]:
            with suppress(OSError):  # it has ended
                os.kill(number, signal.SIGKILL if POSIX else signal.SIGTERM)
    if POSIX:
        with suppress(OSError):
            os.killpg(pid, signal.SIGKILL)


def _kill_by_psutil(pid: int) -> None:
    """End a process and all that it started; psutil finds those that left its group, too."""
    with suppress(psutil.Error):
        process = psutil.Process(pid)
        for member in [*process.children(recursive=True), process]:
            with suppress(psutil.Error):  # it has ended, and the others have not
                member.kill()


def _descendants(pid: int) -> list[int]:
    """Return the numbers of the processes that a process started, and of those that they started.

    /proc is read for that.
    The list is empty on a system without /proc.
    """
    children: dict[int, list[int]] = {}
    for child, parent in _parents():
        children.setdefault(parent, []).append(child)
    descendants = []
    waiting = [pid]
    while waiting:
        # `pop`, because a number that is used again could lead round in a circle.
        own_children = children.pop(waiting.pop(), [])
        descendants += own_children
        waiting += own_children
    return descendants


def _parents() -> Iterator[tuple[int, int]]:
    """Yield the number of each process, and that of its parent."""
    for path in PROC.glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):  # it has ended
            # The name of a program stands in brackets, and may contain spaces and brackets.
            _, parent, *_ = path.read_bytes().rpartition(b")")[2].split()
            yield int(path.parent.name), int(parent)
