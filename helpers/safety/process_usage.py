"""This process -> what it has used by now, and how much memory the system lets it have."""

import os
from contextlib import suppress
from pathlib import Path
from time import monotonic, process_time

import psutil

from helpers.safety.original_builtins import BUILTINS

__builtins__ = BUILTINS

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class Usage:
    """What this process has used by now: processor time, memory."""

    __slots__ = ("bytes", "cpu", "wall")

    def __init__(self):
        self.wall, self.cpu, self.bytes = monotonic(), process_time(), memory()[1]


def memory() -> tuple[int, int]:
    """Return the address space and the memory that this process has, in bytes."""
    try:  # psutil would look itself up in sys.modules, which an answer may have changed
        with open("/proc/self/statm") as file:
            most, resident, *_ = map(int, file.read().split())
        return most * _PAGE, resident * _PAGE
    except OSError:
        found = psutil.Process().memory_info()
        return found.vms, found.rss


def children(process: int | None = None) -> frozenset[str]:
    """Return the processes that a process, this one by default, has started and are not over."""
    try:
        tasks = Path(f"/proc/{process or 'self'}/task")
        return frozenset(p for t in tasks.iterdir() for p in (t / "children").read_text().split())
    except OSError:
        return frozenset(str(child.pid) for child in psutil.Process(process).children())


# A loop in C, as of `list(itertools.count())`, lets no other thread look: the system refuses more.
ROOM = 4  # times the limit
PER_CORE = 1 << 28  # threads of a framework set aside more than they use (glibc: an arena each)


def limit_address_space(more: int):
    """Let this process have so much more than it has; return the limits of before, if it can."""
    with suppress(ImportError, OSError, ValueError, psutil.Error):
        import resource

        before = resource.getrlimit(resource.RLIMIT_AS)
        has, _ = memory()
        most = has + ROOM * more + PER_CORE * (os.cpu_count() or 1)
        if before[0] == resource.RLIM_INFINITY or most < before[0]:
            resource.setrlimit(resource.RLIMIT_AS, (most, before[1]))
            return before
    return None


def set_address_space(before) -> None:
    """Give the limits of before back, if there are any."""
    if before is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, before)
