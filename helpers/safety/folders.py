"""A folder that the course made itself -> the only place where it writes, moves or deletes.

`temporary` makes a home that goes with this process, `cache` opens the one that stays, `made_again`
one that is known by a marker file of ours; somebody else's folder is refused. Names inside a home
are plain names.

`add_copy`, `renew_copy`, `replace_copy`: a file of the course for the learner's own folder, where
nothing of the learner's is lost.
"""

import atexit
import os
import re
import shutil
import tempfile
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from helpers.safety.arguments import require_str

COURSE = "who-runs-your-function"
MARKER = "CACHEDIR.TAG"
MARK = (
    b"Signature: 8a477f597d28d172789f06886806bc55\n"  # bford.info/cachedir: backups leave it out
    b"# Made by the course Who runs your function. What is in this folder may be deleted.\n"
)
LONGEST = 100  # bytes of a name in UTF-8; every file system takes as many
_PLAIN = re.compile(r"(?![ .-])[\w.\- ]+(?<![ .])")
_RESERVED = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])", re.IGNORECASE)
_HOMES: list[tuple["ManagedDirectory", int]] = []  # that go with a process


class Refusal(ValueError):
    """One sentence: whose folder it is, and what was not done."""


class ManagedDirectory:
    """A folder of ours. `work` gives a fresh one inside it, `put` moves what was made there."""

    def __init__(self, path: Path):
        self.path = path

    def __repr__(self):
        return "a folder of the course's own"

    def stands(self) -> bool:
        """Return whether it is there still, and no link."""
        return self.path.is_dir() and not self.path.is_symlink()

    @contextmanager
    def work(self) -> Iterator[Path]:
        """Give a new folder inside it, which is gone after the block."""
        self._check()
        with tempfile.TemporaryDirectory(
            prefix="work-", dir=self.path, ignore_cleanup_errors=True
        ) as folder:
            yield Path(folder)

    def put(self, made: Path, name: str) -> Path:
        """Move what was made in a `work` folder to its name here, over what was there.

        Refusal where it was not made here; OSError where another process was faster.
        """
        place = self.path / plain_name(name, "the name in the course's folder")
        self._check()
        if Path(made).parent.parent != self.path or Path(made).is_symlink():
            raise Refusal("only what was made in the course's own folder is moved there")
        if Path(made).is_dir():
            self.discard(name)
        os.replace(made, place)
        return place

    def add(self, folder: str, name: str, data: bytes) -> None:
        """Write a file into a folder here, in one step; OSError where it cannot be written."""
        place = self.path / plain_name(folder) / plain_name(name)
        with self.work() as work:
            write_new(work / name, data)
            os.replace(work / name, place)

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
        return _remove(path)

    def remove(self) -> bool:
        """Remove the home with all that is in it; return whether it is gone."""
        _HOMES[:] = [(home, process) for home, process in _HOMES if home is not self]
        return self.stands() and _remove(self.path)

    def __enter__(self) -> "ManagedDirectory":
        return self

    def __exit__(self, kind, error, trace) -> None:
        self.remove()

    def _check(self) -> None:
        if not self.stands():
            raise Refusal("the course's own folder was moved, replaced or deleted meanwhile")


def _remove(path: Path) -> bool:
    """Remove a file, or a folder with all in it; return whether it is gone.

    A link is removed and not followed (`shutil.rmtree.avoids_symlink_attacks`).
    """
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
    for _ in range(5):  # somebody may still be writing into what goes
        shutil.rmtree(path, ignore_errors=True)
    return not os.path.lexists(path)


def write_new(path: Path, data: bytes) -> None:
    """Write a file that is not there yet, nor a link of that name. FileExistsError."""
    with open(path, "xb") as file:
        file.write(data)


def temporary(prefix: str) -> ManagedDirectory:
    """Make a home that goes with this process, or by `remove`. Refusal where that cannot be."""
    try:
        path = Path(tempfile.mkdtemp(prefix=plain_name(prefix))).resolve(strict=True)
    except OSError as error:
        raise Refusal(
            "there is no folder for temporary files that can be written: set TMPDIR to one "
            f"({type(error).__name__})"
        ) from None
    _HOMES.append((ManagedDirectory(path), os.getpid()))
    return _HOMES[-1][0]


