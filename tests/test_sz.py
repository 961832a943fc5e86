"""The names and depths of modules, and the picture of the rooms."""

from collections import Counter

from tests import sz

SAME = {"__init__", "__main__"}


def test_no_two_modules_have_one_name():
    names = Counter(path.stem for path in sz.sources("helpers"))
    assert [name for name, n in names.items() if n > 1 and name not in SAME] == []


def test_no_module_stands_deeper_than_three():
    assert [p for p in sz.sources("helpers") if len(p.relative_to(sz.ROOT).parts) > 4] == []


def test_contributing_draws_the_rooms_as_they_are():
    drawn = sz.drawn() == sz.CONTRIBUTING.read_text("utf-8")
    assert drawn, "python -m tests.sz draws the picture anew"
