"""helpers/model/class_progress.py: counts, names where they were given, and no counts of a few."""

import pytest

from helpers.model.class_progress import FEW, LEAST, build_class_listing
from helpers.model.study_records import HINTED, PASSED, TRIED, ChapterProgress, Task
from helpers.view.table_view import table

CHAPTERS = (ChapterProgress(1, "names", (Task("a", ""), Task("b", ""))),)
NASTY = "<script>alert(1)</script>\x00\u202e" + "x" * 99


def test_every_learner_counts_once_with_each_exercise():
    states = [{"a": PASSED}, {"a": TRIED}, {"a": HINTED, "b": PASSED}, {"a": PASSED}, {}]
    learners = [(did, "") for did in states]
    first, second = build_class_listing(CHAPTERS, learners).rows
    assert (first.passed, first.tried, first.hinted, first.untried) == (2, 1, 1, 1)
    assert (second.passed, second.tried, second.hinted, second.untried) == (1, 0, 0, 4)


@pytest.mark.parametrize("unnamed", range(LEAST + 2))
def test_of_a_few_without_a_name_there_is_no_count(unnamed):
    learners = [({"a": PASSED}, "")] * unnamed + [({"a": TRIED}, "Ada")]
    model = build_class_listing(CHAPTERS, learners)
    assert bool(model.rows) == (unnamed == 0 or unnamed >= LEAST)
    assert (FEW in model.note) == (not model.rows)


def test_a_name_stands_only_where_its_owner_is_under_way():
    learners = [({"a": TRIED, "b": PASSED}, "Ada"), ({"a": HINTED}, " Bo\n"), ({"a": PASSED}, "Di")]
    first, second = build_class_listing(CHAPTERS, learners).rows
    assert first.names == "Ada, Bo" and second.names == ""
    assert "Di" not in table.text(build_class_listing(CHAPTERS, learners))


def test_a_name_is_never_markup():
    model = build_class_listing(CHAPTERS, [({"a": TRIED}, NASTY)], unread=2)
    assert "<script" not in table.html(model) and not {"\x00", "\u202e"} & {*table.text(model)}


@pytest.mark.parametrize(("unread", "is_said"), [(0, False), (2, True)])
def test_files_that_could_not_be_read_are_counted(unread, is_said):
    model = build_class_listing(CHAPTERS, [({"a": TRIED}, "Ada")], unread=unread)
    assert ("files" in model.note) == (f"{unread} files" in model.note) == is_said
