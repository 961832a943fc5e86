"""What is checked in work/ is recorded there and known to the next kernel; elsewhere nothing is.

What a learner shares from there is what the teacher counts.
"""

import json
import os
import re
import shutil
from importlib import import_module
from pathlib import Path

import pytest

from helpers import share_progress, show_class, stop_sharing
from helpers.safety import learner_record
from helpers.safety.folders import Refusal
from helpers.safety.learner_record import NAME, LearnerRecord, add_event, read_record
from helpers.study import learner_progress
from helpers.study.predict import _read_decided, predict, show_predictions
from tests.a_kernel import Client

ROOT = Path(__file__).parents[2]
ASKED = "`answer` is bound to another function after `ask` was defined. What does `ask()` return?"
CODE = f"""
from helpers import check, predict, show_predictions, show_progress
print(check.warm_up(...).model.state, check.warm_up(7).model.state, check.warm_up(2).model.state)
check.warm_up.hint()
asked = predict({ASKED!r}, ["old", "new"], run=lambda: "new")
form = asked._widget()
form._handle_custom_msg({{"said": 0, "press": "1"}}, [])
"""


@pytest.fixture
def course(tmp_path):
    """A copy of the course with a work/ in it; its kernels are told nothing by the tests."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "helpers", tmp_path / "helpers", ignore=ignored)
    (tmp_path / "course.py").touch()
    for name in ("notebooks", "work"):
        (tmp_path / name).mkdir()
    shutil.copy(ROOT / "notebooks/00_start_here.ipynb", tmp_path / "notebooks")
    return tmp_path


def run(course, room, *cells, **more):
    """Run cells in a kernel of the course's copy, started as JupyterLab does in that folder."""
    env = {name: value for name, value in os.environ.items() if name != "COURSE_RECORD"}
    client = Client(course, course / room, {**env, "PYTHONPATH": str(course), **more})
    try:
        return [client.run(cell) for cell in cells]
    finally:
        client.end()


def files(course):
    return sorted(path.name for path in course.rglob("*.jsonl"))


def test_a_kernel_in_work_records_and_the_next_one_knows(course):
    [said] = run(course, "work", CODE)
    assert said.startswith("untried failed passed")
    events = read_record(course / "work" / NAME).events
    assert [event.get("is") for event in events] == ["failed", "passed", "hint", None]
    assert events[3] == {"predict": ASKED, "said": "old", "was": "new", "chapter": 0}
    later = run(course, "work", CODE.rpartition("\n")[0].partition("form")[0], "asked.said")[1]
    assert later == "'old'"
    cells = ("import helpers\nhelpers.show_progress()", "helpers.show_predictions()")
    [shown, told] = run(course, "work", *cells)
    assert "●warm_up" in shown and "0 of 1" in shown and "1 of 1" in shown
    assert re.search(r"\b1 of 1\b.*\b0\b", told)
    assert files(course) == [NAME]


def test_a_choice_that_cannot_be_recorded_is_answered_with_why(course):
    (course / "work" / NAME).mkdir()
    why = "print(form.told['why'])"
    [_, answered] = run(course, "work", CODE, why)
    assert f"work/{NAME}" in answered
    (course / "work" / NAME).rmdir()
    long = CODE.replace(ASKED, "x" * learner_record.LONGEST)
    [_, answered] = run(course, "work", long, why)
    assert answered.strip() == learner_record.TOO_LONG


@pytest.mark.parametrize(
    ("room", "more", "says"),
    [
        ("notebooks", {}, "True"),
        (".", {}, "True"),
        ("work", {"COURSE_RECORD": "off"}, "False"),
    ],
    ids=["notebooks", "the course's folder", "switched off"],
)
def test_everywhere_else_nothing_is_written_and_that_is_said(course, room, more, says):
    why = "print(form.told['why'])"
    is_elsewhere = "show_progress().model.elsewhere"
    [said, shown, answered] = run(course, room, CODE, is_elsewhere, why, **more)
    assert said.startswith("untried failed passed") and shown.strip() == says
    assert answered.strip() == ("" if more else learner_record.ELSEWHERE)
    assert files(course) == []


def test_no_test_and_no_notebook_under_test_records():
    """The notebooks' kernels get this from here, by conftest.py."""
    assert os.environ["COURSE_RECORD"] == "off"
    assert learner_record.find_record_file() is None
    assert learner_progress.read_own_record() == LearnerRecord()


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    path = tmp_path / NAME
    monkeypatch.setattr(learner_record, "find_record_file", lambda: path)
    monkeypatch.setattr(import_module("helpers.study.predict"), "_ASKED", {})
    _read_decided.cache_clear()
    learner_progress._PRINTED_REASONS.clear()
    yield path
    _read_decided.cache_clear()


def test_only_the_chapter_at_hand_comes_back(recorded):
    for chapter, question in ((0, ASKED), (None, "Mine?")):
        add_event(recorded, {"predict": question, "said": "x", "was": "x", "chapter": chapter})
    of_1 = "A name is the only reference to a function, and is rebound. When is the function freed?"
    add_event(recorded, {"predict": of_1, "said": "at once", "was": "at once", "chapter": 1})
    assert len(show_predictions().model.rows) == 3
    predict(ASKED, ["x", "new"], run=lambda: "new")
    assert [row.mark for row in show_predictions().model.rows] == ["✗"]
    predict(of_1, ["at once", "later"], run=lambda: "at once")
    assert [row.mark for row in show_predictions().model.rows] == ["✗", "✓"]


SHARING = """
import os
folder = {folder!r}
from helpers import check, share_progress, show_class, show_progress, stop_sharing
check.warm_up(7), check.warm_up.hint()
"""


def test_what_is_shared_is_counted_until_it_is_taken_back(course, tmp_path):
    folder = tmp_path / "shared"
    folder.mkdir()
    sharing = SHARING.format(folder=str(folder))
    cells = ["share_progress(folder)", "share_progress(folder, name='Ada')", "show_class(folder)"]
    cells += [
        "show_progress().model.shared",
        "len(os.listdir(folder))",
        "stop_sharing()",
        "show_class(folder)",
    ]
    shown, told, seen, gone, after = run(course, "work", sharing, *cells)[3:]
    assert "Ada" in shown and "1 learner" in shown and seen.strip() == "1"
    assert told.strip() == "True" and str(folder) in gone and "0 learners" in after
    assert list(folder.iterdir()) == []


def test_outside_of_work_nothing_is_shared(tmp_path, capsys, refused):
    refused(Refusal, "work/", share_progress, str(tmp_path))
    assert list(tmp_path.iterdir()) == []
    stop_sharing()
    assert "work/" in capsys.readouterr().out


def test_the_class_is_the_same_twice_and_its_chapters_are_whole(tmp_path):
    for number in range(5):
        exercises = {"warm_up": "passed", "tangle": "tried"}
        told = {"course": "who-runs-your-function", "exercises": exercises}
        (tmp_path / f"progress-{number:032x}.json").write_text(json.dumps(told))
    first, second = (show_class(tmp_path)._repr_mimebundle_()[0] for _ in range(2))
    assert first == second
    rows = {row.exercise: (row.chapter, row.passed) for row in show_class(tmp_path).model.rows}
    assert rows.pop("warm_up") == (0, 5)
    assert len(rows) > 3 and set(rows.values()) == {(1, 0)}
