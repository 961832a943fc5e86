"""The notebooks -> each exercise as it stands there: stub, check cell, and the folded solution."""

import json
import linecache
import re
from pathlib import Path
from typing import NamedTuple

import pytest

import helpers
from helpers.safety import rehearsal

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("0*.ipynb"))
FENCED = re.compile(r"```python\n(.*?)```", re.DOTALL)


class Folded(NamedTuple):
    """One exercise: number of its chapter, source of the cells before the stub, and its own."""

    chapter: str
    context: str
    stub: str
    asked: str
    solution: str


def _exercises():
    """Yield (name, exercise) of each check that a folded solution follows."""
    for path in NOTEBOOKS:
        cells = _cells(path)
        for position, (kind, source) in enumerate(cells):
            called = re.search(r"^check\.(\w+)\(", source, re.MULTILINE)
            if kind == "code" and called and "<details>" in cells[position + 1][1]:
                start = _heading_before(cells, position)
                context = [text for kind, text in cells[start : position - 1] if kind == "code"]
                solution = FENCED.search(cells[position + 1][1]).group(1)
                stub, asked = cells[position - 1][1], source
                yield called[1], Folded(path.stem[:2], "\n".join(context), stub, asked, solution)


def _cells(path):
    """Return kind and source of each cell; nbformat would take longer to import than a chapter."""
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return [(cell["cell_type"], "".join(cell["source"])) for cell in cells]


def _heading_before(cells, position):
    headed = re.compile(r"^#{2,3} ", re.MULTILINE)
    return [i for i in range(position) if headed.search(cells[i][1])][-1]


EXERCISES = dict(_exercises())


def verdict(name: str, answer: str, rehearsed: bool = False):
    """Run an answer in place of the stub, then its check -> the check's `Outcome`.

    It is judged at once, and not first in a copy of this process, unless it is to be `rehearsed`.
    """
    source = f"{EXERCISES[name].context}\n{answer}"
    linecache.cache["<answer>"] = (len(source), None, source.splitlines(True), "<answer>")
    space = {name: getattr(helpers, name) for name in helpers.__all__} | {"__name__": "learner"}
    exec(compile(source, "<answer>", "exec"), space)
    *setup, call = EXERCISES[name].asked.strip().split("\n")
    exec("\n".join(setup), space)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rehearsal, "CAN_FORK", rehearsal.CAN_FORK and rehearsed)
        return eval(call, space).model
