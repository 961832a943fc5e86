"""Every notebook keeps the rules; every rule has a sample that must break it."""

from copy import deepcopy

import nbformat
import pytest

from tests.chapter_rules import CHAPTERS, REFERENCE, broken_rules, note_problems, notes_of
from tests.measured import TAG
from tests.notebook_rules import problems
from tools.budgets import spending_of_cells, spending_of_prose
from tools.strip_views import VIEW, main


def opened(path):
    return nbformat.read(path, as_version=4)


@pytest.mark.parametrize("path", [*CHAPTERS, REFERENCE], ids=lambda path: path.stem)
def test_notebook_keeps_the_rules(path):
    assert broken_rules(path) == []


CHAPTER = CHAPTERS[1]


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
        (_noisy, "TensorFlow is imported before helpers"),
        (_address, "an address or a path"),
        (_ignored, "Cell 3 has the tag nbval-ignore-output"),
        (_ignored_by_a_comment, "Cell 3 says NBVAL_IGNORE_OUTPUT"),
        (_pixels, "Cell 3 stores image/png"),
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


@pytest.mark.parametrize(
    ("breaks", "says"),
    [
        (_long_cell, "the longest code cell: 26 of 25 lines, 1 too many"),
        (_long_prose, "the longest text cell (word"),
        (_masked, "cells with masked numbers: 100 of 5 %"),
    ],
)
def test_a_budget_that_is_spent_is_named(breaks, says):
    nb = deepcopy(opened(CHAPTER))
    breaks(nb)
    over = [spent for spent in [*spending_of_cells(nb), *spending_of_prose(nb)] if spent.is_over]
    assert any(str(spent).startswith(says) for spent in over)


def test_a_note_for_teachers_that_leads_nowhere_is_named():
    chapter, notes = opened(CHAPTER), opened(notes_of(CHAPTER))
    notes.cells[-1].source += "\n\n## Gone\n\n[here](../01.ipynb#cell-id=gone)"
    assert len(list(note_problems(chapter, notes))) == 2


def test_stored_views_are_stripped_and_nothing_else(tmp_path):
    nb = deepcopy(opened(CHAPTER))
    data = {VIEW: {"model_id": "0" * 32}, "text/plain": "x"}
    _code(nb)[3].outputs = [nbformat.v4.new_output("display_data", data)]
    path = tmp_path / "nb.ipynb"
    nbformat.write(nb, path)
    assert main([path]) == 1 and main([path]) == 0
    assert opened(path).cells[0] == nb.cells[0] and VIEW not in path.read_text()
    assert _code(opened(path))[3].outputs[0]["data"] == {"text/plain": "x"}
