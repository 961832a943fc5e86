"""What a learner shares in a folder: exercises and their states, and a name only if one was given.

Each learner has one file there, whose name is drawn by chance. A note in the learner's own `work/`
says in which folder it is, and what it is called.
"""

import json
import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path

from .folders import COURSE, Refusal
from .learner_record import WORK, read_json_dict

STATE = ".sharing.json"  # the note in work/: the folder, and the file's name
_FILE_NAME = re.compile(r"progress-[0-9a-f]{32}\.json")


@dataclass(frozen=True)
class SharedFile:
    """What one learner's file says, unjudged."""

    #: Pairs of an exercise and its state.
    states: tuple[tuple[str, str], ...]
    #: The learner's name, or "".
    name: str


@dataclass(frozen=True)
class SharedFolder:
    """What could be read of a folder."""

    #: The learners' files, in the order of their names.
    files: tuple[SharedFile, ...]
    #: How many files could not be read.
    unread: int


def write_shared_file(folder: str, states: dict[str, str], name: str, work: Path) -> str:
    """Write what a learner shares into the learner's one file; return the file's name.

    Parameters
    ----------
    folder
        The folder in which the learner shares.
    states
        Exercise -> state.
    name
        The learner's name, or "".
    work
        The learner's own folder, which has the note.

    Raises
    ------
    Refusal
        The folder, the file or the note cannot be used.
    """
    real_folder = _find_real_folder(folder)
    earlier = find_shared_file(work)
    if not earlier and os.path.lexists(work / STATE):
        raise Refusal(f"{WORK}/{STATE} cannot be read: delete it and share again")

    # The learner shares in one folder; sharing in another one removes the file in the first.
    earlier_folder, earlier_name = earlier or (None, None)
    is_same_folder = earlier_folder == real_folder
    file_name = earlier_name if is_same_folder else f"progress-{secrets.token_hex(16)}.json"
    items = {"course": COURSE, "exercises": states}
    if name:
        items["name"] = name
    try:  # until the new folder takes a file, the one in the other stays
        Path(real_folder, file_name).write_text(json.dumps(items, indent=1) + "\n", "utf-8")
        if not is_same_folder:
            remove_shared_file(work)
            note = {"folder": real_folder, "file": file_name}
            (work / STATE).write_text(json.dumps(note), "utf-8")
    except OSError as error:
        reason = f"{real_folder!r} cannot be used ({error.strerror})"
        raise Refusal(f"nothing new is shared: {reason}") from None
    return file_name


def remove_shared_file(work: Path) -> str:
    """Remove the learner's file and the note; return the folder in which it was, or "".

    Raise Refusal if they cannot be removed. `work` is the learner's own folder.
    """
    place = find_shared_file(work)
    if place is None:
        return ""
    folder, file_name = place
    try:
        Path(folder, file_name).unlink(missing_ok=True)
        (work / STATE).unlink(missing_ok=True)
    except OSError as error:
        raise Refusal(f"your file in {folder!r} cannot be used ({error.strerror})") from None
    return folder


def read_shared_folder(folder: str) -> SharedFolder:
    """Return what the learners' files in a folder say; raise Refusal if it cannot be read."""
    real_folder = _find_real_folder(folder)
    try:
        names = sorted(filter(_FILE_NAME.fullmatch, os.listdir(real_folder)))
    except OSError as error:
        raise Refusal(f"{real_folder!r} cannot be used ({error.strerror})") from None
    files = []
    for name in names:
        file = _read_shared_file(Path(real_folder, name))
        if file is not None:
            files.append(file)
    return SharedFolder(tuple(files), unread=len(names) - len(files))


def _read_shared_file(path: Path) -> SharedFile | None:
    """Return what a learner's file says; None if it is not of this course, or is broken."""
    items = read_json_dict(path)
    states = items.get("exercises")
    name = items.get("name", "")
    if items.get("course") != COURSE or type(states) is not dict or type(name) is not str:
        return None
    pairs = [(exercise, state) for exercise, state in states.items() if type(state) is str]
    return SharedFile(tuple(pairs), name)


def _find_real_folder(folder: str) -> str:
    """Return the real path of a folder, which may begin with ~; raise Refusal if there is none."""
    path = os.path.expanduser(folder)
    if not os.path.isdir(path):
        raise Refusal(f"there is no folder {folder[:200]!r}")
    return os.path.realpath(path)


def find_shared_file(work: Path) -> tuple[str, str] | None:
    """Return folder and name of the learner's file, as the note in `work` says; None without one.

    Only a name that the course may have drawn counts, because the file will be overwritten.
    """
    note = read_json_dict(work / STATE)
    folder = str(note.get("folder"))
    file_name = str(note.get("file"))
    if os.path.isabs(folder) and _FILE_NAME.fullmatch(file_name):
        return folder, file_name
    return None
