"""Nothing below a prediction gives its answer away before the learner has decided."""

import json
from pathlib import Path

import pytest

from helpers.course.fresh import FOLD, HELD, fresh

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))
CHAPTERS = [path for path in NOTEBOOKS if "01" <= path.name[:2] <= "07"]


def cells_of(data: bytes) -> list[dict]:
    return json.loads(data)["cells"]


def is_held(cell) -> bool:
    return HELD in cell["metadata"].get("tags", ())


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_fresh_copy_has_run_nothing_and_folds_what_is_held_back(path):
    cells = cells_of(path.read_bytes())
    for cell, copy in zip(cells, cells_of(fresh(path)), strict=True):
        assert copy.get("outputs", []) == [] and copy.get("execution_count") is None
        hidden = copy["metadata"].get("jupyter", {}).get("source_hidden", False)
        folded = "".join(copy["source"]) == f"{FOLD}{''.join(cell['source'])}\n\n</details>"
        assert (hidden or folded) is is_held(cell)


def test_a_notebook_that_asks_nothing_is_copied_as_it_is(tmp_path):
    quiet = [path for path in NOTEBOOKS if path not in CHAPTERS]
    assert len(quiet) == 2 and all(fresh(path) == path.read_bytes() for path in quiet)
    (tmp_path / "no.ipynb").write_text("no notebook")
    assert fresh(tmp_path / "no.ipynb") == b"no notebook"
