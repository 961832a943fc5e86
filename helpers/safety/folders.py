"""A folder that the course made itself -> the only place where it writes, moves or deletes."""

import atexit
import itertools
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
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
    """A folder of ours: it is the only one that its methods write to.

    `work` gives a new folder inside it, and `put` moves what was made in that folder. What would
    write raises Refusal if the folder is gone, or was replaced by a link.
    """

    def __init__(self, path: Path):
        """Take a folder at a path, which the caller knows to be ours."""
        self.path = path

    def stands(self) -> bool:
        """Return whether the folder is still there, and is no link."""
        return self.path.is_dir() and not self.path.is_symlink()

    @contextmanager
    def work(self) -> Iterator[Path]:
        """Give the block a new folder inside this one, which is removed after the block."""
        self._check()
        with tempfile.TemporaryDirectory(
            prefix="work-", dir=self.path, ignore_cleanup_errors=True
        ) as folder:
            yield Path(folder)  # `put` may have moved what was in it: no error at the end

    def put(self, made: Path, name: str) -> Path:
        """Move a file or folder that was made in a `work` folder to a name in this folder.

        Return its new path. A folder of that name is removed only after the new one has its name.
        OSError if another process was faster.
        """
        place = self.path / plain_name(name)
        self._check()
        if not Path(made).is_dir() or not os.path.lexists(place):
            os.replace(made, place)
            return place
        # A folder cannot replace a folder that has files. So the old one gets out of the way first.
        with self.work() as work:
            old = work / "old"
            os.replace(place, old)
            try:
                os.replace(made, place)
            except BaseException:
                os.replace(old, place)  # before the end of the block removes it
                raise
        return place

    def fill(self, name: str, files: dict[str, bytes]) -> Path:
        """Make the folder `name` anew with these files, all or none, and return its path.

        `files` is name -> content. What the folder had before is removed.
        """
        file_names = [plain_name(file, "the name of a file") for file in files]
        with self.work() as work:
            folder = work / "new"
            folder.mkdir()
            for file_name in file_names:
                write_new(folder / file_name, files[file_name])
            return self.put(folder, name)

    def renew(self, folders: dict[str, dict[str, bytes]]) -> None:
        """Give the folders in this one exactly these files.

        `folders` is name of a folder -> name of a file -> content. The name "" is this folder
        itself, which keeps its other files.

        All files are written before the first gets its name, so a full disk changes nothing. Each
        name has a whole file at every moment, the old one or the new one.
        """
        with self.work() as work:
            new_files = []  # path of a written file, and the folder and the name that it will have
            for folder, files in folders.items():
                for file_name, data in files.items():
                    path = work / str(len(new_files))
                    write_new(path, data)
                    new_files.append((path, folder, plain_name(file_name)))
            self._make_missing_folders(filter(None, folders))  # "" is this folder
            self._check()
            for path, folder, file_name in new_files:
                place = self.path / folder / file_name
                if place.is_dir() and not place.is_symlink():
                    _remove(place)
                os.replace(path, place)

        for folder in filter(None, folders):
            for path in sorted((self.path / folder).iterdir()):
                if path.name not in folders[folder]:
                    _remove(path)

    def _make_missing_folders(self, names: Iterable[str]) -> None:
        """Make folders of these names in this one; a file or a link of such a name is removed."""
        for name in names:
            place = self.path / plain_name(name)
            if place.is_symlink() or not place.is_dir():
                self.discard(name)
                place.mkdir()

    def discard(self, name: str) -> None:
        """Remove a file or a folder by its name."""
        path = self.path / plain_name(name)
        self._check()
        _remove(path)

    def remove(self) -> None:
        """Remove this folder with all that is in it, unless it was replaced."""
        if self.stands():
            shutil.rmtree(self.path, ignore_errors=True)

    def remove_before(self, marker: str) -> None:
        """Remove all files in this folder, then the one called `marker`, then the folder.

        OSError where that cannot be done. An interruption leaves a folder that still has its
        marker. So the folder is known as ours to the end, and another call removes it.
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
        """Return this folder, which is removed after the block."""
        return self

    def __exit__(self, kind, error, trace) -> None:
        """Remove this folder."""
        self.remove()

    def _check(self) -> None:
        """Raise Refusal if the folder is not ours any more."""
        if not self.stands():
            raise Refusal("the course's own folder was moved, replaced or deleted meanwhile")


def _remove(path: Path) -> None:
    """Remove a file, a link or a folder of ours; no link is followed."""
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
    else:
        shutil.rmtree(path, ignore_errors=True)


def write_new(path: Path, data: bytes) -> None:
    """Write a new file. Raise FileExistsError if a file or a link of that name is there."""
    with open(path, "xb") as file:
        file.write(data)


def temporary(prefix: str) -> ManagedDirectory:
    """Make a folder that is removed with this process, or by `remove`.

    Its name begins with `prefix`. OSError where the system cannot make one.
    """
    directory = ManagedDirectory(Path(tempfile.mkdtemp(prefix=prefix)).resolve())
    process = os.getpid()

    def remove_in_this_process() -> None:
        if os.getpid() == process:  # a forked process runs this function, too
            directory.remove()

    atexit.register(remove_in_this_process)
    return directory


def cache(name: str) -> ManagedDirectory:
    """Open the folder `name` of this user's cache, made if it is missing.

    A temporary folder takes its place where it cannot be made or written, or is somebody else's.
    """
    try:
        cache_home = os.environ.get("XDG_CACHE_HOME", "")
        # A relative path is to be ignored, says the XDG Base Directory Specification.
        base = Path(cache_home) if os.path.isabs(cache_home) else Path.home() / ".cache"
        course = base.resolve() / COURSE
        course.mkdir(mode=0o700, parents=True, exist_ok=True)
        directory = ManagedDirectory(made_again(course / "builds").path / plain_name(name))
        directory.path.mkdir(mode=0o700, exist_ok=True)
        with directory.work():  # OSError if it cannot be written
            return directory
    except (OSError, RuntimeError, ValueError):
        return temporary(f"{name}-")


def made_again(folder: Path) -> ManagedDirectory:
    """Open a folder of files that can be made again, made if it is missing.

    Our marker file `MARKER` tells that it is ours. Raise Refusal if there are files without it.
    """
    return make_owned(folder, MARKER, MARK)


def make_owned(folder: Path, name: str, mark: bytes) -> ManagedDirectory:
    """Open a folder that has our marker file; make the folder, or mark an empty one, before.

    `name` is the name of the marker file, and `mark` its content. Raise Refusal if the folder has
    files but not this marker, is a link, or can be written by others.
    """
    folder.mkdir(mode=0o755, exist_ok=True)
    _refuse_shared(folder)  # before anything is written into it
    if not os.listdir(folder):  # it belongs to nobody, so it may become ours
        with suppress(FileExistsError):  # another kernel was faster
            write_new(folder / name, mark)
    return open_owned(folder, name, mark)


def open_owned(folder: Path, name: str, mark: bytes) -> ManagedDirectory:
    """Open a folder that has our marker file: `name` with the content `mark`.

    Raise Refusal if it lacks the marker, is a link, or can be written by others.
    """
    _refuse_shared(folder)
    marker = folder / name
    if not marker.is_file() or marker.read_bytes() != mark:
        raise Refusal("it does not have the course's marker, so it may be somebody else's")
    return ManagedDirectory(folder)


def _refuse_shared(folder: Path) -> None:
    """Raise Refusal if a folder is a link, or can be written by others."""
    if folder.is_symlink() or (os.name == "posix" and folder.stat().st_mode & 0o022):
        raise Refusal("it is a link, or others can write to it")


def plain_name(value: object, what: str = "a name") -> str:
    """Return `value` if it is a name that is safe in any folder, such as `part-2.so`.

    Raise ValueError for any other text, and TypeError for what is no text. `what` is what the error
    calls the name.
    """
    name = require_str(value, what)
    if not _PLAIN.fullmatch(name) or len(name.encode()) > LONGEST:
        rule = f"letters, digits and, inside it, '_', '-', '.' and spaces; at most {LONGEST} bytes"
        raise ValueError(f"{what}, {quote_value(name)}, must be a plain name: {rule}")
    return name


# -- copies for the learner's folder; whose folder it is, the caller has asked before


def add_copy(data: bytes, place: Path) -> bool:
    """Write a file to a free place; return False if something is there already.

    NotRenewed where it cannot be written.
    """
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
    """Write a file to a place; return the new path of the old file, or None if there was none.

    The new name of the old file is its first one with `mark` in it. The new file is whole before
    anything changes, and the old one has its second name before it loses the first. NotRenewed
    where that cannot be done; the old file is under its first name then.
    """
    if not os.path.lexists(place):
        replace_copy(data, place)
        return None
    with _written_beside(data, place) as part:
        old_file = _name_twice(place, mark)
        try:
            os.replace(part, place)
        except BaseException as error:
            _take_back(old_file, place)
            if isinstance(error, OSError):
                raise NotRenewed(_describe_not_renewed(place, error, old_file)) from error
            raise
    return old_file


def replace_copy(data: bytes, place: Path) -> None:
    """Write a file, in one step, over one that the caller knows to be no one's.

    NotRenewed where it cannot be written.
    """
    with _written_beside(data, place) as part:
        os.replace(part, place)


@contextmanager
def _written_beside(data: bytes, place: Path) -> Iterator[Path]:
    """Give the block a whole file beside a place, under another name; it is removed after it.

    It is beside the place because a rename works only within one file system.
    """
    try:
        with tempfile.TemporaryDirectory(
            prefix=".copy-", dir=place.parent, ignore_cleanup_errors=True
        ) as folder:
            part = Path(folder, place.name)
            write_new(part, data)
            yield part
    except OSError as error:
        raise NotRenewed(_describe_not_renewed(place, error)) from error


def _describe_not_renewed(place: Path, error: OSError, old_file: Path | None = None) -> str:
    """Return why a file was not renewed, and where the old one is.

    `old_file` is its second name.
    """
    reason = f"{place.name} could not be written ({error.strerror or error})"
    cure = "fix that and run the same command again"
    if os.path.lexists(place):
        return f"{reason}, and yours is unchanged in {place}: {cure}."
    if old_file and os.path.lexists(old_file):
        return f"{reason}, and yours is kept as {old_file}: {cure}."
    return f"{reason}: {cure}."


def _name_twice(place: Path, mark: str) -> Path:
    """Give the file at a place a second name, with the mark, and return that path. OSError.

    The file loses its first name where the system cannot give it two, as for a folder.
    """
    for count in itertools.count(1):
        number = f"-{count}" if count > 1 else ""
        second = place.with_name(f"{place.stem}.{mark}{number}{place.suffix}")
        if os.path.lexists(second):
            continue
        if place.is_symlink() or not place.is_file():
            os.rename(place, second)
            return second
        try:
            os.link(place, second)
        except FileExistsError:  # another process was faster
            continue
        except OSError:  # a file system without hard links
            os.rename(place, second)
        return second


def _take_back(second: Path, place: Path) -> None:
    """Undo `_name_twice`, so that the file is at `place` alone; leave it where that fails.

    It may have lost its first name or not, and `place` may have another file by now.
    """
    with suppress(OSError):
        if not os.path.lexists(place):
            os.rename(second, place)
        elif os.path.samefile(second, place):
            os.unlink(second)
