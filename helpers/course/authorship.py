"""Find out whether a learner has edited a notebook, and what it lacks of the course's newest one.
Only what an author writes counts: the source, kind, order and attachments of the cells. Running a
notebook changes outputs, counts and metadata, and adds an empty cell at the end. The course itself
folds cells that give an answer away. None of that is an edit.
"""

import hashlib
import json
import re
from pathlib import PurePath
from typing import NamedTuple

from helpers.course.fresh import unfolded
from helpers.model.study_records import find_exercise_cells

_SECTION = re.compile(r"^## (?:\d+ · )?(.+?)\s*$", re.MULTILINE)
_FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_PLAIN = re.compile(r"[ -~]{8,}")  # ASCII, which all programs write to JSON in the same way
SHOWN = 3  # how many names a sentence lists
PROBES = 24  # how many lines `probes` returns


class Lack(NamedTuple):
    """What the course's newest notebook has, and the learner's lacks."""

    #: Titles of sections.
    sections: list[str]
    #: Names of exercises.
    exercises: list[str]


def digest(data: bytes) -> str:
    """Return a hash of all bytes of a file."""
    return hashlib.sha256(data).hexdigest()


def written(data: bytes, name: str) -> str:
    """Return a hash of what an author wrote in a file, which running the file does not change.

    For a file that is not a notebook, it is the hash of all bytes.
    """
    cells = _read_cells(data) if is_notebook(name) else None
    return digest(data if cells is None else json.dumps(cells).encode())


def is_notebook(name: str) -> bool:
    """Return whether the name of a file ends with ".ipynb"."""
    return PurePath(name).suffix == ".ipynb"


def probes(data: bytes) -> list[bytes]:
    """Return some long lines of a notebook, as a notebook file contains them.

    They allow a quick test: a file without one of these lines has other cells than the notebook,
    and need not be read as JSON.
    """
    lines = set()
    for _, source, _ in _read_cells(data) or ():
        lines.update(source.splitlines())
    plain_lines = [line for line in lines if _PLAIN.fullmatch(line)]
    longest = sorted(plain_lines, key=len)[-PROBES:]
    # With JSON's escape sequences, and without its quotes.
    return [json.dumps(line)[1:-1].encode() for line in longest]


def lack(learners: bytes, newest: bytes) -> Lack | None:
    """Return what the learner's notebook lacks of the newest; None if one of them cannot be read.

    Both arguments are the content of a notebook file.
    """
    learners_parts = _read_parts(learners)
    newest_parts = _read_parts(newest)
    if learners_parts is None or newest_parts is None:
        return None
    return Lack(
        sections=_missing(newest_parts.sections, learners_parts.sections),
        exercises=_missing(newest_parts.exercises, learners_parts.exercises),
    )


def _missing(names: list[str], existing: list[str]) -> list[str]:
    return [name for name in names if name not in existing]


def named(names: list[str], noun: str) -> str:
    """Return a count with the first names: "2 exercises (a, b)" for the noun "exercise"."""
    count = len(names)
    if count != 1:
        noun = f"{noun}s"
    first = ", ".join(names[:SHOWN])
    more = f" and {count - SHOWN} more" if count > SHOWN else ""
    return f"{count} {noun} ({first}{more})"


class _Parts(NamedTuple):
    """The titles of a notebook's sections and the names of its exercises, in order."""

    sections: list[str]
    exercises: list[str]


def _read_parts(data: bytes) -> _Parts | None:
    """Return the sections and exercises in the content of a notebook file; None if it is none."""
    cells = _read_cells(data)
    if cells is None:
        return None
    titles = []
    for kind, source, _ in cells:
        if kind == "markdown":  # a line "## …" in a block of code is no title
            titles += _SECTION.findall(_FENCED.sub("", source))
    plain_cells = [{"cell_type": kind, "source": source} for kind, source, _ in cells]
    exercises = [exercise.name for exercise in find_exercise_cells(plain_cells)]
    # `dict.fromkeys` removes duplicates and keeps the order.
    return _Parts(list(dict.fromkeys(titles)), list(dict.fromkeys(exercises)))


def _read_cells(data: bytes) -> list[tuple] | None:
    """Return (kind, source, attachments) of each cell of a notebook; None if it is no notebook.

    Empty cells of code at the end are left out, because Shift-Enter adds them.
    """
    try:
        cells = [_read_cell(cell) for cell in json.loads(data)["cells"]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    while cells and cells[-1] == ("code", "", {}):
        cells.pop()
    return cells


def _read_cell(cell: dict) -> tuple:
    """Return (kind, source, attachments) of a cell, without the fold that the course adds."""
    kind = cell["cell_type"]
    source = "".join(cell["source"])
    if kind == "markdown":
        source = unfolded(source)
    return kind, source, cell.get("attachments") or {}
