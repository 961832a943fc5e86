"""The notebooks -> each exercise as it stands there: stub, check cell, and the folded solution."""

import re
from pathlib import Path
from typing import NamedTuple

import nbformat

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
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
        cells = nbformat.read(path, as_version=4).cells
        for position, cell in enumerate(cells):
            called = re.search(r"^check\.(\w+)\(", cell.source, re.MULTILINE)
            if cell.cell_type == "code" and called and "<details>" in cells[position + 1].source:
                start = _heading_before(cells, position)
                context = [c.source for c in cells[start : position - 1] if c.cell_type == "code"]
                solution = FENCED.search(cells[position + 1].source).group(1)
                stub, asked = cells[position - 1].source, cell.source
                yield called[1], Folded(path.stem[:2], "\n".join(context), stub, asked, solution)


def _heading_before(cells, position):
    headed = re.compile(r"^#{2,3} ", re.MULTILINE)
    return [i for i in range(position) if headed.search(cells[i].source)][-1]


EXERCISES = dict(_exercises())
