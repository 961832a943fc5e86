"""Modules are imported from text for a block, and `sys.modules` is as before after it."""

import sys

import pytest

from helpers.study.project import fresh_project, list_changed_names

SOURCES = {"first_of_two": "value = 1", "second_of_two": "from first_of_two import value as copy"}


def test_modules_are_there_in_the_block_alone():
    with fresh_project(SOURCES) as (first, second):
        assert sys.modules["first_of_two"] is first and second.copy == 1
    assert not SOURCES.keys() & sys.modules.keys()


def test_an_earlier_module_of_the_name_comes_back_also_after_an_error(monkeypatch):
    earlier = object()
    monkeypatch.setitem(sys.modules, "first_of_two", earlier)
    with pytest.raises(ZeroDivisionError), fresh_project({**SOURCES, "third": "1 / 0"}):
        pass
    assert sys.modules["first_of_two"] is earlier and "second_of_two" not in sys.modules


def test_changed_names_are_new_gone_or_bound_to_another_object():
    same = object()
    before = {"same": same, "gone": 1, "rebound": [1]}
    now = {"same": same, "new": 2, "rebound": [1]}
    assert list_changed_names(now, before) == ["gone", "new", "rebound"]
