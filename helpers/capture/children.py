"""A program -> how the child interpreter that ran it ended; it may die there, not in a kernel."""

import os
import signal
import subprocess
import sys
from dataclasses import dataclass

from helpers.capture.said import said
from helpers.model.listing import Column, Listing

LONGEST = 60  # seconds
MOST_LINES = 12
START = "import resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n"  # no core dumps


@dataclass(frozen=True)
class Told:
    """One thing that the child left behind."""

    what: str
    words: str


@dataclass(frozen=True)
class Ending(Listing):
    """How a child ended: `status` as subprocess has it, and the same in words (`ended`)."""

    status: int = 0
    ended: str = ""
    printed: str = ""


def child_listing(source: str, title: str = "A child interpreter") -> Ending:
    """Run `source` in a fresh interpreter; return what it printed and how it ended.

    `status` is negative where a signal ended it. TypeError if the source is no text, SyntaxError
    if it is no Python, and a child that does not end in a minute is ended.
    """
    if not isinstance(source, str):
        raise TypeError(f"the program must be a text, not {type(source).__name__}")
    compile(source, "<child>", "exec")
    limit = START if sys.platform != "win32" else ""
    command = [sys.executable, "-c", limit + source]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LONGEST,
            env={**os.environ, "PYTHONHASHSEED": "0", "PYTHONFAULTHANDLER": ""},
            check=False,
        )
    except subprocess.TimeoutExpired:
        return _ending(title, "", "", -signal.SIGTERM, f"ended after {LONGEST} seconds")
    return _ending(title, done.stdout, done.stderr, done.returncode, _words(done.returncode))


def _ending(title: str, printed: str, errors: str, status: int, words: str) -> Ending:
    lines = printed.splitlines()
    rows = [Told("printed", line) for line in lines[:MOST_LINES]] or [Told("printed", "nothing")]
    if len(lines) > MOST_LINES:
        rows.append(Told("printed", f"… {len(lines) - MOST_LINES} lines more"))
    if status == 1 and errors:
        last = said(_Raised(errors.strip().splitlines()[-1]))
        rows.append(Told("raised", last.removeprefix("_Raised: ")))
    rows.append(Told("ended", words))
    columns = (Column("what", "the child"), Column("words", "what is left of it", True))
    return Ending(title, columns, tuple(rows), "", status, words, printed)


class _Raised(Exception):
    """The last line of a child's traceback."""


def _words(status: int) -> str:
    if status >= 0:
        return f"with exit status {status}"
    try:
        return f"killed by {signal.Signals(-status).name}, exit status {status}"
    except ValueError:
        return f"killed by signal {-status}"
