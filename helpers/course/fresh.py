"""A notebook of the course -> the copy of it that a learner meets first.

Nothing has run yet in a copy of a notebook that asks for predictions, and what would give an answer
away is folded. On request its first exercises are solved.
"""

import json
import re
from pathlib import Path

from helpers.course.terminal import CommandRefused
from helpers.model.study_records import find_exercise_cells

SUMMARY = "Decide first: this reveals the answer"
FORMER_SUMMARIES = ("Decide first: this gives it away",)  # copies of that time are still in use
HELD = "after-deciding"  # the tag of cells that say what a prediction above them asks
_OPENED = "<details class='course-held'><summary>{}</summary>\n\n"
_CLOSED = "\n\n</details>"
_FOLDED = re.compile(_OPENED.format("[^<]*") + "(.*)" + re.escape(_CLOSED), re.DOTALL)
FOLD = _OPENED.format(SUMMARY)


def fresh(path: Path, solved_to: int | None = None) -> bytes:
    """Return a notebook as a learner first meets it; its first exercises are solved if asked.

    Refusal if it has fewer than `solved_to` exercises, or if that is none.
    """
    return freshened(path.read_bytes(), path.stem, solved_to)


def freshened(data: bytes, name: str = "", solved_to: int | None = None, fold: str = FOLD) -> bytes:
    """Return the same of a notebook's bytes; what is not a notebook is returned as it is."""
    try:
        notebook = json.loads(data)
        cells = notebook["cells"]
    except (ValueError, KeyError, TypeError):  # JupyterLab will say so when it is opened
        return data
    if solved_to is not None:
        _solve(cells, name, solved_to)
    held = [cell for cell in cells if HELD in cell.get("metadata", {}).get("tags", ())]
    for cell in held:
        if cell["cell_type"] == "code":
            cell["metadata"]["jupyter"] = {"source_hidden": True}
        else:  # folded by JupyterLab, its first line would be seen
            cell["source"] = [fold, *cell["source"], _CLOSED]
    if not held and solved_to is None:
        return data
    if held:
        _clear_outputs(cells)
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()


def every_fresh(data: bytes) -> list[bytes]:
    """Return the copies that the course has made of a notebook, with each fold it ever had."""
    summaries = (SUMMARY, *FORMER_SUMMARIES)
    return [freshened(data, fold=_OPENED.format(summary)) for summary in summaries]


def unfolded(source: str) -> str:
    """Return the source of a cell of Markdown without the course's fold around it."""
    found = _FOLDED.fullmatch(source)
    return found[1] if found else source


def _clear_outputs(cells: list[dict]) -> None:
    for cell in cells:
        if cell["cell_type"] == "code":
            cell["outputs"] = []
            cell["execution_count"] = None


def _solve(cells: list[dict], name: str, count: int) -> None:
    """Put the solutions of the first exercises into their stubs."""
    exercises = list(find_exercise_cells(cells))
    if not 0 < count <= len(exercises):
        raise CommandRefused(
            f"--solved-to needs a number from 1 to {len(exercises)}, the exercises of {name}, "
            f"not {count}."
        )
    for exercise in exercises[:count]:
        solution = exercise.solution.rstrip()
        cells[exercise.stub]["source"] = solution.splitlines(keepends=True)
        for place in (exercise.stub, exercise.check):  # its stored output belongs to the stub
            cells[place]["outputs"] = []
