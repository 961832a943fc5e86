"""An open folder and a name in it -> that entry is gone, and nothing else was touched.

A link is removed, never followed. A folder's folders are first moved to the top: so depth costs no
recursion, and what is mounted inside stays (it cannot be moved), and is told by a False.
"""

import itertools
import os
import shutil
import stat
from collections.abc import Iterator

BY_HANDLE = os.open in os.supports_dir_fd and os.rename in os.supports_dir_fd
TRIES = 5  # somebody may still be writing into what goes


def open_folder(path: str, **within) -> int:
    """Return a handle of a folder that is no link. OSError where there is none."""
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, **within)


def identity(info: os.stat_result) -> tuple[int, int]:
    """Return what tells a folder from every other one on this machine."""
    return info.st_dev, info.st_ino


def is_known(path: str, known: tuple[int, int]) -> bool:
    """Return whether the very folder that is known stands at a path, and no link to it."""
    try:
        info = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISDIR(info.st_mode) and identity(info) == known


def remove_entry(name: str, home: int) -> bool:
    """Remove `name` from the open folder `home`; return whether all of it is gone."""
    fresh, waiting = _fresh_names(home), []
    gone = _take(name, home, home, fresh, waiting)
    while waiting:
        one = waiting.pop()
        try:
            gone = _clear(one, home, fresh, waiting) and gone
            os.rmdir(one, dir_fd=home)
        except FileNotFoundError:
            continue
        except OSError:
            gone = False
    return gone


def remove_folder(path: str, known: tuple[int, int]) -> bool:
    """Remove a folder and all in it, if it is still the known one; return whether it is gone."""
    if not is_known(path, known):
        return False
    if not BY_HANDLE:
        shutil.rmtree(path, ignore_errors=True)
        return not os.path.lexists(path)
    home = open_folder(path)
    try:
        if identity(os.fstat(home)) != known:
            return False
        for _ in range(TRIES):
            for name in os.listdir(home):
                remove_entry(name, home)
            try:
                os.rmdir(path)
            except OSError:
                continue
            return True
        return False
    finally:
        os.close(home)


def _take(name: str, within: int, home: int, fresh: Iterator[str], waiting: list[str]) -> bool:
    """Remove a file; move a folder to the top, where it waits. Return whether that was done."""
    try:
        if stat.S_ISDIR(os.stat(name, dir_fd=within, follow_symlinks=False).st_mode):
            top = next(fresh)
            os.rename(name, top, src_dir_fd=within, dst_dir_fd=home)
            waiting.append(top)
        else:
            os.unlink(name, dir_fd=within)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _clear(name: str, home: int, fresh: Iterator[str], waiting: list[str]) -> bool:
    """Empty a folder: its files go, its folders move to the top and wait there."""
    folder = _opened(name, home)
    try:
        taken = [_take(one, folder, home, fresh, waiting) for one in os.listdir(folder)]
        return all(taken)
    finally:
        os.close(folder)


def _opened(name: str, home: int) -> int:
    """Open a folder to be cleared, also one that its maker has made unreadable."""
    try:
        folder = open_folder(name, dir_fd=home)
    except PermissionError:
        os.chmod(name, 0o700, dir_fd=home)
        return open_folder(name, dir_fd=home)
    os.fchmod(folder, 0o700)
    return folder


def _fresh_names(home: int) -> Iterator[str]:
    taken = set(os.listdir(home))
    return (f".gone-{n}" for n in itertools.count() if f".gone-{n}" not in taken)
