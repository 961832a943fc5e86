"""A file of the course, a place in the learner's folder -> a copy there, and nothing is lost.

A copy comes in whole or not at all. What stands at its place is the learner's: it stays, or it is
kept beside the copy under a name of its own; `replace` is for what the course made and nobody
changed. Whose folder it is, the caller has asked before.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

LINK_ITSELF = {"follow_symlinks": False} if os.link in os.supports_follow_symlinks else {}


def add(source: Path, place: Path) -> bool:
    """Copy a file to a place that is free; return False where something stands there. OSError."""
    with _staged(source, place) as part:
        return _moved(part, place)


def renew(source: Path, place: Path, mark: str) -> Path | None:
    """Copy a file to a place, free or not; return where that is now which stood there. OSError.

    Its new name has the mark in it, and a count where that name is taken too.
    """
    with _staged(source, place) as part:
        kept = _kept(place, mark) if os.path.lexists(place) else None
        os.replace(part, place)
    return kept


def replace(source: Path, place: Path) -> None:
    """Copy a file over what stands at a place, which the caller knows to be no one's. OSError."""
    with _staged(source, place) as part:
        os.replace(part, place)


def set_aside(path: Path, mark: str) -> Path:
    """Give what stands at `path` another name beside it, as `renew` does. OSError."""
    kept = _kept(path, mark)
    with suppress(FileNotFoundError):
        if os.path.samefile(path, kept):  # it has both names now
            os.unlink(path)
    return kept


@contextmanager
def _staged(source: Path, place: Path) -> Iterator[Path]:
    """Copy a file beside its place, whence it goes there in one step."""
    handle, part = tempfile.mkstemp(prefix="." + place.name, suffix=".part", dir=place.parent)
    os.close(handle)
    try:
        shutil.copyfile(source, part)  # not its mode: a copy must be writable
        os.chmod(part, 0o666 & ~_umask())
        yield Path(part)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(part)


def _umask() -> int:
    """Return the permissions that this process takes from the files that it makes."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _moved(path: Path, place: Path) -> bool:
    """Give a file a place that is free; return False, and leave it, where another has it."""
    try:
        os.link(path, place, **LINK_ITSELF)
    except FileExistsError:
        return False
    except OSError:  # a folder, or a file system without links
        if os.path.lexists(place):
            return False
        os.rename(path, place)
    return True


def _kept(path: Path, mark: str) -> Path:
    """Give what stands at `path` a name with the mark in it, and a count where that is taken."""
    candidate, count = path.with_name(f"{path.stem}.{mark}{path.suffix}"), 1
    while not _moved(path, candidate):
        count += 1
        candidate = path.with_name(f"{path.stem}.{mark}-{count}{path.suffix}")
    return candidate
