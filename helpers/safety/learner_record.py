"""What a learner did -> a line in `work/progress.jsonl`, and back; it is sent nowhere.

    {"at": "2026-03-01T09:30:00Z", "check": "tangle", "is": "hint"}            or "failed", "passed"
    {"at": "2026-03-01T09:31:00Z", "predict": "What …?", "said": "old", "was": "new", "chapter": 1}

No answer and no code of the learner's is in it. Only a kernel that runs in the course's own `work/`
records, and with COURSE_RECORD=off not even that one. `share` writes how far a learner came into a
folder that others read, where the learner asks for it; `read_shared` reads all such files.
"""

import json
import os
import re
import secrets
import stat
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from helpers.safety.folders import COURSE, Refusal, set_aside, write_new

NAME, WORK = "progress.jsonl", "work"
STATES = ("hint", "failed", "passed")
MOST = 8_000_000  # bytes read, from the end
LONGEST = 4_000  # bytes of a line; what is longer is not recorded
ROOT = Path(__file__).resolve().parents[2]
PLAIN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True)
class Record:
    """The events that could be read, in order, and a sentence on what could not."""

    events: tuple[dict, ...] = ()
    trouble: str = ""


def place() -> Path | None:
    """Return the file in which this process records; None where it records nothing."""
    if os.environ.get("COURSE_RECORD") == "off" or not _in_a_kernel():
        return None
    work = ROOT / WORK
    try:
        here, own = Path.cwd().resolve(), work.resolve(strict=True) == work
    except (OSError, RuntimeError):
        return None
    ours = own and (ROOT / "course.py").is_file() and (here == work or work in here.parents)
    return work / NAME if ours else None


def is_elsewhere() -> bool:
    """Return whether this process records nothing for it runs in another place than `work/`."""
    return os.environ.get("COURSE_RECORD") != "off" and place() is None


def add(path: Path, event: dict) -> str:
    """Add an event to the end of the file; return why it is not there, as a sentence, or "".

    Each line is one write, so two kernels may add at once.
    """
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    line = json.dumps({"at": now, **event}).encode() + b"\n"
    try:
        if len(line) <= LONGEST:
            _append(path, line)
    except OSError as error:
        return f"Your progress is not recorded: {WORK}/{NAME} {why(error)}."
    return ""


def read(path: Path) -> Record:
    """Return what the file holds; one of which nothing can be read gets another name."""
    try:
        with _plain_file(path) as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - MOST))
            data = file.read(MOST)
    except FileNotFoundError:
        return Record()
    except OSError as error:
        return Record((), f"Nothing is read from {WORK}/{NAME}: it {why(error)}.")
    data = data.partition(b"\n")[2] if size > MOST else data
    lines = [line for line in data.split(b"\n") if line.strip()]
    events = tuple(filter(None, map(_event, lines)))
    broken = len(lines) - len(events)
    if broken and not events:
        return Record((), _start_anew(path))
    words = f"{broken} of {len(lines)} lines in {WORK}/{NAME} cannot be read; the others count."
    return Record(events, words if broken else "")


def _in_a_kernel() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


def _append(path: Path, line: bytes) -> None:
    """Write a line in one piece; one that was cut off before it, as on a full disk, is ended."""
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | PLAIN, 0o644)
    try:
        size = _size_of(handle)
        if os.fstat(handle).st_nlink > 1:
            raise OSError("is a hard link: what is added would stand in another file too")
        if size:
            os.lseek(handle, size - 1, os.SEEK_SET)
            line = line if os.read(handle, 1) == b"\n" else b"\n" + line
        if os.write(handle, line) < len(line):
            raise OSError("could not take a whole line")
    finally:
        os.close(handle)


def _plain_file(path: Path) -> BinaryIO:
    """Open a file to be read. OSError for what is no plain file, such as a folder."""
    handle = os.open(path, os.O_RDONLY | PLAIN)
    try:
        _size_of(handle)
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def _size_of(handle: int) -> int:
    info = os.fstat(handle)
    if not stat.S_ISREG(info.st_mode):
        raise OSError("is no plain file")
    return info.st_size


