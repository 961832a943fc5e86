"""A folder that this trial made -> the learners' work in it, which stays until it is forgotten.

Its marker is not CACHEDIR.TAG: backups leave such folders out, and this one has people's work.
"""

import fcntl
import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from helpers.safety.folders import ManagedDirectory, Refusal, make_owned, open_owned
from hub.trial.environment import HUB, Missing

DEFAULT = HUB / "learners"
MARKER = "MADE_BY_THE_COURSE.txt"
MARK = (
    b"`python3 hub/try.py serve` of the course Who runs your function made this folder.\n"
    b"It has what learners did on a trial hub. `python3 hub/try.py forget` removes it.\n"
)
LOCK = "lock"


def open_folder(folder: Path) -> ManagedDirectory:
    """Open the folder for a hub, made if it is missing. Missing: it is not the course's."""
    if not folder.parent.is_dir():
        raise Missing(f"{folder.parent} is not a folder, so no folder of learners is made in it")
    if os.path.lexists(folder) and not folder.is_dir():
        raise Missing(f"{folder} is left alone, because it is not a folder")
    try:
        return make_owned(folder, MARKER, MARK)
    except Refusal as error:
        raise Missing(f"{folder} is left alone, because {error}") from None
    except OSError as error:
        raise Missing(f"{folder} cannot be used ({error.strerror})") from None


@contextmanager
def locked(home: ManagedDirectory) -> Iterator[None]:
    """Let no other hub use the folder, or remove it, during the block. Missing: one does."""
    with open(home.path / LOCK, "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Missing(f"a hub already runs in {home.path}: end it first") from None
        yield


def tell_kept(folder: Path) -> str:
    """Return where the learners' work is, and the commands that go on with it and remove it."""
    place = "" if folder == DEFAULT else f" --in {shlex.quote(str(folder))}"
    serve, forget = (f"python3 hub/try.py {word}{place}" for word in ("serve", "forget"))
    return (
        f"What learners did is kept in {folder}: `{serve}` goes on with it, `{forget}` removes it."
    )


def forget(folder: Path) -> str:
    """Remove a folder of learners' work; return in a sentence what happened. Missing: not ours."""
    from hub.trial.server import end_processes

    if not os.path.lexists(folder):
        return f"{folder} does not exist, so nothing is removed."
    if not folder.is_dir():
        raise Missing(f"{folder} is left alone, because it is not a folder")
    try:
        home = open_owned(folder, MARKER, MARK)
        with locked(home):
            end_processes(folder)  # of a hub that was killed
            home.remove_before(MARKER)
    except Refusal as error:
        raise Missing(f"{folder} is left alone, because {error}") from None
    except OSError as error:
        raise Missing(f"{folder} is not removed completely ({error})") from None
    return f"{folder} is removed, with all that learners did there."
