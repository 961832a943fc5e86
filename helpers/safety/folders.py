"""A folder that the course made itself -> the only place where it writes, moves or deletes.

`temporary` makes a home that goes with this process, `cache` opens the one that stays, known by a
marker file of ours. A home remembers which folder it is; where another one stands in its place (a
link, somebody's folder), or none, it refuses. Names inside it are plain names.

`add_copy`, `renew_copy`, `replace_copy`: a file of the course for the learner's own folder, where
nothing of the learner's is lost.
"""

import atexit
import os
import re
import secrets
import shutil
import stat
import tempfile
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from helpers.safety.arguments import word

COURSE = "who-runs-your-function"
MARKER = "CACHEDIR.TAG"
MARK = (
    b"Signature: 8a477f597d28d172789f06886806bc55\n"  # bford.info/cachedir: backups leave it out
    b"# Made by the course Who runs your function. What is in this folder may be deleted.\n"
)
LONGEST = 100  # bytes of a name in UTF-8; every file system takes as many
_PLAIN = re.compile(r"[\w.\- ]+")
_RESERVED = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])", re.IGNORECASE)
_HOMES: list["Home"] = []


class Refusal(ValueError):
    """One sentence: whose folder it is, and what was not done."""


def remove_known(path, device: int, number: int) -> bool:
    """Remove the folder that is known by its numbers, and all in it; return whether it is gone.

    This function alone deletes folders. Another folder at that path, or a link, stays; a link
    inside is removed and not followed (`shutil.rmtree.avoids_symlink_attacks`).
    """
    if not _is_known(path, (device, number)):
        return False
    for _ in range(5):  # somebody may still be writing into what goes
        shutil.rmtree(path, ignore_errors=True)
        if not os.path.lexists(path):
            return True
    return False


def _identity(path) -> tuple[int, int]:
    info = os.lstat(path)
    return info.st_dev, info.st_ino


def _is_known(path, known: tuple[int, int]) -> bool:
    with suppress(OSError):
        return stat.S_ISDIR(os.lstat(path).st_mode) and _identity(path) == known
    return False


class Home:
    """A folder of ours. `work` gives a fresh one inside it, `put` moves what was made there."""

    def __init__(self, path: Path, marker: tuple[Path, bytes] | None = None):
        self.path, self._marker = path, marker
        self._known, self._made_by = _identity(path), os.getpid()

    def __repr__(self):
        return "a folder of the course's own"

    def stands(self) -> bool:
        """Return whether it is there and ours still: the same folder, the process that made it.

        A folder that was made after one was deleted may get its number: so the marker counts too.
        """
        mine = self._made_by == os.getpid() and _is_known(self.path, self._known)
        return mine and (self._marker is None or _has_bytes(*self._marker))

    @property
    def passport(self) -> tuple[str, int, int]:
        """Return what `remove_known` needs in another process."""
        return str(self.path), *self._known

    @contextmanager
    def work(self) -> Iterator[Path]:
        """Give a new folder inside it, which is gone after the block."""
        self._check()
        folder = Path(tempfile.mkdtemp(prefix="work-", dir=self.path))
        known = _identity(folder)
        try:
            yield folder
        finally:
            if self.stands():
                remove_known(folder, *known)

    def put(self, made: Path, name: str) -> Path:
        """Move what was made in a `work` folder to its name here, over what was there.

        Refusal where it was not made here; OSError where another process was faster.
        """
        name, inside = plain_name(name, "the name in the course's folder"), Path(made).parent
        self._check()
        if inside.parent != self.path or inside.is_symlink() or Path(made).is_symlink():
            raise Refusal("only what was made in the course's own folder is moved there")
        if Path(made).is_dir():
            self.discard(name)
        os.replace(made, self.path / name)
        return self.path / name

    def add(self, folder: str, name: str, data: bytes) -> None:
        """Write a file into a folder here, in one step; OSError where it cannot be written."""
        folder, name = plain_name(folder), plain_name(name)
        with self.work() as work:
            write_new(work / name, data)
            if (self.path / folder).is_symlink():
                raise Refusal(f"{quote_name(folder)} is a link, and nothing is written through it")
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
        path = self.path / plain_name(name, "the name in the course's folder")
        self._check()
        if path.is_dir() and not path.is_symlink():
            return remove_known(path, *_identity(path))
        path.unlink(missing_ok=True)
        return True

    def remove(self) -> bool:
        """Remove the home with all that is in it; return whether it is gone."""
        if self in _HOMES:
            _HOMES.remove(self)
        return self.stands() and remove_known(self.path, *self._known)

    def __enter__(self) -> "Home":
        return self

    def __exit__(self, kind, error, trace) -> None:
        self.remove()

    def _check(self) -> None:
        if not self.stands():
            raise Refusal("the course's own folder was moved, replaced or deleted meanwhile")


def write_new(path: Path, data: bytes) -> None:
    """Write a file that is not there yet, nor a link of that name. FileExistsError."""
    with open(path, "xb") as file:
        file.write(data)


def temporary(prefix: str) -> Home:
    """Make a home in the folder for temporary files; it goes with this process, or by `remove`.

    Refusal, in one sentence, where there is no such folder that can be written.
    """
    try:
        path = Path(tempfile.mkdtemp(prefix=plain_name(prefix))).resolve(strict=True)
        marker = path / ".made-by-the-course", secrets.token_bytes(16)
        write_new(*marker)
    except OSError as error:
        raise Refusal(
            "there is no folder for temporary files that can be written: set TMPDIR to one "
            f"({type(error).__name__})"
        ) from None
    _HOMES.append(Home(path, marker))
    return _HOMES[-1]


