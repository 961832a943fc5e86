"""helpers/model/guard_failures.py: failures that say the same share a line, and none is lost.

`pytest tests/model/test_guard_failures.py --snapshot-update` stores the lines anew.
"""

import pytest

from helpers.model.guard_failures import MOST_FAILURES, Failure, explain_failures


def failure(entry, source, checks, value="3", line="", place=""):
    return Failure(entry, source, "EQUALS_MATCH", checks, line, value, place)


def equals(*entries):
    """Return for each entry the failure of a guard on n, which equals the entry's number."""
    return [[failure(entry, "L['n']", f"it equals {entry}")] for entry in entries]


TRAINING = [f"L['self']._modules['{name}'].training" for name in "abc"]
CASES = {
    "numbers in a row": equals(0, 1, 2),
    "numbers that are not in a row": equals(0, 2),
    "a single entry": equals(0),
    "two checks of one value": [[*equals(2)[0], failure(2, "L['n']", "it is an int")]],
    "one attribute of three modules": [[failure(0, name, "it is true", "no") for name in TRAINING]],
    "a guard on several values": [[failure(0, "", "x is not y", "")]],
    "a guard without a value": [[failure(0, "L['x']", "it exists", "")]],
    "a line of the program": [
        [failure(0, "L['a']", "it equals 1", line="a + b", place="train.py:4")],
        [failure(1, "L['b']", "it equals 1", line="a + b", place="train.py:4")],
    ],
}


@pytest.mark.parametrize("entries", CASES.values(), ids=CASES)
def test_the_lines_are_the_stored_ones(entries, snapshot):
    assert explain_failures(entries) == snapshot


@pytest.mark.parametrize("entries", CASES.values(), ids=CASES)
def test_every_value_that_a_guard_refused_is_in_a_line(entries):
    text = " ".join(explain_failures(entries))
    assert all(failed.value in text for entry in entries for failed in entry)


def test_a_line_of_the_program_is_named_once():
    assert " ".join(explain_failures(CASES["a line of the program"])).count("train.py:4") == 1


def test_alike_attributes_of_inner_modules_are_counted_and_not_listed():
    [line] = explain_failures(CASES["one attribute of three modules"])
    assert [name in line for name in TRAINING] == [True, False, False]


def test_a_long_list_ends_with_a_count():
    entries = [[failure(number, f"L['x{number}']", "it equals 1")] for number in range(12)]
    lines = explain_failures(entries)
    assert len(lines) == MOST_FAILURES + 1 and str(12 - MOST_FAILURES) in lines[-1]


def test_an_entry_that_accepts_the_call_has_no_line():
    assert explain_failures([[], []]) == ()
