"""Write a learner's checks and predictions to `work/progress.jsonl`, and read them. It stays there.

Each event is a line of JSON. A check has a state in "is": "hint", "failed" or "passed".

    {"at": "2026-03-01T09:30:00Z", "check": "tangle", "is": "hint"}
    {"at": "2026-03-01T09:31:00Z", "predict": "What …?", "said": "old", "was": "new", "chapter": 1}

The file has no answer and no code of the learner. Only a Jupyter kernel whose working folder is in
the course's folder `work/` writes to it, and only if the variable COURSE_RECORD is not "off".
"""

import json
import os
import stat
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

NAME = "progress.jsonl"
WORK = "work"
STATES = ("hint", "failed", "passed")
LARGEST = 32_000_000  # bytes of a file; a line has about a hundred
LONGEST = 4_000  # bytes of a line; a longer one is not recorded
ELSEWHERE = f"Not recorded: only what runs in the folder {WORK}/ is recorded."
TOO_LONG = f"Not recorded: a line of {WORK}/{NAME} has at most {LONGEST:,} bytes."
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class LearnerRecord:
    """The events in a learner's file, as far as it could be read."""

    #: The events, in the order of the file, without the time.
    events: tuple[dict, ...] = ()
    #: A sentence on how much could not be read, and why; "" if all was read.
    trouble: str = ""


def find_record_file() -> Path | None:
    """Return the path of the file to which this process writes events; None if it writes none.

    It writes only if recording is on, if this is a checkout of the course, and if the working
    folder is in the course's folder `work/`.
    """
    if not _may_record():
        return None
    work = ROOT / WORK
    try:
        current_folder = Path.cwd().resolve()
    except FileNotFoundError:  # the folder was removed
        return None
    is_course = (ROOT / "course.py").is_file() and work.is_dir() and not work.is_symlink()
    is_inside = current_folder == work or work in current_folder.parents
    return work / NAME if is_course and is_inside else None


def record_event(event: dict) -> str:
    """Write an event to the file of `find_record_file`; return "" or why it was not written.

    The reason is a sentence for the learner. It is "", too, if recording is switched off or this
    process is no Jupyter kernel, because then the learner expects no record.
    """
    path = find_record_file()
    if path is not None:
        return add_event(path, event)
    return ELSEWHERE if _may_record() else ""


def _may_record() -> bool:
    """Return whether this is a Jupyter kernel in which recording is not switched off."""
    if os.environ.get("COURSE_RECORD") == "off":
        return False
    # IPython in a terminal has a shell, too, but that shell has no attribute `kernel`.
    get_shell = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = get_shell() if get_shell else None
    return getattr(shell, "kernel", None) is not None


def add_event(path: Path, event: dict) -> str:
    """Append an event, with the time, to the file at `path`; return "" or why it was not written.

    The reason is a sentence for the learner.
    """
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    line = json.dumps({"at": now, **event}).encode() + b"\n"
    if len(line) > LONGEST:
        return TOO_LONG
    try:
        with open(path, "a+b") as file:
            if file.seek(0, os.SEEK_END):
                file.seek(-1, os.SEEK_END)
                # The last line was cut off, as on a full disk. The new event begins a new line.
                if file.read(1) != b"\n":
                    line = b"\n" + line
            file.write(line)
    except OSError as error:
        return f"Your progress is not recorded: {WORK}/{NAME} cannot be used ({error.strerror})."
    return ""


def read_record(path: Path) -> LearnerRecord:
    """Return the events in the file at `path`, and a sentence on how much of it cannot be read.

    A file that does not exist has no events, which is no trouble.
    """
    if not os.path.lexists(path):
        return LearnerRecord()
    try:
        refusal = _refuse_file(path.stat())
        data = b"" if refusal else path.read_bytes()
    except OSError as error:
        refusal = f"it cannot be used ({error.strerror})."
    if refusal:
        return LearnerRecord(trouble=f"Nothing is read from {WORK}/{NAME}: {refusal}")

    lines = [line for line in data.split(b"\n") if line.strip()]
    events = [event for event in map(_read_event, lines) if event]
    unread_count = len(lines) - len(events)
    if not unread_count:
        return LearnerRecord(tuple(events))
    trouble = f"{unread_count} of {len(lines)} lines in {WORK}/{NAME} cannot be read"
    trouble += "; the others count." if events else "."
    return LearnerRecord(tuple(events), trouble)


def _refuse_file(status: os.stat_result) -> str:
    """Return why a file is not read, given the result of `os.stat`; "" if it may be read."""
    # Reading a pipe or a device may never end.
    if stat.S_ISFIFO(status.st_mode) or stat.S_ISCHR(status.st_mode):
        return "it is not a file."
    if status.st_size > LARGEST:
        return f"it has {status.st_size / 1e6:,.0f} MB, of at most {LARGEST / 1e6:,.0f}."
    return ""


def _read_event(line: bytes) -> dict | None:
    """Return the event in a line of the file, without unknown keys; None if there is no event.

    The event of a check has the keys `check` (its name) and `is`. The event of a prediction has
    `predict` (the question), `said` (the learner's answer), `was` (the right answer) and `chapter`
    (a number or None).
    """
    items = read_json_dict(line)
    if type(items.get("check")) is str and items.get("is") in STATES:
        return {"check": items["check"], "is": items["is"]}

    event = {key: items.get(key) for key in ("predict", "said", "was")}
    if not all(type(value) is str for value in event.values()):
        return None
    chapter = items.get("chapter")
    return {**event, "chapter": chapter if type(chapter) is int else None}


def read_json_dict(source: bytes | Path) -> dict:
    """Return the dict in JSON text, given as bytes or as the path of a file.

    Return {} if the JSON cannot be read, or is something else than a dict.
    """
    try:
        value = json.loads(source if type(source) is bytes else source.read_bytes())
    except (OSError, ValueError, RecursionError):  # RecursionError: thousands of nested brackets
        return {}
    return value if type(value) is dict else {}
