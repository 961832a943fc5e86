"""Share a learner's progress with a class, by one file for each learner in a common folder.
A file has the exercises with their states, and the learner's name if the learner gave one. The file
has a random name. A note in the learner's own folder `work/` stores the common folder and the name
of the file, so that the learner can change or remove the file later.
"""

import json
import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path

from .folders import COURSE, Refusal
from .learner_record import WORK, read_json_dict

# The note in work/: {"folder": path of the common folder, "file": name of the learner's file}
STATE = ".sharing.json"
_FILE_NAME = re.compile(r"progress-[0-9a-f]{32}\.json")


@dataclass(frozen=True)
class SharedFile:
    """The content of one learner's file. Its texts were written by others, and are not checked."""

    #: Pairs (exercise, state).
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
    """Write a learner's progress to the learner's file in a common folder; return the file's name.

    Parameters
    ----------
    folder
        The common folder.
    states
        Exercise -> state.
    name
        The learner's name; "" for none.
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

    # A learner shares in one folder at a time. If that changes, the file in the earlier one goes.
    earlier_folder, earlier_name = earlier or (None, None)
    is_same_folder = earlier_folder == real_folder
    file_name = earlier_name if is_same_folder else f"progress-{secrets.token_hex(16)}.json"
    items = {"course": COURSE, "exercises": states}
    if name:
        items["name"] = name
    try:
        # The new file is written before the earlier one is removed, so that one of them is there.
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
    """Remove the learner's file and the note; return the common folder in which the file was.

    Return "" if nothing is shared. Raise Refusal if the file or the note cannot be removed. `work`
    is the learner's own folder.
    """
    shared_file = find_shared_file(work)
    if shared_file is None:
        return ""
    folder, file_name = shared_file
    try:
        Path(folder, file_name).unlink(missing_ok=True)
        (work / STATE).unlink(missing_ok=True)
    except OSError as error:
        raise Refusal(f"your file in {folder!r} cannot be used ({error.strerror})") from None
    return folder


def read_shared_folder(folder: str) -> SharedFolder:
    """Read the learners' files in a common folder. Raise Refusal if the folder cannot be read."""
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
    """Return the content of a learner's file; None if it is broken, or not of this course."""
    items = read_json_dict(path)
    states = items.get("exercises")
    name = items.get("name", "")
    if items.get("course") != COURSE or type(states) is not dict or type(name) is not str:
        return None
    pairs = [(exercise, state) for exercise, state in states.items() if type(state) is str]
    return SharedFile(tuple(pairs), name)


def _find_real_folder(folder: str) -> str:
    """Return the absolute path of a folder, without links. Raise Refusal if it does not exist.

    `folder` may begin with "~", which means the home folder.
    """
    path = os.path.expanduser(folder)
    if not os.path.isdir(path):
        raise Refusal(f"there is no folder {folder[:200]!r}")
    return os.path.realpath(path)


def find_shared_file(work: Path) -> tuple[str, str] | None:
    """Return (common folder, name of the learner's file), as the note in `work` says.

    Return None if there is no valid note. The file will be overwritten. So a name that the course
    does not give, such as "thesis.txt", is not accepted.
    """
    note = read_json_dict(work / STATE)
    folder = str(note.get("folder"))
    file_name = str(note.get("file"))
    if os.path.isabs(folder) and _FILE_NAME.fullmatch(file_name):
        return folder, file_name
    return None
