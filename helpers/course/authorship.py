"""Files of one name -> whether a learner has edited one, and what one has that the other lacks.

What an author writes in a notebook is the source, kind, order and attachments of its cells. A run
leaves outputs, counts and metadata, the course the fold of a held answer, and Shift-Enter an empty
cell at the end.
"""

import hashlib
import json
import re
from collections import namedtuple
from pathlib import PurePath

from helpers.course.fresh import unfolded
from helpers.model.study_records import exercise_cells

_SECTION = re.compile(r"^## (?:\d+ · )?(.+?)\s*$", re.MULTILINE)
_FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_PLAIN = re.compile(r"[ -~]{8,}")  # a line that every writer of JSON writes alike
SHOWN = 3  # names of what is missing
PROBES = 24

# What a newer notebook has and a learner's lacks: titles of sections, names of exercises.
Lack = namedtuple("Lack", "sections exercises")


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
    lines = {line for _, source, _ in _cells(data) or () for line in source.splitlines()}
    longest = sorted((line for line in lines if _PLAIN.fullmatch(line)), key=len)[-PROBES:]
    return [json.dumps(line)[1:-1].encode() for line in longest]


def lack(learners: bytes, newest: bytes) -> Lack | None:
    """Return what the learner's notebook lacks; None where one of the two cannot be read."""
    theirs, ours = _parts(learners), _parts(newest)
    if theirs is None or ours is None:
        return None
    missing = (
        [part for part in all_of_ours if part not in of_theirs]
        for all_of_ours, of_theirs in zip(ours, theirs, strict=True)
    )
    return Lack(*missing)


def named(things: list[str], noun: str) -> str:
    """Return how many things there are and the names of the first, as in `2 exercises (a, b)`."""
    first = ", ".join(things[:SHOWN])
    more = f" and {len(things) - SHOWN} more" if len(things) > SHOWN else ""
    return f"{len(things)} {noun}{'s' if len(things) != 1 else ''} ({first}{more})"


def _parts(data: bytes) -> tuple[list[str], list[str]] | None:
    """Return the titles of a notebook's sections and the names of its exercises, in order."""
    cells = _cells(data)
    if cells is None:
        return None
    prose = (_FENCED.sub("", source) for kind, source, _ in cells if kind == "markdown")
    titles = [title for source in prose for title in _SECTION.findall(source)]
    plain = [{"cell_type": kind, "source": source} for kind, source, _ in cells]
    exercises = [exercise.name for exercise in exercise_cells(plain)]
    return list(dict.fromkeys(titles)), list(dict.fromkeys(exercises))


def _cells(data: bytes) -> list[tuple] | None:
    """Return kind, source and attachments of each cell; None where this is not a notebook."""
    try:
        cells = [_cell(cell) for cell in json.loads(data)["cells"]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    while cells and cells[-1] == ("code", "", {}):
        cells.pop()
    return cells


def _cell(cell: dict) -> tuple:
    kind, source = cell["cell_type"], "".join(cell["source"])
    if kind == "markdown":
        source = unfolded(source)
    return kind, source, cell.get("attachments") or {}
