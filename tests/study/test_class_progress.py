"""What a learner shares from work/ is what the teacher counts; elsewhere nothing is shared."""

import json

import pytest

from helpers import share_progress, show_class, stop_sharing
from helpers.safety.folders import Refusal
from tests.study.test_remembering import course, run  # noqa: F401

CODE = """
from helpers import check, share_progress, show_class, show_progress, stop_sharing
check.warm_up(7), check.warm_up.hint()
"""


def test_what_is_shared_is_counted_until_it_is_taken_back(course, tmp_path):  # noqa: F811
    folder = tmp_path / "shared"
    folder.mkdir()
    shown, told, seen, gone, after = run(
        course,
        "work",
        CODE,
        f"share_progress({str(folder)!r})",
        f"share_progress({str(folder)!r}, name='Ada')",
        f"show_class({str(folder)!r})",
        "show_progress()",
        "print(len(list(__import__('pathlib').Path(" + repr(str(folder)) + ").iterdir())))",
        "stop_sharing()",
        f"show_class({str(folder)!r})",
    )[3:]
    assert "Ada" in shown and "Shared by 1 learner; 1 gave a name." in shown and seen.strip() == "1"
    assert "and you share how far you are" in told
    assert "Your file is gone" in gone and "Shared by 0 learners" in after
    assert list(folder.iterdir()) == []


def test_outside_of_work_nothing_is_shared(tmp_path, capsys):
    with pytest.raises(Refusal, match="nothing is recorded here"):
        share_progress(str(tmp_path))
    assert list(tmp_path.iterdir()) == []
    stop_sharing()
    assert "it is not known what you share" in capsys.readouterr().out


@pytest.mark.parametrize("name", [5, "x" * 41, "a\nb", "\u202e"])
def test_a_name_that_is_none_is_refused(tmp_path, name):
    with pytest.raises((TypeError, ValueError), match="the name must be"):
        share_progress(str(tmp_path), name=name)


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
