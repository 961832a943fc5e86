"""A lock for installs, so that two terminals do not install at once."""

import contextlib
import os
from collections.abc import Iterator

from helpers.course import checkout
from helpers.course.terminal import say


@contextlib.contextmanager
def installing_alone() -> Iterator[int]:
    """Hold the lock for installs in a `with` block. A second terminal waits until it is free.

    The block gets the file descriptor of the lock. A program that inherits it holds the lock, too.
    """
    # An environment that course.py did not make stays as it is, so nothing is to wait for.
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
    """Lock an open file until it is closed; return False if another process has the lock.

    `handle` is its file descriptor. With `wait`, wait until the lock is free. Return True on a file
    system without locks, because the install must go on there.
    """
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
        return True  # the file system has no locks
    return True


def lock_on_windows(handle: int, wait: bool) -> None:
    """Lock the first byte of an open file.

    If another process has the lock, wait for it, or raise PermissionError if `wait` is False.
    """
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
