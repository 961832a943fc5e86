"""A notebook -> a copy of it in which the first exercises are solved."""

import json
from pathlib import Path

import course
from helpers.model.exercise_cells import exercise_cells


def solved(path: Path, count: int) -> bytes:
    """Return the notebook with the stubs of its first exercises replaced by their solutions.

    Refusal if it has fewer than `count` exercises, or if that is none.
    """
    notebook = json.loads(path.read_text("utf-8"))
    there = list(exercise_cells(notebook["cells"]))
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
