"""An answer is taken in every form that says the same, and what is missing of it is named."""

import ctypes
from collections import OrderedDict, UserDict
from types import MappingProxyType

import numpy as np
import pytest

from helpers.study.engine import by_name, in_order
from helpers.study.check import Unfit, Untried

NOWHERE = ctypes.cast(8, ctypes.POINTER(ctypes.c_int))  # who asks it for an item is killed


@pytest.mark.parametrize("form", [dict, OrderedDict, UserDict, MappingProxyType])
def test_every_mapping_is_taken_and_becomes_a_dict_in_the_order_of_the_names(form):
    assert list(by_name(form({"b": 2, "a": 1}), ["a", "b"]).items()) == [("a", 1), ("b", 2)]


def test_missing_and_unknown_names_are_told():
    with pytest.raises(Unfit, match="keys a, b; 'b' is missing"):
        by_name({"a": 1}, ["a", "b"])
    with pytest.raises(Unfit, match="'c' is none of them"):
        by_name({"a": 1, "b": 2, "c": 3}, ["a", "b"])
    with pytest.raises(Unfit, match="must be a dict"):
        by_name([("a", 1)], ["a"])


def test_parts_that_are_left_are_named_and_a_whole_stub_is_not():
    with pytest.raises(Untried, match="^b$"):
        by_name({"a": 1, "b": ...}, ["a", "b"])
    with pytest.raises(Untried, match="^$"):
        by_name({"a": ..., "b": ...}, ["a", "b"])


@pytest.mark.parametrize("form", [list, tuple, iter, np.array, lambda items: (i for i in items)])
def test_every_sequence_is_taken_and_becomes_a_list(form):
    assert in_order(form([1, 2]), 2) == [1, 2]


@pytest.mark.parametrize("wrong", [5, None, "ab", b"ab", {"a": 1}, NOWHERE])
def test_what_is_no_sequence_is_refused(wrong):
    with pytest.raises(Unfit, match="must be a list"):
        in_order(wrong, 2)


def test_a_sequence_without_an_end_is_refused():
    with pytest.raises(Unfit, match="more than 3 items"):
        in_order(iter(int, 1), 3)
