"""What a learner did -> a line in `work/progress.jsonl`, and back; it is sent nowhere.

    {"at": "2026-03-01T09:30:00Z", "check": "tangle", "is": "hint"}            or "failed", "passed"
    {"at": "2026-03-01T09:31:00Z", "predict": "What …?", "said": "old", "was": "new", "chapter": 1}

No answer and no code of the learner's is in it. Only a kernel that runs in the course's own `work/`
records, and with COURSE_RECORD=off not even that one.
"""

import json
import os
import re
import secrets
import stat
import sys
from collections import namedtuple
from datetime import UTC, datetime
from pathlib import Path

from .folders import COURSE, Refusal

NAME, WORK = "progress.jsonl", "work"
STATES = ("hint", "failed", "passed")
LARGEST = 32_000_000  # bytes of a file; a line of a learner's has about a hundred
LONGEST = 4_000  # bytes of a line; what is longer is not recorded
ELSEWHERE = f"Not recorded: only what runs in the folder {WORK}/ is recorded."
TOO_LONG = f"Not recorded: a line of {WORK}/{NAME} has at most {LONGEST:,} bytes."
ROOT = Path(__file__).resolve().parents[2]


# The events that could be read, in order, and a sentence on what could not.
Record = namedtuple("Record", "events trouble", defaults=((), ""))


def place() -> Path | None:
    """Return the file in which this process records; None where it records nothing."""
    if not _may_record():
        return None
    work = ROOT / WORK
    try:
        here = Path.cwd().resolve()
    except FileNotFoundError:  # the folder was removed
        return None
    ours = (ROOT / "course.py").is_file() and work.is_dir() and not work.is_symlink()
    return work / NAME if ours and (here == work or work in here.parents) else None


def record(event: dict) -> str:
    """Add an event to this process's record; return why it is not there, as a sentence, or "".

    Where nobody expects a record, because it is switched off or this is no kernel, it is "" too.
    """
    path = place()
    if path is not None:
        return add(path, event)
    return ELSEWHERE if _may_record() else ""


def _may_record() -> bool:
    """Return whether this is a kernel in which recording is not switched off."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return os.environ.get("COURSE_RECORD") != "off" and getattr(shell, "kernel", None) is not None


def add(path: Path, event: dict) -> str:
    """Add an event to the end of the file; return why it is not there, as a sentence, or ""."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    line = json.dumps({"at": now, **event}).encode() + b"\n"
    if len(line) > LONGEST:
        return TOO_LONG
    try:
        with open(path, "a+b") as file:
            if file.seek(0, os.SEEK_END):
                file.seek(-1, os.SEEK_END)
                # A line that was cut off before it, as on a full disk, is ended.
                line = line if file.read(1) == b"\n" else b"\n" + line
            file.write(line)
    except OSError as error:
        return f"Your progress is not recorded: {WORK}/{NAME} cannot be used ({error.strerror})."
    return ""


def read(path: Path) -> Record:
    """Return what the file holds, and how much of it cannot be read."""
    if not os.path.lexists(path):
        return Record()
    try:
        status = path.stat()  # a pipe or a device would never come to its end
        if stat.S_ISFIFO(status.st_mode) or stat.S_ISCHR(status.st_mode):
            return Record((), f"Nothing is read from {WORK}/{NAME}: it is not a file.")
        if status.st_size > LARGEST:
            size = f"{status.st_size / 1e6:,.0f} MB, of at most {LARGEST / 1e6:,.0f}"
            return Record((), f"Nothing is read from {WORK}/{NAME}: it has {size}.")
        data = path.read_bytes()
    except OSError as error:
        why = f"it cannot be used ({error.strerror})."
        return Record((), f"Nothing is read from {WORK}/{NAME}: {why}")
    lines = [line for line in data.split(b"\n") if line.strip()]
    events = tuple(filter(None, map(_event, lines)))
    broken = len(lines) - len(events)
    words = f"{broken} of {len(lines)} lines in {WORK}/{NAME} cannot be read"
    words += "; the others count." if events else "."
    return Record(events, words if broken else "")


