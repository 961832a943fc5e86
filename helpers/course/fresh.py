"""Make the copy of a notebook that a learner gets, in which nothing gives an answer away.
A notebook of the course has stored outputs. If it asks for predictions, its copy has no outputs,
and cells that give an answer away are folded. On request the first exercises are solved.
"""

import json
import re
from pathlib import Path

from helpers.course.terminal import CommandRefused
from helpers.model.study_records import find_exercise_cells

SUMMARY = "Decide first: this reveals the answer"
FORMER_SUMMARIES = ("Decide first: this gives it away",)  # in copies of earlier versions
HELD = "after-deciding"  # the tag of cells that give away the answer to a prediction above them
_OPENED = "<details class='course-held'><summary>{}</summary>\n\n"
_CLOSED = "\n\n</details>"
_FOLDED = re.compile(_OPENED.format("[^<]*") + "(.*)" + re.escape(_CLOSED), re.DOTALL)
FOLD = _OPENED.format(SUMMARY)


def fresh(path: Path, solved_to: int | None = None) -> bytes:
    """Return the copy of a notebook for a learner, as the content of a file.

    Its first `solved_to` exercises are solved, or none if that is None. Raise CommandRefused if the
    notebook has fewer exercises, or if `solved_to` is below 1.
    """
    return make_fresh_copy(path.read_bytes(), path.stem, solved_to)


def make_fresh_copy(
    data: bytes, name: str = "", solved_to: int | None = None, fold: str = FOLD
) -> bytes:
    """Do what `fresh` does, for the content of a notebook file.

    `name` is for error messages, and `fold` is the HTML before the source of a folded cell. Content
    that is no notebook is returned unchanged.
    """
    try:
        notebook = json.loads(data)
        cells = notebook["cells"]
    except (ValueError, KeyError, TypeError):  # JupyterLab reports it when the file is opened
        return data
    if solved_to is not None:
        _solve(cells, name, solved_to)
    held_cells = [cell for cell in cells if HELD in cell.get("metadata", {}).get("tags", ())]
    for cell in held_cells:
        if cell["cell_type"] == "code":
            cell["metadata"]["jupyter"] = {"source_hidden": True}
        else:  # JupyterLab can hide Markdown, too, but would show its first line
            cell["source"] = [fold, *cell["source"], _CLOSED]
    if not held_cells and solved_to is None:  # nothing was changed
        return data
    if held_cells:
        _clear_outputs(cells)
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()


def every_fresh(data: bytes) -> list[bytes]:
    """Return all copies that any version of the course makes of a notebook.

    The versions differ by the text on a folded cell.
    """
    summaries = (SUMMARY, *FORMER_SUMMARIES)
    return [make_fresh_copy(data, fold=_OPENED.format(summary)) for summary in summaries]


def unfolded(source: str) -> str:
    """Return the source of a Markdown cell without the fold that the course has put around it."""
    match = _FOLDED.fullmatch(source)
    return match[1] if match else source


def _clear_outputs(cells: list[dict]) -> None:
    for cell in cells:
        if cell["cell_type"] == "code":
            cell["outputs"] = []
            cell["execution_count"] = None


def _solve(cells: list[dict], name: str, count: int) -> None:
    """Replace the stubs of the first `count` exercises by their solutions.

    A stub is the cell in which a learner writes the answer. `cells` is changed. Raise
    CommandRefused if the notebook `name` has fewer exercises, or if `count` is below 1.
    """
    exercises = list(find_exercise_cells(cells))
    if not 0 < count <= len(exercises):
        raise CommandRefused(
            f"--solved-to needs a number from 1 to {len(exercises)}, the exercises of {name}, "
            f"not {count}."
        )
    for exercise in exercises[:count]:
        solution = exercise.solution.rstrip()
        cells[exercise.stub]["source"] = solution.splitlines(keepends=True)
        # The stored outputs of both cells are those of the unsolved stub.
        for index in (exercise.stub, exercise.check):
            cells[index]["outputs"] = []
