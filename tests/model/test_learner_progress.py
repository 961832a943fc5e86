"""helpers/model/study_records.py: the events of a record, in order, and what is next."""

import json
from pathlib import Path

import pytest

from helpers.model.study_records import (
    HINTED,
    PASSED,
    TRIED,
    UNTRIED,
    build_progress,
    read_chapters,
)
from helpers.study import check

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


def book(*cells):
    """Return a notebook's text; what begins with `check.` is code."""
    kinds = {True: "code", False: "markdown"}
    made = [
        {"cell_type": kinds[c.startswith("check.")], "source": [c], "id": f"cell-{at}"}
        for at, c in enumerate(cells)
    ]
    return json.dumps({"cells": made})


COURSE = read_chapters(
    {
        "instruments.ipynb": book("check.none(1)"),
        "02_second_part.ipynb": book("## End", "Prose\n\n### Step", "check.c(x, y)"),
        "01_first.ipynb": book("## A", "```python\n## none\n```", "check.a(x)", "check.b(x)"),
    }
)


def did(name, what):
    return {"check": name, "is": what}


def guess(question, said, chapter=1):
    return {"predict": question, "said": said, "was": "new", "chapter": chapter}


def states(*events):
    found = build_progress(COURSE, events)
    return {task.name: task.state for chapter in found.chapters for task in chapter.tasks}


def test_exercises_are_read_from_the_notebooks_with_the_place_of_each():
    assert [(one.number, one.title) for one in COURSE] == [(1, "first"), (2, "second part")]
    links = [task.link for chapter in COURSE for task in chapter.tasks]
    assert links[0] == links[1] == "01_first.ipynb#cell-id=cell-0"
    assert links[2] == "02_second_part.ipynb#cell-id=cell-1"


def test_every_exercise_of_the_course_stands_in_its_chapters_notebook():
    found = read_chapters({p.name: p.read_text("utf-8") for p in NOTEBOOKS.glob("*.ipynb")})
    named = {}
    for name, home in check._chapters_by_name.items():
        named[name] = int(home.removeprefix("chapter_"))
    assert {task.name: one.number for one in found for task in one.tasks} == named
    assert sum(len(one.tasks) for one in found) == len(named)


@pytest.mark.parametrize(
    ("came", "state"),
    [
        *(("", UNTRIED), ("hint", HINTED), ("hint failed", TRIED), ("failed hint", TRIED)),
        ("passed failed hint", PASSED),
    ],
)
def test_the_farthest_that_an_exercise_came_counts(came, state):
    found = states(*(did("a", what) for what in came.split()))
    assert found == {"a": state, "b": UNTRIED, "c": UNTRIED}


def test_the_first_guess_counts_and_that_of_no_chapter_does_not():
    asked = [guess("q", "old"), guess("q", "new"), guess("r", "new"), guess("mine", "new", None)]
    first, second = build_progress(COURSE, asked).chapters
    assert (first.right, first.decided, second.decided) == (1, 2, 0)


# The events -> the chapter of the last one, and the exercise that is next.
LEFT_OFF = {
    "nothing": ([], None, "a"),
    "a prediction": ([guess("q", "new", 2)], 2, "c"),
    "checks": ([did("c", "failed"), did("a", "passed")], 1, "b"),
    "everything": ([did(name, "passed") for name in "abc"], 2, None),
}


@pytest.mark.parametrize(("events", "here", "following"), LEFT_OFF.values(), ids=LEFT_OFF)
def test_the_record_says_where_the_learner_left_off(events, here, following, snapshot):
    progress = build_progress(COURSE, events)
    assert progress.here == here
    assert (progress.next and progress.next[1].name) == following
    assert progress.left_off == snapshot


def test_the_next_exercise_may_be_in_an_earlier_chapter():
    progress = build_progress(COURSE, [did("c", "passed")])
    chapter, task = progress.next
    assert (progress.here, chapter.number, task.name) == (2, 1, "a")


@pytest.mark.parametrize(
    "text",
    ["", "null", '{"cells": 3}', book("## A", "check.a(x)").replace('"id"', '"other"')],
)
def test_what_is_no_notebook_is_one_error(text, refused):
    refused(ValueError, "01_first.ipynb", read_chapters, {"01_first.ipynb": text})
