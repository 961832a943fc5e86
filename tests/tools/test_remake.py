"""`course.py remake`: what differs is stored and named, and a cell that stops leaves the file."""

import json
import sys

import nbformat
import pytest
from nbformat import v4

from helpers.course.tests import REFERENCE
from tools.remake import Stopped, remake

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(sys.version_info[:2] != REFERENCE, reason="outputs are those of 3.11"),
]


def written(path, *cells):
    """Write a notebook of code cells, each with the text that is stored as printed."""
    code = [
        v4.new_code_cell(source, outputs=[v4.new_output("stream", text=text)], id=f"cell-{at}")
        for at, (source, text) in enumerate(cells)
    ]
    nbformat.write(v4.new_notebook(cells=code), path)
    return path


def test_cells_that_show_something_else_are_stored_and_named(tmp_path):
    same, other = ("print(object())", "<object object at 0x7f0123456789>\n"), ("print(2)", "3\n")
    path = written(tmp_path / "a.ipynb", same, other)
    assert [str(change) for change in remake(path)] == ["Cell 1 (cell-1): print(2)"]
    cells = json.loads(path.read_text("utf-8"))["cells"]
    assert [cell["outputs"][0]["text"] for cell in cells] == [[same[1]], ["2\n"]]
    assert [cell["execution_count"] for cell in cells] == [1, 2]
    assert remake(path) == []


def test_a_cell_that_raises_is_named_and_the_file_is_as_it_was(tmp_path):
    path = written(tmp_path / "a.ipynb", ("print(2)", "3\n"), ("1 / 0", ""))
    before = path.read_bytes()
    with pytest.raises(Stopped, match=r"Cell 1 \(cell-1\) .*ZeroDivisionError"):
        remake(path)
    assert path.read_bytes() == before
