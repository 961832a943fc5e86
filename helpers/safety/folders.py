"""A folder that the course made itself -> the only place where it writes, moves or deletes."""

import atexit
import itertools
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .arguments import quote_value, require_str

COURSE = "who-runs-your-function"
MARKER = "CACHEDIR.TAG"
MARK = (
    b"Signature: 8a477f597d28d172789f06886806bc55\n"  # bford.info/cachedir: backups leave it out
    b"# Made by the course Who runs your function. What is in this folder may be deleted.\n"
)
LONGEST = 100  # bytes of a name in UTF-8; every file system takes as many
_PLAIN = re.compile(r"(?![ .-])[\w.\- ]+(?<![ .])")


class Refusal(ValueError):
    """One sentence: whose folder it is, and what was not done."""


class NotRenewed(Exception):
    """A file could not be renewed; the sentence says why, and where the old one is."""


class ManagedDirectory:
    """A folder of ours. `work` gives a fresh one inside it, `put` moves what was made there."""

    def __init__(self, path: Path):
        self.path = path

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
        """Move what was made in a `work` folder to its name here. OSError: another was faster.

        A folder of that name is gone only once the new one has its place.
        """
        place = self.path / plain_name(name)
        self._check()
        if not Path(made).is_dir() or not os.path.lexists(place):
            os.replace(made, place)
            return place
        with self.work() as aside:
            old = aside / "old"
            os.replace(place, old)
            try:
                os.replace(made, place)
            except BaseException:
                os.replace(old, place)
                raise
        return place

    def fill(self, name: str, files: dict[str, bytes]) -> Path:
        """Make the folder `name` anew with these files, all or none; what it held is gone."""
        names = [plain_name(file, "the name of a file") for file in files]
        with self.work() as work:
            folder = work / "new"
            folder.mkdir()
            for file in names:
                write_new(folder / file, files[file])
            return self.put(folder, name)

    def renew(self, folders: dict[str, dict[str, bytes]]) -> None:
        """Give these folders exactly these files; "" is the home itself, which keeps its others.

        All of them are written before the first gets its name, so a full disk changes nothing. Each
        name has a whole file at every moment, the old one or the new one.
        """
        with self.work() as work:
            made = []
            for folder, files in folders.items():
                for file, data in files.items():
                    new = work / str(len(made))
                    write_new(new, data)
                    made.append((new, folder, plain_name(file)))
            for folder in filter(None, folders):
                place = self.path / plain_name(folder)
                if place.is_symlink() or not place.is_dir():
                    self.discard(folder)
                    place.mkdir()
            self._check()
            for new, folder, file in made:
                place = self.path / folder / file
                if place.is_dir() and not place.is_symlink():
                    _remove(place)
                os.replace(new, place)
        for folder in filter(None, folders):
            for path in sorted((self.path / folder).iterdir()):
                if path.name not in folders[folder]:
                    _remove(path)

    def discard(self, name: str) -> None:
        """Remove a file or a folder by its name."""
        path = self.path / plain_name(name)
        self._check()
        _remove(path)

    def remove(self) -> None:
        """Remove the home with all that is in it."""
        if self.stands():
            shutil.rmtree(self.path, ignore_errors=True)

    def remove_before(self, marker: str) -> None:
        """Remove all that is in it, then the marker, then the home; it is ours to the end. OSError.

        What an interruption leaves has its marker, and is removed by another call.
        """
        self._check()
        for entry in list(self.path.iterdir()):
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            elif entry.name != marker:
                entry.unlink()
        (self.path / marker).unlink()
        self.path.rmdir()

    def __enter__(self) -> "ManagedDirectory":
        return self

    def __exit__(self, kind, error, trace) -> None:
        self.remove()

    def _check(self) -> None:
        if not self.stands():
            raise Refusal("the course's own folder was moved, replaced or deleted meanwhile")


def _remove(path: Path) -> None:
    """Remove a file, a link or a folder of ours; no link is followed."""
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
    else:
        shutil.rmtree(path, ignore_errors=True)


def write_new(path: Path, data: bytes) -> None:
    """Write a file that is not there yet, nor a link of that name. FileExistsError."""
    with open(path, "xb") as file:
        file.write(data)


def temporary(prefix: str) -> ManagedDirectory:
    """Make a home that goes with this process, or by `remove`. OSError where that cannot be."""
    home, process = ManagedDirectory(Path(tempfile.mkdtemp(prefix=prefix)).resolve()), os.getpid()
    # A forked process does not touch it.
    atexit.register(lambda: os.getpid() == process and home.remove())
    return home


def cache(name: str) -> ManagedDirectory:
    """Open the folder `name` of this user's cache; a temporary home where that cannot be ours."""
    try:
        named = os.environ.get("XDG_CACHE_HOME", "")
        base = Path(named) if os.path.isabs(named) else Path.home() / ".cache"
        course = base.resolve() / COURSE
        course.mkdir(mode=0o700, parents=True, exist_ok=True)
        home = ManagedDirectory(made_again(course / "builds").path / plain_name(name))
        home.path.mkdir(mode=0o700, exist_ok=True)
        with home.work():  # it can be written
            return home
    except (OSError, RuntimeError, ValueError):
        return temporary(f"{name}-")


