"""A notebook's cells -> its exercises as they stand there: heading, stub, check and solution."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_CHECK = re.compile(r"^check\.(\w+)\(", re.MULTILINE)
_FENCED = re.compile(r"```python\n(.*?)```", re.DOTALL)
_HEADING = re.compile(r"^#{2,6} ", re.MULTILINE)
_CODE = re.compile(r"```.*?```", re.DOTALL)


class ExerciseCells(NamedTuple):
    """An exercise: its name, the places of its cells, and its folded solution ("" in a handout)."""

    name: str
    heading: int
    stub: int
    check: int
    solution: str


def exercise_cells(cells: list[dict]) -> Iterator[ExerciseCells]:
    """Yield each check that is called; the stub stands before it, the solution after it."""
    heading, sources = 0, ["".join(cell["source"]) for cell in cells]
    for at, cell in enumerate(cells):
        if cell["cell_type"] == "markdown":
            heading = at if _HEADING.search(_CODE.sub("", sources[at])) else heading
        elif called := _CHECK.search(sources[at]):
            after = sources[at + 1] if at + 1 < len(cells) else ""
            folded = _FENCED.search(after) if "<details>" in after else None
            yield ExerciseCells(called[1], heading, at - 1, at, folded[1] if folded else "")
