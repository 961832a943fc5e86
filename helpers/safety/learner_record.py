"""What a learner did -> a line in `work/progress.jsonl`, and back. It is sent nowhere.

A line is a JSON object: when it was (UTC), and an exercise or a prediction.

    {"at": "2026-03-01T09:30:00Z", "check": "tangle", "is": "hint"}            or "failed", "passed"
    {"at": "2026-03-01T09:31:00Z", "predict": "What …?", "said": "old", "was": "new", "chapter": 1}

No answer and no code of the learner's is in it. Lines are only added, each by one write at the end
of the file, so two kernels may write at once (an empty line between theirs means nothing); whoever
deletes the file has it all forgotten. Only a kernel that runs in the course's own `work/` records,
and with COURSE_RECORD=off not even that one: tests, programs and helpers without a course beside
them write nothing.
"""

import json
import os
import stat
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from helpers.safety import copies

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
    """Add an event to the end of the file; return why it is not there, as a sentence, or ""."""
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
        data = _tail(path)
    except FileNotFoundError:
        return Record()
    except OSError as error:
        return Record((), f"Nothing is read from {WORK}/{NAME}: it {why(error)}.")
    lines = [line for line in data.split(b"\n") if line.strip()]
    events = tuple(filter(None, map(_event, lines)))
    broken = len(lines) - len(events)
    if broken and not events:
        return Record((), _set_aside(path))
    words = f"{broken} of {len(lines)} lines in {WORK}/{NAME} cannot be read; the others count."
    return Record(events, words if broken else "")


def _in_a_kernel() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


def _append(path: Path, line: bytes) -> None:
    """Write a line in one piece; one that was cut off before it, as on a full disk, is ended.

    The system may show half of a line that another process is writing just now: it is then ended
    twice, by itself and here, which leaves an empty line and costs none.
    """
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | PLAIN, 0o644)
    try:
        size = size_of(handle)
        if os.fstat(handle).st_nlink > 1:
            raise OSError("is a hard link: what is added would stand in another file too")
        if size:
            os.lseek(handle, size - 1, os.SEEK_SET)
            line = line if os.read(handle, 1) == b"\n" else b"\n" + line
        if os.write(handle, line) < len(line):
            raise OSError("could not take a whole line")
    finally:
        os.close(handle)


def _tail(path: Path) -> bytes:
    """Return the whole file, or its last lines where it is very long."""
    with plain_file(path) as file:
        size = size_of(file.fileno())
        if size <= MOST:
            return file.read()
        file.seek(size - MOST)
        return file.read(MOST).partition(b"\n")[2]


def plain_file(path: Path) -> BinaryIO:
    """Open a file to be read. OSError for what is no plain file, such as a folder."""
    handle = os.open(path, os.O_RDONLY | PLAIN)
    try:
        size_of(handle)
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def size_of(handle: int) -> int:
    """Return the length of an open file. OSError for what is no plain file, such as a pipe."""
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
    if not all(type(told.get(key)) is str for key in ("predict", "said", "was")):
        return None
    number = told.get("chapter")
    kept = {key: told[key] for key in ("predict", "said", "was")}
    return {**kept, "chapter": number if type(number) is int else None}


def _set_aside(path: Path) -> str:
    when = datetime.now().strftime("%Y-%m-%d_%H%M%S")
    try:
        kept = copies.set_aside(path, when)
    except OSError as error:
        return f"No line of {WORK}/{NAME} can be read, and it {why(error)}."
    return f"No line of {WORK}/{NAME} could be read: it is now {kept.name}, and a new one begins."


def why(error: OSError) -> str:
    """Return what the system says, to go on after the name of the file."""
    return f"cannot be used ({error.strerror})" if error.strerror else str(error)
