"""Files of one name -> whether a learner has edited one, and what one has that the other lacks.

What an author writes in a notebook is the source, kind, order and attachments of its cells. A run
leaves outputs, counts and metadata, the course the fold of a held answer, and Shift-Enter an empty
cell at the end.
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
_PLAIN = re.compile(r"[ -~]{8,}")  # a line that every writer of JSON writes alike
SHOWN = 3  # names of what is missing
PROBES = 24


class Lack(NamedTuple):
    """What a newer notebook has and a learner's lacks."""

    #: Titles of sections.
    sections: list[str]
    #: Names of exercises.
    exercises: list[str]


def digest(data: bytes) -> str:
    """Return a hash of all bytes of a file."""
    return hashlib.sha256(data).hexdigest()


def written(data: bytes, name: str) -> str:
    """Return a hash of what an author wrote in a file; what is not a notebook is written whole."""
    cells = _cells(data) if is_notebook(name) else None
    return digest(data if cells is None else json.dumps(cells).encode())


def is_notebook(name: str) -> bool:
    """Return whether a file is called a notebook."""
    return PurePath(name).suffix == ".ipynb"


def probes(data: bytes) -> list[bytes]:
    """Return long lines of a notebook, as they are in the file of each notebook that says the same.

    A file that lacks one of them need not be read as JSON.
    """
    lines = set()
    for _, source, _ in _cells(data) or ():
        lines.update(line for line in source.splitlines())
    plain_lines = [line for line in lines if _PLAIN.fullmatch(line)]
    longest = sorted(plain_lines, key=len)[-PROBES:]
    return [json.dumps(line)[1:-1].encode() for line in longest]


def lack(learners: bytes, newest: bytes) -> Lack | None:
    """Return what the learner's notebook lacks; None where one of the two cannot be read."""
    learners_parts = _parts(learners)
    newest_parts = _parts(newest)
    if learners_parts is None or newest_parts is None:
        return None
    return Lack(
        sections=_missing(newest_parts.sections, learners_parts.sections),
        exercises=_missing(newest_parts.exercises, learners_parts.exercises),
    )


def _missing(names: list[str], existing: list[str]) -> list[str]:
    return [name for name in names if name not in existing]


def named(names: list[str], noun: str) -> str:
    """Return how many things there are and the names of the first, as in `2 exercises (a, b)`."""
    count = len(names)
    if count != 1:
        noun = f"{noun}s"
    first = ", ".join(names[:SHOWN])
    more = f" and {count - SHOWN} more" if count > SHOWN else ""
    return f"{count} {noun} ({first}{more})"


class _Parts(NamedTuple):
    """What can be missing in a notebook, in order."""

    sections: list[str]
    exercises: list[str]


def _parts(data: bytes) -> _Parts | None:
    """Return the titles of a notebook's sections and the names of its exercises, in order."""
    cells = _cells(data)
    if cells is None:
        return None
    titles = []
    for kind, source, _ in cells:
        if kind == "markdown":
            titles += _SECTION.findall(_FENCED.sub("", source))
    plain_cells = [{"cell_type": kind, "source": source} for kind, source, _ in cells]
    exercises = [exercise.name for exercise in find_exercise_cells(plain_cells)]
    # Each once.
    return _Parts(list(dict.fromkeys(titles)), list(dict.fromkeys(exercises)))


def _cells(data: bytes) -> list[tuple] | None:
    """Return kind, source and attachments of each cell; None where this is not a notebook."""
    try:
        cells = [_cell(cell) for cell in json.loads(data)["cells"]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    while cells and cells[-1] == ("code", "", {}):  # which Shift-Enter has added
        cells.pop()
    return cells


def _cell(cell: dict) -> tuple:
    """Return kind, source and attachments of a cell; its source is without the course's fold."""
    kind = cell["cell_type"]
    source = "".join(cell["source"])
    if kind == "markdown":
        source = unfolded(source)
    return kind, source, cell.get("attachments") or {}
