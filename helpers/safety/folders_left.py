"""A home for temporary files -> one that goes, at the latest, when the next process makes its own.

A kernel that needs more than 2.5 seconds to end gets SIGTERM from Jupyter, and removes nothing. So
a home has a file that its process keeps locked, flock(2); however that ends, the lock goes with it.
"""

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from helpers.safety.removal import identity, remove_folder

try:
    import fcntl
except ImportError:  # Windows: homes of what was killed stay
    fcntl = None

LOCKED = b"locked "  # written once it is: a home in the making is nobody's to remove
MARKER = ".held-by-the-course"
_LOOKED_IN: set[str] = set()


def hold(home: Path) -> tuple[int | None, tuple[Path, bytes]]:
    """Write the marker of a home; return a handle that keeps it locked, and its path and bytes."""
    path, told = home / MARKER, secrets.token_bytes(16)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    locked = False
    try:
        locked = _locks(handle)
        told = LOCKED + told if locked else told
        os.write(handle, told)
    finally:
        if not locked:
            os.close(handle)
    return handle if locked else None, (path, told)


def remove_left(folder: str) -> None:
    """Remove homes of this user whose process is gone, in a folder; looked for once in each."""
    if fcntl is None or folder in _LOOKED_IN:
        return
    _LOOKED_IN.add(folder)
    with suppress(OSError):
        for name in os.listdir(folder):
            with suppress(OSError):  # not a home, or one whose process lives
                _remove(os.path.join(folder, name))


def _remove(path: str) -> None:
    info = os.lstat(path)
    if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.geteuid() or info.st_mode & 0o077:
        return
    handle = os.open(os.path.join(path, MARKER), os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if _locks(handle) and os.read(handle, len(LOCKED)) == LOCKED:
            remove_folder(path, identity(info))
    finally:
        os.close(handle)


def _locks(handle: int) -> bool:
    """Lock a file, if nobody else has, and the file system can; return whether it is locked now."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
