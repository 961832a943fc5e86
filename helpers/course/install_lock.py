"""A lock for installs, so that two terminals do not install at once."""

import contextlib
import os
from collections.abc import Iterator

from helpers.course import checkout
from helpers.course.terminal import say


@contextlib.contextmanager
def installing_alone() -> Iterator[int | None]:
    """Hold a lock in the block, so that two terminals do not install at once; the second waits."""
    checkout.refuse_foreign(checkout.VENV)
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    handle = os.open(checkout.ROOT / ".course.lock", flags)
    try:
        if not lock(handle, wait=False):
            say("Another course.py is installing here, so this one waits for it.")
            lock(handle, wait=True)
        yield handle
    finally:
        os.close(handle)


def lock(handle: int, wait: bool) -> bool:
    """Lock an open file until it is closed; return False if another process has it."""
    try:
        if os.name == "nt":
            lock_on_windows(handle, wait)
        else:
            import fcntl

            mode = fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB
            fcntl.flock(handle, mode)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return True  # a file system without locks
    return True


def lock_on_windows(handle: int, wait: bool) -> None:
    """Lock the first byte of a file; PermissionError if another process has it."""
    import msvcrt
    from time import sleep

    while True:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            return
        except PermissionError:
            if not wait:
                raise
            sleep(1)
