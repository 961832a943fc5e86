"""How far a learner came -> a file of their own in a folder that others read, and all such files.

    {"course": "who-runs-your-function", "exercises": {"tangle": "passed"}, "name": "Ada"}

No answer, no time and no prediction is in it, and a name only where one was given. The file's own
name is drawn by chance and kept in `work/.sharing.json`, so that sharing again overwrites the same
one. What the file system tells of it, an owner and a time, cannot be taken away.

Whoever can write into the folder can put anything there: what is read is taken apart with care.
"""

import json
import os
import re
import secrets
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from helpers.safety.folders import Refusal, write_new
from helpers.safety.interrupts import uninterrupted
from helpers.safety.learner_record import WORK, plain_file, size_of, why

STATE = ".sharing.json"  # in work/
COURSE = "who-runs-your-function"
LARGEST = 64_000  # bytes of a file that is read
LONGEST = 4_096  # characters of a path
MOST = 2_000  # files read
SEEN = 20_000  # entries of the folder looked at
_OURS = re.compile(r"progress-[0-9a-f]{32}\.json")


@dataclass(frozen=True)
class Shared:
    """What one file says, unjudged: exercise -> state, and a name or ""."""

    states: tuple[tuple[str, str], ...]
    name: str = ""


@dataclass(frozen=True)
class Folder:
    """What could be read of a folder; how many files could not be, and whether there are more."""

    files: tuple[Shared, ...] = ()
    unread: int = 0
    more: bool = False


def share(folder: str, states: dict[str, str], name: str, work: Path) -> str:
    """Write what is shared into this learner's own file there; return the file's name.

    A file of theirs in another folder is removed first. Refusal says what the system refuses.
    """
    folder, before = _there(folder), _state(work)
    if not before and os.path.lexists(work / STATE):
        raise Refusal(f"{WORK}/{STATE} says nothing that can be read: delete it and share again")
    known = before is not None and before[0] == folder
    file = before[1] if known else f"progress-{secrets.token_hex(16)}.json"
    told = {"course": COURSE, "exercises": states, **({"name": name} if name else {})}
    part = ""
    try:
        with uninterrupted():
            # First what shows that the folder takes a file: until then the other one stays.
            part = _part(folder, json.dumps(told, indent=1).encode() + b"\n")
            if not known:
                stop(work)
                write_new(work / STATE, json.dumps({"folder": folder, "file": file}).encode())
            os.replace(part, Path(folder, file))
    except OSError as error:
        if not known and part:
            _forget(work)
        raise Refusal(f"nothing new is shared: {folder!r} {why(error)}") from None
    finally:
        with suppress(OSError):
            os.unlink(part)
    return file


def stop(work: Path) -> str:
    """Remove the learner's file, and the note on where it was; return its folder, or "".

    Refusal where it cannot be removed; the note stays then.
    """
    before = _state(work)
    if before is None:
        return ""
    try:
        with suppress(FileNotFoundError):
            os.unlink(Path(*before))
        _forget(work)
    except OSError as error:
        raise Refusal(f"your file in {before[0]!r} {why(error)}") from None
    return before[0]


def _forget(work: Path) -> None:
    with suppress(FileNotFoundError):
        os.unlink(work / STATE)


def is_shared(work: Path) -> bool:
    """Return whether the learner shares: whether a note says where."""
    return _state(work) is not None


def read(folder: str) -> Folder:
    """Return what the learners' files in a folder say. Refusal where it cannot be looked into."""
    folder = _there(folder)
    try:
        with os.scandir(folder) as entries:
            names = [one.name for one in islice(entries, SEEN + 1)]
    except OSError as error:
        raise Refusal(f"{folder!r} {why(error)}") from None
    ours = sorted(name for name in names if _OURS.fullmatch(name))
    found = [_file(Path(folder, name)) for name in ours[:MOST]]
    files = tuple(one for one in found if one is not None)
    return Folder(files, len(found) - len(files), len(names) > SEEN or len(ours) > MOST)


def _there(folder: str) -> str:
    """Return the whole path of a folder that is there. Refusal."""
    with suppress(OSError, ValueError):  # a name that no folder can have
        fits = 0 < len(folder) <= LONGEST  # an empty one would be the working folder
        path = os.path.realpath(os.path.expanduser(folder)) if fits else ""
        if os.path.isdir(path):
            return path
    raise Refusal(f"there is no folder {folder[:200]!r}")


def _state(work: Path) -> tuple[str, str] | None:
    """Return where the learner's file is, and its name; None where nothing is shared.

    It is the learner's own text: only a name that we may have drawn is taken from it.
    """
    told = _json(work / STATE)
    folder, file = told.get("folder"), told.get("file")
    known = type(folder) is str and os.path.isabs(folder) and "\0" not in folder
    return (folder, file) if known and type(file) is str and _OURS.fullmatch(file) else None


def _file(path: Path) -> Shared | None:
    told = _json(path)
    states, name = told.get("exercises"), told.get("name", "")
    if told.get("course") != COURSE or type(states) is not dict or type(name) is not str:
        return None
    return Shared(tuple((key, one) for key, one in states.items() if type(one) is str), name)


def _json(path: Path) -> dict:
    """Return the JSON object in a small plain file, and {} for all else."""
    try:
        with plain_file(path) as file:
            told = json.loads(file.read(LARGEST)) if size_of(file.fileno()) <= LARGEST else None
    except (OSError, ValueError, RecursionError):
        return {}
    return told if type(told) is dict else {}


def _part(folder: str, data: bytes) -> str:
    """Write a file that all who see the folder can read, still under another name; return it."""
    handle, part = tempfile.mkstemp(prefix=".progress-", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        with suppress(OSError):  # a file system without permissions
            os.chmod(part, 0o644)
    except BaseException:
        os.unlink(part)
        raise
    return part
