"""Every cell of every notebook runs twice in a row; `course.py test --all`: and then once more."""

import os

import nbformat
import pytest

from tests.second_runs import NOTEBOOKS, raised

WHOLE = os.environ.get("COURSE_SAMPLES") == "whole"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_cell_raises_when_it_runs_again(path):
    assert raised(path, rounds=2 if WHOLE else 1) == []


def test_a_cell_that_cannot_run_twice_is_told(tmp_path):
    sources = ["n = 1", "first = 'first' not in globals()\nassert first", "assert n == 1\nn = 2"]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(s) for s in sources])
    nbformat.write(book, tmp_path / "book.ipynb")
    found = raised(tmp_path / "book.ipynb")
    assert [(one.cell, one.run) for one in found] == [
        (1, "again at once"),
        (2, "again at once"),
        (1, "in a second round"),
    ]
