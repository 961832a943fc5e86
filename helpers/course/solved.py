"""A notebook -> its exercises as they stand there, and a copy in which the first are solved."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import course

_CHECK = re.compile(r"^check\.(\w+)\(", re.MULTILINE)
_FENCED = re.compile(r"```python\n(.*?)```", re.DOTALL)


class Exercise(NamedTuple):
    """An exercise: its name, the places of its stub and of its check cell, and its solution."""

    name: str
    stub: int
    check: int
    solution: str


def exercises(cells: list[dict]) -> Iterator[Exercise]:
    """Yield each check that a folded solution follows; the stub stands before it."""
    for at, (cell, after) in enumerate(zip(cells, cells[1:], strict=False)):
        called = _CHECK.search("".join(cell["source"]))
        folded = "".join(after["source"])
        if cell["cell_type"] == "code" and called and "<details>" in folded:
            yield Exercise(called[1], at - 1, at, _FENCED.search(folded)[1])


def solved(path: Path, count: int) -> bytes:
    """Return the notebook with the stubs of its first exercises replaced by their solutions.

    Refusal if it has fewer than `count` exercises, or if that is none.
    """
    notebook = json.loads(path.read_text("utf-8"))
    there = list(exercises(notebook["cells"]))
    if not 0 < count <= len(there):
        raise course.Refusal(
            f"--solved-to takes a number from 1 to {len(there)}, the exercises of {path.stem}, "
            f"not {count}."
        )
    for one in there[:count]:
        notebook["cells"][one.stub]["source"] = one.solution.rstrip().splitlines(keepends=True)
        for place in (one.stub, one.check):  # what is stored there was said of the stub
            notebook["cells"][place]["outputs"] = []
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()
