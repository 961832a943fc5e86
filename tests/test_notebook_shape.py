"""Every notebook keeps the rules of a chapter; every rule has a sample that must break it."""

from copy import deepcopy
from pathlib import Path

import nbformat
import pytest

from helpers.model.spine import CLINIC, SPINE
from tests.measured import TAG
from tests.notebook_rules import MEDIAN, problems
from tools.strip_views import VIEW, main

PROGRAM = 10  # lines: in the clinic every second cell is a whole program
SEAMS = {station.file for station in SPINE}  # not the first notebook, and not the clinic
NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("0*.ipynb"))


def opened(path):
    return nbformat.read(path, as_version=4)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_keeps_the_rules(path):
    median = PROGRAM if path.stem == CLINIC.file else MEDIAN
    assert problems(opened(path), path.stem in SEAMS, median) == []
    assert path.stat().st_size < 600_000


CHAPTER = next(path for path in NOTEBOOKS if path.name.startswith("01"))


def _long_cell(nb):
    _code(nb)[3].source = "x = 1\n" * 26


def _noisy(nb):
    _code(nb)[0].source = "import tensorflow as tf\nfrom helpers import check"


def _long_prose(nb):
    nb.cells[4].cell_type = "markdown"
    nb.cells[4].source = "word " * 200


def _address(nb):
    _code(nb)[3].outputs = [nbformat.v4.new_output("stream", text="<f at 0x7fe640bb38c0>")]


def _ignored(nb):
    _code(nb)[3].metadata["tags"] = ["nbval-ignore-output"]


def _ignored_by_a_comment(nb):
    _code(nb)[3].source += "\n# NBVAL_IGNORE_OUTPUT"


def _pixels(nb):
    _code(nb)[3].outputs = [nbformat.v4.new_output("display_data", {"image/png": "x"})]


def _masked(nb):
    for cell in _code(nb):
        cell.metadata["tags"] = [TAG]


def _unknown_need(nb):
    _code(nb)[3].metadata["tags"] = ["needs-kernel", "needs-c-compiler", "needs-a-lamp"]


def _no_solution(nb):
    for cell in nb.cells:
        cell.source = cell.source.replace("<details>", "<div>")


def _no_stub(nb):
    for cell in nb.cells:
        cell.source = cell.source.replace("...", "42")


def _no_prose(nb):
    nb.cells = [nb.cells[0], *_code(nb), nb.cells[-1]]


def _code(nb):
    return [cell for cell in nb.cells if cell.cell_type == "code"]


@pytest.mark.parametrize(
    ("breaks", "says"),
    [
        (_long_cell, "the longest code cell has 26"),
        (_noisy, "TensorFlow is imported before helpers"),
        (_long_prose, "a prose cell has 200 words"),
        (_address, "an address or a path"),
        (_ignored, "Cell 3 has the tag nbval-ignore-output"),
        (_ignored_by_a_comment, "Cell 3 says NBVAL_IGNORE_OUTPUT"),
        (_pixels, "Cell 3 stores image/png"),
        (_masked, "the numbers are not compared"),
        (_masked, "no assert is beside it"),
        (_unknown_need, "Cell 3 has the tag needs-a-lamp, which tests/needs.py does not know"),
        (_no_solution, "no folded solution"),
        (_no_stub, "no stub"),
        (_no_prose, "follow prose"),
    ],
)
def test_a_broken_rule_is_named(breaks, says):
    nb = deepcopy(opened(CHAPTER))
    breaks(nb)
    assert any(says in problem for problem in problems(nb))


def test_stored_views_are_stripped_and_nothing_else(tmp_path):
    nb = deepcopy(opened(CHAPTER))
    data = {VIEW: {"model_id": "0" * 32}, "text/plain": "x"}
    _code(nb)[3].outputs = [nbformat.v4.new_output("display_data", data)]
    path = tmp_path / "nb.ipynb"
    nbformat.write(nb, path)
    assert main([path]) == 1 and main([path]) == 0
    assert opened(path).cells[0] == nb.cells[0] and VIEW not in path.read_text()
    assert _code(opened(path))[3].outputs[0]["data"] == {"text/plain": "x"}
