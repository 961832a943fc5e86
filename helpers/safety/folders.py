"""A folder that the course made itself -> the only place where it writes, moves or deletes.

`temporary()` makes a home that goes with this process, `cache()` opens the one that stays, known
by a marker file of ours. A home remembers which folder it is; where another one stands in its
place (a link, a mount, somebody's folder), or none, it refuses. Names inside it are plain names.
"""

import atexit
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from helpers.safety.file_names import plain_name, plain_names, shown
from helpers.safety.interrupts import uninterrupted
from helpers.safety.removal import (
    BY_HANDLE,
    identity,
    is_known,
    open_folder,
    remove_entry,
    remove_folder,
)

COURSE = "who-runs-your-function"
MARKER = "CACHEDIR.TAG"
MARK = (
    b"Signature: 8a477f597d28d172789f06886806bc55\n"  # bford.info/cachedir: backups leave it out
    b"# Made by the course Who runs your function. What is in this folder may be deleted.\n"
)
_HOMES: list["Home"] = []


class Refusal(ValueError):
    """One sentence: whose folder it is, and what was not done."""


class Home:
    """A folder of ours. `work` gives a fresh one inside it, `put` moves what was made there."""

    __slots__ = ("_known", "_made_by", "_marker", "path")

    def __init__(self, path: Path, marker: tuple[Path, bytes] | None = None):
        self.path, self._marker = path, marker
        self._known, self._made_by = identity(os.lstat(path)), os.getpid()

    def __repr__(self):
        return "a folder of the course's own"

    def stands(self) -> bool:
        """Return whether it is there and ours still: the same folder, the process that made it.

        A folder that was made after one was deleted may get its number: so the marker counts too.
        """
        mine = self._made_by == os.getpid() and is_known(self.path, self._known)
        return mine and (self._marker is None or _holds(*self._marker))

    @property
    def passport(self) -> tuple[str, int, int]:
        """Return its path and what tells it from every other folder, for another process."""
        return str(self.path), *self._known

    @contextmanager
    def work(self) -> Iterator[Path]:
        """Give a new folder inside it, which is gone after the block."""
        with uninterrupted():
            self._check()
            folder = Path(tempfile.mkdtemp(prefix="work-", dir=self.path))
            known = identity(os.lstat(folder))
        try:
            yield folder
        finally:
            with uninterrupted():
                if self.stands():
                    remove_folder(folder, known)

    def put(self, made: Path, name: str) -> Path:
        """Move what was made in a `work` folder to its name here, over what was there.

        Refusal where it was not made here; OSError where another process was faster.
        """
        name = plain_name(name, "the name in the course's folder")
        with uninterrupted(), self._opened() as home:
            inside = Path(made).parent
            if inside.parent != self.path or inside.is_symlink() or Path(made).is_symlink():
                raise Refusal("only what was made in the course's own folder is moved there")
            if Path(made).is_dir():
                self._remove(name, home)
            os.replace(made, self.path / name)
        return self.path / name

    def add(self, folder: str, name: str, data: bytes) -> None:
        """Write a file into a folder here, in one step; OSError where it cannot be written."""
        folder, name = plain_name(folder), plain_name(name)
        with self.work() as work:
            write_new(work / name, data)
            with uninterrupted():
                if (self.path / folder).is_symlink():
                    raise Refusal(f"{shown(folder)} is a link, and nothing is written through it")
                os.replace(work / name, self.path / folder / name)

    def fill(self, name: str, files: dict[str, bytes]) -> Path:
        """Make the folder `name` anew with these files, all or none; what it held is gone."""
        names = plain_names(files, "the name of a file")
        with self.work() as work:
            folder = work / "new"
            folder.mkdir()
            for file in names:
                write_new(folder / file, files[file])
            return self.put(folder, name)

    def discard(self, name: str) -> bool:
        """Remove a file or a folder by its name; return whether all of it is gone."""
        name = plain_name(name, "the name in the course's folder")
        with uninterrupted(), self._opened() as home:
            return self._remove(name, home)

    def remove(self) -> bool:
        """Remove the home with all that is in it; return whether it is gone."""
        with uninterrupted():
            if self in _HOMES:
                _HOMES.remove(self)
            return self.stands() and remove_folder(self.path, self._known)

    def __enter__(self) -> "Home":
        return self

    def __exit__(self, kind, error, trace) -> None:
        self.remove()

    def _check(self) -> None:
        if not self.stands():
            raise Refusal("the course's own folder was moved, replaced or deleted meanwhile")

    @contextmanager
    def _opened(self) -> Iterator[int]:
        """Give a handle of the folder, which stays that folder whatever happens to its name."""
        self._check()
        if not BY_HANDLE:
            yield -1
            return
        home = open_folder(self.path)
        try:
            if identity(os.fstat(home)) != self._known:
                raise Refusal("the course's own folder was replaced this very moment")
            yield home
        finally:
            os.close(home)

    def _remove(self, name: str, home: int) -> bool:
        if BY_HANDLE:
            return remove_entry(name, home)
        path = self.path / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
        return not os.path.lexists(path)