@atexit.register
def _leave() -> None:
    for home in list(_HOMES):
        home.remove()


def cache(name: str) -> Home:
    """Open the folder `name` of this user's cache; a temporary home where that cannot be ours.

    It stands under $XDG_CACHE_HOME or ~/.cache in a folder with our marker. One that has no marker
    and is not empty, that is a link, or that others can write is not ours.
    """
    name = plain_name(name)
    try:
        course = _usual() / COURSE
        course.mkdir(mode=0o700, exist_ok=True)
        _refuse_foreign(course, others=0o002)
        builds = course / "builds"
        builds.mkdir(mode=0o700, exist_ok=True)
        _mark(builds)
        (builds / name).mkdir(mode=0o700, exist_ok=True)
        _refuse_foreign(builds / name)
        home = Home(builds / name, (builds / MARKER, MARK))
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


def _mark(folder: Path) -> None:
    """Mark a folder as ours that is new or empty; Refusal for any other without our marker."""
    _refuse_foreign(folder)
    marker = folder / MARKER
    if all(one.startswith("work-") for one in os.listdir(folder)):  # another kernel's, just now
        with Home(folder).work() as work:
            write_new(work / MARKER, MARK)
            os.replace(work / MARKER, marker)
    if not _has_bytes(marker, MARK):
        raise Refusal("it has no marker of ours: somebody else's folder")


def _has_bytes(path: Path, data: bytes) -> bool:
    """Return whether a file, and no link, holds these bytes."""
    with suppress(OSError):
        return not path.is_symlink() and path.is_file() and path.read_bytes() == data
    return False


def _refuse_foreign(folder: Path, others: int = 0o022) -> None:
    info = os.lstat(folder)
    if not stat.S_ISDIR(info.st_mode):
        raise Refusal("a link or a file stands there")
    if hasattr(os, "geteuid") and (info.st_uid != os.geteuid() or info.st_mode & others):
        raise Refusal("others can write there")


# -- names


def quote_name(name: str) -> str:
    """Return a name in quotes, shortened; what does not print is spelled out."""
    return repr(name) if len(name) <= 40 else f"{name[:39]!r} and {len(name) - 39:,} more"


def plain_name(value: object, what: str = "a name") -> str:
    """Return a name that can stand for itself alone in any folder on any system.

    Letters, digits, `_`, `-`, `.` and spaces; no dot in front, no dot or space at the end.
    TypeError for what is no text, ValueError for a name that is not plain.
    """
    name = word(value, what)
    must = f"{what}, {quote_name(name)}, must be a plain name"
    if not _PLAIN.fullmatch(name):
        raise ValueError(f"{must}: letters, digits, '_', '-', '.' and spaces, without a path")
    if name[0] in ". -" or name[-1] in ". ":
        raise ValueError(f"{must}: no dot, '-' or space before it, no dot or space after it")
    if len(name.encode()) > LONGEST:
        raise ValueError(f"{must}: of at most {LONGEST} bytes, and it has {len(name.encode()):,}")
    if _RESERVED.fullmatch(name.partition(".")[0].rstrip()):
        raise ValueError(f"{must}: Windows keeps {name.partition('.')[0]} for a device")
    return name


def plain_names(values, what: str = "a name") -> list[str]:
    """Return plain names of which no two are one on a system that does not tell A from a."""
    names: dict[str, str] = {}
    for name in (plain_name(value, what) for value in values):
        same = unicodedata.normalize("NFKC", name).casefold()
        if same in names:
            other = quote_name(names[same])
            raise ValueError(
                f"{what}, {quote_name(name)}, must differ from {other} in more than case"
            )
        names[same] = name
    return list(names.values())


# -- copies for the learner's folder; whose folder it is, the caller has asked before


def add_copy(source: Path, place: Path) -> bool:
    """Copy a file to a place that is free; return False where something stands there. OSError."""
    with _staged(source, place) as part:
        return _move(part, place)


def renew_copy(source: Path, place: Path, mark: str) -> Path | None:
    """Copy a file to a place, free or not; return where that is now which stood there. OSError.

    Its new name has the mark in it, and a count where that name is taken too.
    """
    with _staged(source, place) as part:
        kept = _keep(place, mark) if os.path.lexists(place) else None
        os.replace(part, place)
    return kept


def replace_copy(source: Path, place: Path) -> None:
    """Copy a file over what stands at a place, which the caller knows to be no one's. OSError."""
    with _staged(source, place) as part:
        os.replace(part, place)


def set_aside(path: Path, mark: str) -> Path:
    """Give what stands at `path` another name beside it, as `renew_copy` does. OSError."""
    kept = _keep(path, mark)
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
        os.umask(mask := os.umask(0o077))
        os.chmod(part, 0o666 & ~mask)
        yield Path(part)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(part)


def _move(path: Path, place: Path) -> bool:
    """Give a file a place that is free; return False, and leave it, where another has it."""
    try:
        os.link(path, place, follow_symlinks=os.link not in os.supports_follow_symlinks)
    except FileExistsError:
        return False
    except OSError:  # a folder, or a file system without links
        if os.path.lexists(place):
            return False
        os.rename(path, place)
    return True


def _keep(path: Path, mark: str) -> Path:
    """Give what stands at `path` a name with the mark in it, and a count where that is taken."""
    candidate, count = path.with_name(f"{path.stem}.{mark}{path.suffix}"), 1
    while not _move(path, candidate):
        count += 1
        candidate = path.with_name(f"{path.stem}.{mark}-{count}{path.suffix}")
    return candidate
