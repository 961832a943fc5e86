"""Write, move and delete files, but only in folders that the course itself has made.
A folder of the course is known by a marker file in it. The functions that open a folder refuse one
that may be somebody else's.
"""

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
LONGEST = 100  # bytes of a name in UTF-8; every file system accepts as many
# Letters, digits, "_", "-", "." and spaces; no space, "." or "-" first, no space or "." last.
_PLAIN = re.compile(r"(?![ .-])[\w.\- ]+(?<![ .])")


class Refusal(ValueError):
    """A folder may not be used. The message is one sentence on why, such as whose folder it is."""


class NotRenewed(Exception):
    """A file could not be replaced. The message says why, and where the old file is now."""


class ManagedDirectory:
    """A folder that the course has made. Its methods write, move and delete only inside it.

    Files are first made in a temporary folder, which `work` creates inside this one. Then `put`
    moves them to their final name in one step. So no other process sees half a file.

    Each method that writes raises Refusal if the folder was removed, or was replaced by a link.
    """

    def __init__(self, path: Path):
        """Use the folder at `path`. The caller has checked that the course made that folder."""
        self.path = path

    def stands(self) -> bool:
        """Return whether the folder still exists, and is no link to another place."""
        return self.path.is_dir() and not self.path.is_symlink()

    @contextmanager
    def work(self) -> Iterator[Path]:
        """Create a temporary folder in this one for a `with` block, and remove it after the block.

        The block gets the path of the temporary folder.
        """
        self._check()
        with tempfile.TemporaryDirectory(
            prefix="work-", dir=self.path, ignore_cleanup_errors=True
        ) as folder:
            yield Path(folder)

    def put(self, made: Path, name: str) -> Path:
        """Move a finished file or folder to `name` in this folder, and return its new path.

        `made` is in a folder that `work` created. It replaces a file or a folder that has the name.
        OSError if another process put something there meanwhile.
        """
        target = self.path / require_plain_name(name)
        self._check()
        if not Path(made).is_dir() or not os.path.lexists(target):
            os.replace(made, target)
            return target
        # `os.replace` cannot replace a folder that has files. So the old folder is moved to a
        # temporary folder first, which is removed at the end of the block.
        with self.work() as work:
            old = work / "old"
            os.replace(target, old)
            try:
                os.replace(made, target)
            except BaseException:
                os.replace(old, target)  # back again, before the end of the block removes it
                raise
        return target

    def fill(self, name: str, files: dict[str, bytes]) -> Path:
        """Replace the subfolder `name` by one with exactly these files, and return its path.

        `files` is name of a file -> content. If one file cannot be written, the old subfolder stays
        as it was.
        """
        file_names = [require_plain_name(file, "the name of a file") for file in files]
        with self.work() as work:
            folder = work / "new"
            folder.mkdir()
            for file_name in file_names:
                write_new(folder / file_name, files[file_name])
            return self.put(folder, name)

    def renew(self, folders: dict[str, dict[str, bytes]]) -> None:
        """Make each of these subfolders contain exactly the given files.

        `folders` is name of a subfolder -> name of a file -> content. The name "" is this folder
        itself. Other files are removed from a subfolder, but not from this folder.

        All files are first written to a temporary folder, and then moved to their names. So a full
        disk changes nothing, and at every moment each name has a whole file, be it old or new.
        """
        with self.work() as work:
            new_files = []  # (temporary path, final subfolder, final name) of each written file
            for folder, files in folders.items():
                for file_name, data in files.items():
                    path = work / str(len(new_files))
                    write_new(path, data)
                    new_files.append((path, folder, require_plain_name(file_name)))
            self._make_missing_folders(filter(None, folders))  # without "", which is this folder
            self._check()
            for path, folder, file_name in new_files:
                target = self.path / folder / file_name
                if target.is_dir() and not target.is_symlink():
                    _remove(target)  # `os.replace` cannot replace a folder by a file
                os.replace(path, target)

        for folder in filter(None, folders):
            for path in sorted((self.path / folder).iterdir()):
                if path.name not in folders[folder]:
                    _remove(path)

    def _make_missing_folders(self, names: Iterable[str]) -> None:
        """Create the subfolders that do not exist yet.

        A file or a link that has the name of one is removed first.
        """
        for name in names:
            target = self.path / require_plain_name(name)
            if target.is_symlink() or not target.is_dir():
                self.discard(name)
                target.mkdir()

    def discard(self, name: str) -> None:
        """Remove the file or the subfolder `name`; do nothing if there is none."""
        path = self.path / require_plain_name(name)
        self._check()
        _remove(path)

    def remove(self) -> None:
        """Remove this folder with all that is in it.

        If a link has replaced the folder, nothing is removed.
        """
        if self.stands():
            shutil.rmtree(self.path, ignore_errors=True)

    def remove_before(self, marker: str) -> None:
        """Remove all files in this folder, then the file called `marker`, then the folder.

        Because the marker goes last, a folder whose removal was interrupted can still be recognized
        as one of the course. Another call then removes the rest. OSError where a file cannot be
        removed.
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
        """Raise Refusal if the folder was removed, or replaced by a link or a file."""
        if not self.stands():
            raise Refusal("the course's own folder was moved, replaced or deleted meanwhile")


def _remove(path: Path) -> None:
    """Remove a file, a link or a folder. Of a link, the link itself is removed, not its target."""
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
    else:
        shutil.rmtree(path, ignore_errors=True)


def write_new(path: Path, data: bytes) -> None:
    """Write a new file. Raise FileExistsError if a file or a link already has that path."""
    with open(path, "xb") as file:
        file.write(data)


def make_temporary_folder(prefix: str) -> ManagedDirectory:
    """Create a temporary folder, which is removed when this process ends, or by `remove`.

    Its name begins with `prefix`. OSError where the system cannot create one.
    """
    directory = ManagedDirectory(Path(tempfile.mkdtemp(prefix=prefix)).resolve())
    process_id = os.getpid()

    def remove_in_this_process() -> None:
        # A forked process inherits this function, but the folder belongs to its parent.
        if os.getpid() == process_id:
            directory.remove()

    atexit.register(remove_in_this_process)
    return directory


def open_cache_folder(name: str) -> ManagedDirectory:
    """Return the folder `name` in the course's cache, `~/.cache/who-runs-your-function/builds`.

    It is created if it does not exist. If it cannot be created or written, or may be somebody
    else's, a temporary folder is returned instead.
    """
    try:
        cache_home = os.environ.get("XDG_CACHE_HOME", "")
        # The XDG Base Directory Specification says that a relative path is to be ignored.
        base = Path(cache_home) if os.path.isabs(cache_home) else Path.home() / ".cache"
        course = base.resolve() / COURSE
        course.mkdir(mode=0o700, parents=True, exist_ok=True)
        directory = ManagedDirectory(
            open_rebuildable_folder(course / "builds").path / require_plain_name(name)
        )
        directory.path.mkdir(mode=0o700, exist_ok=True)
        with directory.work():  # raises OSError if the folder cannot be written
            return directory
    except (OSError, RuntimeError, ValueError):
        return make_temporary_folder(f"{name}-")


def open_rebuildable_folder(folder: Path) -> ManagedDirectory:
    """Open a folder of files that can be built again, such as a cache; create it if needed.

    The marker file `MARKER` says that the course made the folder, and tells backup programs to skip
    it. Raise Refusal as `make_owned` does.
    """
    return make_owned(folder, MARKER, MARK)


def make_owned(folder: Path, name: str, mark: bytes) -> ManagedDirectory:
    """Open a folder that the course has made, or make it one of the course.

    A folder that does not exist is created. A folder that is new or empty gets a marker file, whose
    name is `name` and whose content is `mark`. Raise Refusal if the folder has files but not this
    marker, is a link, or can be written by other users.
    """
    folder.mkdir(mode=0o755, exist_ok=True)
    _refuse_shared(folder)  # before anything is written into it
    if not os.listdir(folder):  # an empty folder has no files of anybody that could be lost
        with suppress(FileExistsError):  # another process has just written the marker
            write_new(folder / name, mark)
    return open_owned(folder, name, mark)


def open_owned(folder: Path, name: str, mark: bytes) -> ManagedDirectory:
    """Open an existing folder that has the course's marker file.

    The marker file is called `name`, and its content is `mark`. Raise Refusal if the folder lacks
    it, is a link, or can be written by other users.
    """
    _refuse_shared(folder)
    marker = folder / name
    if not marker.is_file() or marker.read_bytes() != mark:
        raise Refusal("it does not have the course's marker, so it may be somebody else's")
    return ManagedDirectory(folder)


def _refuse_shared(folder: Path) -> None:
    """Raise Refusal if a folder is a link, or if its mode lets other users write to it."""
    if folder.is_symlink() or (os.name == "posix" and folder.stat().st_mode & 0o022):
        raise Refusal("it is a link, or others can write to it")


def require_plain_name(value: object, what: str = "a name") -> str:
    """Return `value` if it is the name of a file and not a path, such as `part-2.so`.

    Raise ValueError for any other text, such as "../x", and TypeError for what is no text. `what`
    is what the error calls the name.
    """
    name = require_str(value, what)
    if not _PLAIN.fullmatch(name) or len(name.encode()) > LONGEST:
        rule = f"letters, digits and, inside it, '_', '-', '.' and spaces; at most {LONGEST} bytes"
        raise ValueError(f"{what}, {quote_value(name)}, must be a plain name: {rule}")
    return name


# -- Files in the learner's own folder. The caller has checked that they may be written there.


def add_copy(data: bytes, target: Path) -> bool:
    """Write a new file at the path `target`, and return True.

    Return False and write nothing if something has that path already. Raise NotRenewed where the
    file cannot be written.
    """
    if os.path.lexists(target):
        return False
    with _written_beside(data, target) as part:
        try:
            os.link(part, target)  # unlike a rename, a link never replaces a file
        except FileExistsError:  # another process has written a file there meanwhile
            return False
        except OSError:  # a file system without hard links
            os.replace(part, target)
    return True


def renew_copy(data: bytes, target: Path, mark: str) -> Path | None:
    """Write a file at the path `target`, and keep the old file under a second name beside it.

    Return the second path, or None if there was no old file. With the mark "old", the second name
    of "a.ipynb" is "a.old.ipynb".

    The new file is written in full before anything changes, and the old file gets the second name
    before it loses the first. Raise NotRenewed where the file cannot be written; then the old file
    has its first name again, where the system lets it.
    """
    if not os.path.lexists(target):
        replace_copy(data, target)
        return None
    with _written_beside(data, target) as part:
        old_file = _name_twice(target, mark)
        try:
            os.replace(part, target)
        except BaseException as error:
            _take_back(old_file, target)
            if isinstance(error, OSError):
                raise NotRenewed(_describe_not_renewed(target, error, old_file)) from error
            raise
    return old_file


def replace_copy(data: bytes, target: Path) -> None:
    """Write a file at the path `target` in one step. An old file is lost.

    The caller has checked that nobody needs the old file. Raise NotRenewed where the new one cannot
    be written.
    """
    with _written_beside(data, target) as part:
        os.replace(part, target)


@contextmanager
def _written_beside(data: bytes, target: Path) -> Iterator[Path]:
    """Write a file to a temporary folder beside `target`, and give the `with` block its path.

    The block renames the file to `target`. It is beside `target` because a rename works only within
    one file system. The temporary folder is removed after the block. Raise NotRenewed for an
    OSError in the block, too.
    """
    try:
        with tempfile.TemporaryDirectory(
            prefix=".copy-", dir=target.parent, ignore_cleanup_errors=True
        ) as folder:
            part = Path(folder, target.name)
            write_new(part, data)
            yield part
    except OSError as error:
        raise NotRenewed(_describe_not_renewed(target, error)) from error


def _describe_not_renewed(target: Path, error: OSError, old_file: Path | None = None) -> str:
    """Return a sentence on why the file at `target` was not written, and where the old file is.

    `old_file` is the second path of the old file, None if it has got none.
    """
    reason = f"{target.name} could not be written ({error.strerror or error})"
    cure = "fix that and run the same command again"
    if os.path.lexists(target):
        return f"{reason}, and yours is unchanged in {target}: {cure}."
    if old_file and os.path.lexists(old_file):
        return f"{reason}, and yours is kept as {old_file}: {cure}."
    return f"{reason}: {cure}."


def _name_twice(target: Path, mark: str) -> Path:
    """Give the file at `target` a second name by a hard link, and return the second path.

    With the mark "old", "a.ipynb" is also called "a.old.ipynb", or "a.old-2.ipynb" if that name is
    taken. Where there are no hard links, as for a folder, the file is renamed: it loses its first
    name. OSError where that fails.
    """
    for count in itertools.count(1):
        number = f"-{count}" if count > 1 else ""
        second = target.with_name(f"{target.stem}.{mark}{number}{target.suffix}")
        if os.path.lexists(second):
            continue
        if target.is_symlink() or not target.is_file():  # a folder has no hard links
            os.rename(target, second)
            return second
        try:
            os.link(target, second)
        except FileExistsError:  # another process was faster
            continue
        except OSError:  # a file system without hard links
            os.rename(target, second)
        return second


def _take_back(second: Path, target: Path) -> None:
    """Undo `_name_twice`: give the file at `second` its first name `target` again, and only that.

    Where that fails, the file stays at `second`.
    """
    with suppress(OSError):
        if not os.path.lexists(target):  # `_name_twice` has renamed the file
            os.rename(second, target)
        elif os.path.samefile(second, target):  # the file has both names
            os.unlink(second)
        # Else `target` is another file by now, which must not be lost.