def write_new(path: Path, data: bytes) -> None:
    """Write a file that is not there yet, nor a link of that name. FileExistsError."""
    with open(path, "xb") as file:
        file.write(data)


def temporary(prefix: str) -> Home:
    """Make a home in the folder for temporary files; it goes with this process, or by `remove`.

    Refusal, in one sentence, where there is no such folder that can be written.
    """
    with uninterrupted():
        try:
            made = tempfile.mkdtemp(prefix=plain_name(prefix))
            path = Path(os.fsdecode(made)).resolve(strict=True)
            marker = path / ".made-by-the-course", secrets.token_bytes(16)
            write_new(*marker)
            home = Home(path, marker)
        except (OSError, TypeError, ValueError) as error:
            raise Refusal(
                "there is no folder for temporary files that can be written: set TMPDIR to one "
                f"({type(error).__name__})"
            ) from None
        _HOMES.append(home)
        return home


def cache(name: str) -> Home:
    """Open the folder `name` of this user's cache; a temporary home where that cannot be ours.

    It stands under $XDG_CACHE_HOME or ~/.cache in a folder with our marker. One that has no marker
    and is not empty, that is a link, or that others can write is not ours.
    """
    name = plain_name(name)
    try:
        builds = _claimed(_usual() / COURSE)
        folder = builds / name
        folder.mkdir(mode=0o700, exist_ok=True)
        _refuse_foreign(folder)
        home = Home(folder, (builds / MARKER, MARK))
        with home.work():  # it can be written
            return home
    except (OSError, RuntimeError, ValueError):
        return temporary(f"{name}-")


def made_again(folder: Path) -> Home:
    """Open a folder, made if need be, that holds nothing but what can be made again.

    Refusal where it has no marker of ours and is not empty, is a link, or others can write there.
    """
    folder.mkdir(mode=0o755, exist_ok=True)
    _mark(folder)
    return Home(folder, (folder / MARKER, MARK))


def _usual() -> Path:
    """Return where this user's programs keep what can be made again. Refusal for no such place."""
    named = os.environ.get("XDG_CACHE_HOME")
    base = Path(named) if named and os.path.isabs(named) else Path.home() / ".cache"
    if not base.is_absolute() or len(base.resolve().parts) < 3:  # nothing right below the root
        raise Refusal("no folder for a cache")
    base.mkdir(mode=0o700, exist_ok=True)
    return base.resolve()


def _claimed(course: Path) -> Path:
    """Return the folder of builds, marked as ours; mark one that is new or empty."""
    course.mkdir(mode=0o700, exist_ok=True)
    _refuse_foreign(course, others=0o002)
    folder = course / "builds"
    folder.mkdir(mode=0o700, exist_ok=True)
    _mark(folder)
    return folder


def _mark(folder: Path) -> None:
    """Mark a folder as ours that is new or empty; Refusal for any other without our marker."""
    _refuse_foreign(folder)
    marker = folder / MARKER
    if all(one.startswith("work-") for one in os.listdir(folder)):  # another kernel's, just now
        with Home(folder).work() as work:
            write_new(work / MARKER, MARK)
            os.replace(work / MARKER, marker)
    if not _holds(marker, MARK):
        raise Refusal("it has no marker of ours: somebody else's folder")


def _holds(path: Path, data: bytes) -> bool:
    """Return whether a file, and no link, holds these bytes."""
    try:
        return not path.is_symlink() and path.is_file() and path.read_bytes() == data
    except OSError:
        return False


def _refuse_foreign(folder: Path, others: int = 0o022) -> None:
    info = os.lstat(folder)
    if not stat.S_ISDIR(info.st_mode):
        raise Refusal("a link or a file stands there")
    if hasattr(os, "geteuid") and (info.st_uid != os.geteuid() or info.st_mode & others):
        raise Refusal("others can write there")


@atexit.register
def _leave() -> None:
    for home in list(_HOMES):
        home.remove()
