"""Every cell of every notebook runs twice in a row; COURSE_SAMPLES=whole: and then once more.

What a cell prints may differ from run to run (a cache that was empty is full); that it raises is a
fault.
"""

import os
from pathlib import Path
from typing import NamedTuple

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

pytestmark = pytest.mark.long

WHOLE = os.environ.get("COURSE_SAMPLES") == "whole"
_FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted([*_FOLDER.glob("*.ipynb"), *_FOLDER.glob("instructor/*.ipynb")])
LONGEST = 300  # seconds for one cell


class Raised(NamedTuple):
    """A cell that raised: its number in the notebook, in which run, and its last words."""

    cell: int
    run: str
    words: str


def raised(path: Path, rounds: int = 2) -> list[Raised]:
    """Run each cell of a notebook twice in a row; with two rounds, then all from the first on."""
    book = nbformat.read(path, 4)
    cells = [(at, cell) for at, cell in enumerate(book.cells) if cell.cell_type == "code"]
    runs = [(*one, name) for one in cells for name in ("first", "again at once")]
    runs += [(*one, "in a second round") for one in cells if rounds > 1]
    client, found = NotebookClient(book, timeout=LONGEST, kernel_name="python3"), []
    with client.setup_kernel(cwd=str(path.parent)):
        for at, cell, name in runs:
            try:
                client.execute_cell(cell, at)
            except CellExecutionError as error:
                found.append(Raised(at, name, f"{error.ename}: {error.evalue}"))
    return found


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_cell_raises_when_it_runs_again(path):
    assert raised(path, rounds=2 if WHOLE else 1) == []


def test_a_cell_that_cannot_run_twice_is_told(tmp_path):
    sources = ["n = 1", "first = 'first' not in globals()\nassert first", "assert n == 1\nn = 2"]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(s) for s in sources])
    nbformat.write(book, tmp_path / "book.ipynb")
    found = raised(tmp_path / "book.ipynb")
    again, later = "again at once", "in a second round"
    assert [(one.cell, one.run) for one in found] == [(1, again), (2, again), (1, later)]
