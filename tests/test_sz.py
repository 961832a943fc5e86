"""The house stays within its budget of lines and modules; `tests/sz.py` has the numbers."""

from collections import Counter

import pytest

from tests import sz

SAME = {"__init__", "__main__"}
TOTALS = {name.removeprefix("all of "): rest for name, *rest in sz.table() if "all of" in name}


@pytest.mark.parametrize("folder", sz.MOST)
def test_total_of_lines_is_held(folder):
    weight, _ = TOTALS[folder]
    assert 0.9 * sz.MOST[folder] < weight <= sz.MOST[folder], "say the new total, and why"


def test_number_of_modules_is_held():
    assert TOTALS["helpers"][1] <= sz.MOST_MODULES


def test_no_two_modules_have_one_name():
    names = Counter(path.stem for path in sz.sources("helpers"))
    assert [name for name, n in names.items() if n > 1 and name not in SAME] == []


def test_no_module_stands_deeper_than_three():
    assert [p for p in sz.sources("helpers") if len(p.relative_to(sz.ROOT).parts) > 4] == []


def test_contributing_draws_the_rooms_as_they_are():
    drawn = sz.drawn() == sz.CONTRIBUTING.read_text("utf-8")
    assert drawn, "python -m tests.sz draws the picture anew"
