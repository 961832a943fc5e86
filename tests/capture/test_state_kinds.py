"""Which objects can be changed, and which are looked into; no code of theirs runs."""

import sys
from collections import deque
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType

import pytest

from helpers.capture.tensorflow.state_kinds import (
    can_change,
    is_called_implicitly,
    is_plain_object,
    is_users_namespace,
    is_visited_unnamed,
)


class Plain:
    def __init__(self):
        self.items = []

    def __add__(self, other):
        return self

    def named(self):
        return self


class Slotted(Plain):
    __slots__ = ("extra",)


class Listed(list):
    pass


@dataclass
class Written:
    size: int = 1


@lru_cache
def cached():
    return []


def test_a_plain_object_has_all_its_state_in_its_dict():
    assert is_plain_object(Plain()) and is_plain_object(Written())
    for value in (Slotted(), Listed(), deque(), [], 3, Plain, Plain().named):
        assert not is_plain_object(value), value


@pytest.mark.parametrize("value", [3, "a", range(3), len, Plain, Plain.named, sys, property()])
def test_what_is_fixed_or_a_definition_does_not_change(value):
    assert not can_change(value)


@pytest.mark.parametrize("value", [deque(), cached, Listed(), memoryview(b"a"), iter([])])
def test_any_other_object_may_change(value):
    assert can_change(value)


def test_special_methods_and_those_that_a_library_overrides_are_called_without_their_names():
    assert is_called_implicitly(vars(Plain)["__add__"], "__add__", set())
    assert not is_called_implicitly(vars(Plain)["named"], "named", set())
    assert is_called_implicitly(vars(Plain)["named"], "named", {"named"})
    assert not is_called_implicitly(vars(Written)["__eq__"], "__eq__", set())  # generated


def test_namespaces_of_the_user_are_told_from_those_of_libraries():
    assert is_users_namespace(Plain) and is_users_namespace(sys.modules[__name__])
    assert not is_users_namespace(deque) and not is_users_namespace(pytest)
    assert not is_users_namespace(ModuleType("without_a_file"))
    assert is_users_namespace(ModuleType("__main__"))


def test_containers_are_visited_though_no_code_names_them_unless_their_name_is_special():
    assert is_visited_unnamed([], "rows") and is_visited_unnamed(Plain(), "plain")
    assert not is_visited_unnamed({}, "__annotations__") and not is_visited_unnamed(3, "size")
