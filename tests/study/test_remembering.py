"""What is checked in work/ is recorded there and known to the next kernel; elsewhere nothing is."""

import os
import shutil
from importlib import import_module
from pathlib import Path

import pytest

import helpers
from helpers.model.choice import Choice
from helpers.safety import learner_record
from helpers.safety.folders import Refusal
from helpers.safety.learner_record import NAME, Record, add, read
from helpers.study import check, decisions, remembering
from helpers.study.predict import Prediction, predict, show_predictions
from tests.a_kernel import Client

ROOT = Path(__file__).parents[2]
ASKED = "`answer` is bound to another function after `ask` was defined. What does `ask()` return?"
CODE = f"""
from helpers import check, predict, show_predictions, show_progress
print(check.warm_up(...).model.state, check.warm_up(7).model.state, check.warm_up(2).model.state)
check.warm_up.hint()
asked = predict({ASKED!r}, ["old", "new"], run=lambda: "new")
form = asked._widget()
form.picked, form.checked = 0, True
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
    events = read(course / "work" / NAME).events
    assert [event.get("is") for event in events] == ["failed", "passed", "hint", None]
    assert events[3] == {"predict": ASKED, "said": "old", "was": "new", "chapter": 0}
    later = run(course, "work", CODE.rpartition("\n")[0].partition("form")[0], "asked.said")[1]
    assert later == "'old'"
    [shown, told] = run(
        course,
        "work",
        "from helpers import show_progress\nshow_progress()",
        "from helpers import show_predictions\nshow_predictions()",
    )
    assert "●warm_up" in shown and "0 of 1" in shown
    assert "You left off in chapter 0: 1 of 1 exercise passed" in shown
    assert "You decided 1 of 1; right: 0." in told
    assert files(course) == [NAME]


@pytest.mark.parametrize(
    ("room", "more", "says"),
    [
        ("notebooks", {}, "only a notebook in the folder work/ records: run"),
        (".", {}, "only a notebook in the folder work/ records: run"),
        ("work", {"COURSE_RECORD": "off"}, "Nothing is recorded yet."),
    ],
    ids=["notebooks", "the course's folder", "switched off"],
)
def test_everywhere_else_nothing_is_written_and_that_is_said(course, room, more, says):
    [said, shown] = run(course, room, CODE, "show_progress()", **more)
    assert said.startswith("untried failed passed") and says in shown
    assert files(course) == []


def test_no_test_and_no_notebook_under_test_records():
    """The notebooks' kernels get this from here, by conftest.py."""
    assert os.environ["COURSE_RECORD"] == "off"
    assert learner_record.place() is None


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    path = tmp_path / NAME
    monkeypatch.setattr(learner_record, "place", lambda: path)
    monkeypatch.setattr(import_module("helpers.study.predict"), "_ASKED", {})
    decisions._decided.cache_clear()
    remembering._TOLD.clear()
    yield path
    decisions._decided.cache_clear()


def test_a_record_that_cannot_be_written_stops_no_check_and_is_told_once(recorded, capsys):
    recorded.mkdir()
    assert check.warm_up(2).model.state == check.warm_up(2).model.state == "passed"
    said = capsys.readouterr().out
    assert said.count("Your progress is not recorded") == said.count("\n") == 1
    assert remembering.remembered().events == ()


def test_the_same_choice_checked_twice_is_one_event(recorded):
    form = Prediction(Choice("Here?", ("a", "b"), "b"))._widget()
    form.picked, form.checked = 0, True
    form.checked = False
    form.checked = True
    form.picked = 1
    assert [event["said"] for event in read(recorded).events] == ["a", "b"]


def test_only_the_chapter_at_hand_comes_back(recorded):
    for chapter, question in ((0, ASKED), (None, "Mine?")):
        add(recorded, {"predict": question, "said": "x", "was": "x", "chapter": chapter})
    of_1 = "A name is the only reference to a function, and is rebound. When is the function freed?"
    add(recorded, {"predict": of_1, "said": "at once", "was": "at once", "chapter": 1})
    assert len(show_predictions().model.rows) == 3
    predict(ASKED, ["x", "new"], run=lambda: "new")
    assert [row.mark for row in show_predictions().model.rows] == ["✗"]
    predict(of_1, ["at once", "later"], run=lambda: "at once")
    assert [row.mark for row in show_predictions().model.rows] == ["✗", "✓"]


def test_where_nothing_is_recorded_nothing_is_remembered():
    assert remembering.remembered() == Record()


def test_notebook_that_cannot_be_read_costs_its_own_exercises_alone(tmp_path, monkeypatch):
    room = tmp_path / "notebooks"
    room.mkdir()
    (room / "01_empty.ipynb").write_text("")
    (room / "02_bytes.ipynb").write_bytes(b"\xff\xfe")
    whole = Path(helpers.__file__).parents[1] / "notebooks" / "00_start_here.ipynb"
    (room / whole.name).write_bytes(whole.read_bytes())
    monkeypatch.setattr(learner_record, "ROOT", tmp_path)
    shown = helpers.show_progress()
    assert [one.number for one in shown.model.chapters] == [0]
    assert "cannot be read: 01_empty.ipynb, 02_bytes.ipynb." in " ".join(repr(shown).split())
    with pytest.raises(Refusal, match=r"01_empty\.ipynb"):
        helpers.show_class(tmp_path)