def made_again(folder: Path) -> ManagedDirectory:
    """Open a folder of what can be made again, known by a marker file; Refusal of any other."""
    return make_owned(folder, MARKER, MARK)


def make_owned(folder: Path, name: str, mark: bytes) -> ManagedDirectory:
    """Open a folder of ours, made if it is missing, with a marker file of this name; Refusal."""
    folder.mkdir(mode=0o755, exist_ok=True)
    _refuse_shared(folder)
    if not os.listdir(folder):
        with suppress(FileExistsError):  # another kernel was faster
            write_new(folder / name, mark)
    return open_owned(folder, name, mark)


def open_owned(folder: Path, name: str, mark: bytes) -> ManagedDirectory:
    """Open a folder that has our marker file; Refusal of any other."""
    _refuse_shared(folder)
    marker = folder / name
    if not marker.is_file() or marker.read_bytes() != mark:
        raise Refusal("it does not have the course's marker, so it may be somebody else's")
    return ManagedDirectory(folder)


def _refuse_shared(folder: Path) -> None:
    if folder.is_symlink() or (os.name == "posix" and folder.stat().st_mode & 0o022):
        raise Refusal("it is a link, or others can write to it")


def plain_name(value: object, what: str = "a name") -> str:
    """Return a plain name that is safe in any folder. ValueError."""
    name = require_str(value, what)
    if not _PLAIN.fullmatch(name) or len(name.encode()) > LONGEST:
        rule = f"letters, digits and, inside it, '_', '-', '.' and spaces; at most {LONGEST} bytes"
        raise ValueError(f"{what}, {quote_value(name)}, must be a plain name: {rule}")
    return name


# -- copies for the learner's folder; whose folder it is, the caller has asked before


def add_copy(data: bytes, place: Path) -> bool:
    """Write a file to a free place; return False if something is there already. NotRenewed."""
    if os.path.lexists(place):
        return False
    with _written_beside(data, place) as part:
        try:
            os.link(part, place)  # unlike a rename, this never takes another's place
        except FileExistsError:
            return False
        except OSError:  # a file system without hard links
            os.replace(part, place)
    return True


def renew_copy(data: bytes, place: Path, mark: str) -> Path | None:
    """Write a file to a place; return the new name, with the mark, of what stood there.

    The new file is whole before anything changes, and what stood there has its second name before
    it loses the first. NotRenewed: whatever stopped it, the old one is under its name.
    """
    if not os.path.lexists(place):
        replace_copy(data, place)
        return None
    with _written_beside(data, place) as part:
        kept = _name_twice(place, mark)
        try:
            os.replace(part, place)
        except BaseException as error:
            _take_back(kept, place)
            if isinstance(error, OSError):
                raise NotRenewed(_not_renewed(place, error, kept)) from error
            raise
    return kept


def replace_copy(data: bytes, place: Path) -> None:
    """Write a file, in one step, over what the caller knows to be no one's. NotRenewed."""
    with _written_beside(data, place) as part:
        os.replace(part, place)


@contextmanager
def _written_beside(data: bytes, place: Path) -> Iterator[Path]:
    """Give a whole file beside a place, under another name; it is gone after the block."""
    try:
        with tempfile.TemporaryDirectory(
            prefix=".copy-", dir=place.parent, ignore_cleanup_errors=True
        ) as folder:
            part = Path(folder, place.name)
            write_new(part, data)
            yield part
    except OSError as error:
        raise NotRenewed(_not_renewed(place, error)) from error


def _not_renewed(place: Path, error: OSError, kept: Path | None = None) -> str:
    """Return why a place was not renewed, and where that is which stood there."""
    reason = f"{place.name} could not be written ({error.strerror or error})"
    cure = "fix that and run the same command again"
    if os.path.lexists(place):
        return f"{reason}, and yours is unchanged in {place}: {cure}."
    where = f", and yours is kept as {kept}" if kept and os.path.lexists(kept) else ""
    return f"{reason}{where}: {cure}."


def _name_twice(place: Path, mark: str) -> Path:
    """Give what is at a place a second name, with the mark, and return that. OSError.

    Where the system cannot do that, as for a folder, it has only the second name afterwards.
    """
    for count in itertools.count(1):
        more = f"-{count}" if count > 1 else ""
        kept = place.with_name(f"{place.stem}.{mark}{more}{place.suffix}")
        if os.path.lexists(kept):
            continue
        if place.is_symlink() or not place.is_file():
            os.rename(place, kept)
            return kept
        try:
            os.link(place, kept)
        except FileExistsError:  # another was faster
            continue
        except OSError:  # a file system without hard links
            os.rename(place, kept)
        return kept


def _take_back(kept: Path, place: Path) -> None:
    """Undo a second name, so that what was kept is under its first name alone."""
    with suppress(OSError):
        if not os.path.lexists(place):
            os.rename(kept, place)
        elif os.path.samefile(kept, place):
            os.unlink(kept)
