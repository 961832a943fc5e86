"""helpers/study/reasons: each question of a notebook has its reason there, and no cell holds it."""

import ast
from pathlib import Path

import nbformat
import pytest

from helpers.study import predict
from helpers.study.reasons import of_chapter, reason

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("0*.ipynb"))


def _asked(path):
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code" and "predict(" in cell.source:
            for node in ast.walk(ast.parse(cell.source)):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "predict":
                    yield node


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_each_question_has_its_reason_apart_from_its_cell(path):
    calls = list(_asked(path))
    assert calls, "no prediction was found, so nothing was compared"
    assert not [call.lineno for call in calls if any(k.arg == "why" for k in call.keywords)]
    asked = [ast.literal_eval(call.args[0]) for call in calls]
    assert asked == list(of_chapter(int(path.stem[:2]))), "in the order of the chapter, none stale"


def test_a_question_of_the_course_brings_its_reason_along():
    [question, why], *_ = of_chapter(3).items()
    assert reason(question) == why and "\n" not in why
    assert predict(question, ["yes", "no"], run=lambda: "yes").model.why == why
    assert predict(question, ["yes", "no"], run=lambda: "yes", why="mine").model.why == "mine"
    assert predict("One of the learner's?", ["yes", "no"], run=lambda: "yes").model.why == ""