def _event(line: bytes) -> dict | None:
    """Return what a line says, less what is not known here; None for what is no event."""
    try:
        told = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    if type(told) is not dict:
        return None
    if type(told.get("check")) is str and told.get("is") in STATES:
        return {"check": told["check"], "is": told["is"]}
    kept = {key: told.get(key) for key in ("predict", "said", "was")}
    if not all(type(one) is str for one in kept.values()):
        return None
    number = told.get("chapter")
    return {**kept, "chapter": number if type(number) is int else None}


def _start_anew(path: Path) -> str:
    try:
        kept = set_aside(path, datetime.now().strftime("%Y-%m-%d_%H%M%S"))
    except OSError as error:
        return f"No line of {WORK}/{NAME} can be read, and it {why(error)}."
    return f"No line of {WORK}/{NAME} could be read: it is now {kept.name}, and a new one begins."


def why(error: OSError) -> str:
    """Return what the system says, to go on after the name of the file."""
    return f"cannot be used ({error.strerror})" if error.strerror else str(error)


# -- what a learner shares: exercises and states, and a name only where one was given

STATE = ".sharing.json"  # in work/: the folder and the file's name, which is drawn by chance
LARGEST = 64_000  # bytes of a file that is read
MOST_SHARED, SEEN = 2_000, 20_000  # files read, entries of the folder looked at
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
    folder, before = _real_folder(folder), _state(work)
    if not before and os.path.lexists(work / STATE):
        raise Refusal(f"{WORK}/{STATE} says nothing that can be read: delete it and share again")
    known = before is not None and before[0] == folder
    file = before[1] if known else f"progress-{secrets.token_hex(16)}.json"
    told = {"course": COURSE, "exercises": states, **({"name": name} if name else {})}
    part = ""
    try:
        # First what shows that the folder takes a file: until then the other one stays.
        handle, part = tempfile.mkstemp(prefix=".progress-", dir=folder)
        with os.fdopen(handle, "wb") as written:
            written.write(json.dumps(told, indent=1).encode() + b"\n")
        with suppress(OSError):  # a file system without permissions
            os.chmod(part, 0o644)
        if not known:
            stop(work)
            write_new(work / STATE, json.dumps({"folder": folder, "file": file}).encode())
        os.replace(part, Path(folder, file))
    except OSError as error:
        if not known and part:
            (work / STATE).unlink(missing_ok=True)
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
        Path(*before).unlink(missing_ok=True)
        (work / STATE).unlink(missing_ok=True)
    except OSError as error:
        raise Refusal(f"your file in {before[0]!r} {why(error)}") from None
    return before[0]


def is_shared(work: Path) -> bool:
    """Return whether the learner shares: whether a note says where."""
    return _state(work) is not None


def read_shared(folder: str) -> Folder:
    """Return what the learners' files in a folder say. Refusal where it cannot be looked into."""
    folder = _real_folder(folder)
    try:
        with os.scandir(folder) as entries:
            names = [one.name for one in islice(entries, SEEN + 1)]
    except OSError as error:
        raise Refusal(f"{folder!r} {why(error)}") from None
    ours = sorted(name for name in names if _OURS.fullmatch(name))
    found = [_shared(Path(folder, name)) for name in ours[:MOST_SHARED]]
    files = tuple(one for one in found if one is not None)
    return Folder(files, len(found) - len(files), len(names) > SEEN or len(ours) > MOST_SHARED)


def _real_folder(folder: str) -> str:
    """Return the whole path of a folder that is there. Refusal."""
    with suppress(OSError, ValueError):  # a name that no folder can have
        path = os.path.realpath(os.path.expanduser(folder)) if folder else ""
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


def _shared(path: Path) -> Shared | None:
    told = _json(path)
    states, name = told.get("exercises"), told.get("name", "")
    if told.get("course") != COURSE or type(states) is not dict or type(name) is not str:
        return None
    return Shared(tuple((key, one) for key, one in states.items() if type(one) is str), name)


def _json(path: Path) -> dict:
    """Return the JSON object in a small plain file, and {} for all else."""
    try:
        with _plain_file(path) as file:
            data = file.read(LARGEST + 1)
        told = json.loads(data) if len(data) <= LARGEST else None
    except (OSError, ValueError, RecursionError):
        return {}
    return told if type(told) is dict else {}