def _event(line: bytes) -> dict | None:
    """Return what a line says, less what is not known here; None if it is not an event."""
    told = _dict_of(line)
    if type(told.get("check")) is str and told.get("is") in STATES:
        return {"check": told["check"], "is": told["is"]}
    kept = {key: told.get(key) for key in ("predict", "said", "was")}
    if not all(type(one) is str for one in kept.values()):
        return None
    number = told.get("chapter")
    return {**kept, "chapter": number if type(number) is int else None}


def _dict_of(data: bytes | Path) -> dict:
    try:
        told = json.loads(data if type(data) is bytes else data.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return told if type(told) is dict else {}


# -- what a learner shares: exercises and states, and a name only where one was given

STATE = ".sharing.json"  # in work/: the folder and the file's name, which is drawn by chance
_OURS = re.compile(r"progress-[0-9a-f]{32}\.json")


# What one file says, unjudged: pairs of exercise and state, and a name or "".
Shared = namedtuple("Shared", "states name")
# What could be read of a folder, and how many files could not be.
Folder = namedtuple("Folder", "files unread")


def share(folder: str, states: dict[str, str], name: str, work: Path) -> str:
    """Write what is shared into this learner's one file there; return the file's name. Refusal."""
    folder, before = _real_folder(folder), shared_file(work)
    if not before and os.path.lexists(work / STATE):
        raise Refusal(f"{WORK}/{STATE} cannot be read: delete it and share again")
    known = before is not None and before[0] == folder
    file = before[1] if known else f"progress-{secrets.token_hex(16)}.json"
    told = {"course": COURSE, "exercises": states, **({"name": name} if name else {})}
    try:  # until the new folder takes a file, the one in the other stays
        Path(folder, file).write_text(json.dumps(told, indent=1) + "\n", "utf-8")
        if not known:
            stop(work)
            (work / STATE).write_text(json.dumps({"folder": folder, "file": file}), "utf-8")
    except OSError as error:
        why = f"{folder!r} cannot be used ({error.strerror})"
        raise Refusal(f"nothing new is shared: {why}") from None
    return file


def stop(work: Path) -> str:
    """Remove the learner's file, and the note where it was; return its folder, or "". Refusal."""
    before = shared_file(work)
    if before is None:
        return ""
    try:
        Path(*before).unlink(missing_ok=True)
        (work / STATE).unlink(missing_ok=True)
    except OSError as error:
        raise Refusal(f"your file in {before[0]!r} cannot be used ({error.strerror})") from None
    return before[0]


def read_shared(folder: str) -> Folder:
    """Return what the learners' files in a folder say. Refusal where it cannot be looked into."""
    folder = _real_folder(folder)
    try:
        names = sorted(filter(_OURS.fullmatch, os.listdir(folder)))
    except OSError as error:
        raise Refusal(f"{folder!r} cannot be used ({error.strerror})") from None
    files = []
    for told in (_dict_of(Path(folder, name)) for name in names):
        states, name = told.get("exercises"), told.get("name", "")
        if told.get("course") == COURSE and type(states) is dict and type(name) is str:
            kept = ((key, one) for key, one in states.items() if type(one) is str)
            files.append(Shared(tuple(kept), name))
    return Folder(tuple(files), len(names) - len(files))


def _real_folder(folder: str) -> str:
    path = os.path.expanduser(folder)
    if not os.path.isdir(path):
        raise Refusal(f"there is no folder {folder[:200]!r}")
    return os.path.realpath(path)


def shared_file(work: Path) -> tuple[str, str] | None:
    """Return folder and name of the learner's file; only a name that we may have drawn counts."""
    told = _dict_of(work / STATE)
    folder, file = str(told.get("folder")), str(told.get("file"))
    return (folder, file) if os.path.isabs(folder) and _OURS.fullmatch(file) else None