@atexit.register
def _leave() -> None:
    for home, process in list(_HOMES):
        if process == os.getpid():  # a process that was forked leaves them alone
            home.remove()


def cache(name: str) -> ManagedDirectory:
    """Open the folder `name` of this user's cache; a temporary home where that cannot be ours."""
    try:
        named = os.environ.get("XDG_CACHE_HOME", "")
        base = Path(named) if os.path.isabs(named) else Path.home() / ".cache"
        if len(base.resolve().parts) < 3:  # nothing right below the root
            raise Refusal("no folder for a cache")
        course = base.resolve() / COURSE
        course.mkdir(mode=0o700, parents=True, exist_ok=True)
        if course.is_symlink():
            raise Refusal("a link stands there")
        home = ManagedDirectory(made_again(course / "builds").path / plain_name(name))
        home.path.mkdir(mode=0o700, exist_ok=True)
        with home.work():  # it can be written
            return home
    except (OSError, RuntimeError, ValueError):
        return temporary(f"{name}-")


def made_again(folder: Path) -> ManagedDirectory:
    """Open a folder, made if need be, that holds nothing but what can be made again.

    Refusal where it has no marker of ours and is not empty, is a link, or others can write there.
    """
    folder.mkdir(mode=0o755, exist_ok=True)
    if folder.is_symlink() or (os.name == "posix" and folder.stat().st_mode & 0o022):
        raise Refusal("a link stands there, or others can write there")
    marker = folder / MARKER
    if not os.listdir(folder):
        with suppress(FileExistsError):  # another kernel was faster
            write_new(marker, MARK)
    if not marker.is_file() or marker.read_bytes() != MARK:
        raise Refusal("it has no marker of ours: somebody else's folder")
    return ManagedDirectory(folder)


# -- names


def quote_name(name: str) -> str:
    """Return a name in quotes, shortened; what does not print is spelled out."""
    return repr(name) if len(name) <= 40 else f"{name[:39]!r} and {len(name) - 39:,} more"


def plain_name(value: object, what: str = "a name") -> str:
    """Return a name that can stand for itself alone in any folder on any system. ValueError."""
    name = require_str(value, what)
    must = f"{what}, {quote_name(name)}, must be a plain name"
    if not _PLAIN.fullmatch(name) or len(name.encode()) > LONGEST:
        raise ValueError(
            f"{must}: letters, digits, '_', '-', '.' and spaces, without a path, of at most "
            f"{LONGEST} bytes; no dot, '-' or space before it, no dot or space after it"
        )
    if _RESERVED.fullmatch(name.partition(".")[0].rstrip()):
        raise ValueError(f"{must}: Windows keeps {name.partition('.')[0]} for a device")
    return name


def plain_names(values, what: str = "a name") -> list[str]:
    """Return plain names of which no two are one on a system that does not tell A from a."""
    names: dict[str, str] = {}
    for name in (plain_name(value, what) for value in values):
        same = unicodedata.normalize("NFKC", name).casefold()
        if same in names:
            both = f"{what}, {quote_name(name)}, must differ from {quote_name(names[same])}"
            raise ValueError(f"{both} in more than case")
        names[same] = name
    return list(names.values())


# -- copies for the learner's folder; whose folder it is, the caller has asked before


def add_copy(source: Path, place: Path) -> bool:
    """Copy a file to a place that is free; return False where something stands there. OSError."""
    with _staged(source, place) as part:
        return _move(part, place)


def renew_copy(source: Path, place: Path, mark: str) -> Path | None:
    """Copy a file to a place; return the new name, with the mark, of what stood there. OSError."""
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
    if os.path.lexists(path) and os.path.samefile(path, kept):  # it has both names now
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
        Path(part).unlink(missing_ok=True)


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
