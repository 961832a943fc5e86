"""An answer and the reference are compared case by case; answers are taken in every form."""

import math
from collections import OrderedDict, UserDict
from types import MappingProxyType

import numpy as np
import pytest

from helpers.study.check import InvalidAnswer, NotAttempted
from helpers.study.engine import Case, by_name, check_guess, find_difference, in_order, same_result


@pytest.mark.parametrize("form", [dict, OrderedDict, UserDict, MappingProxyType])
def test_every_mapping_is_taken_and_becomes_a_dict_in_the_order_of_the_names(form):
    assert list(by_name(form({"b": 2, "a": 1}), ["a", "b"]).items()) == [("a", 1), ("b", 2)]


def test_missing_and_unknown_names_are_told(refused):
    refused(InvalidAnswer, "keys a, b. 'b' is missing", by_name, {"a": 1}, ["a", "b"])
    refused(InvalidAnswer, "'c' is not one of them", by_name, {"a": 1, "b": 2, "c": 3}, ["a", "b"])
    refused(InvalidAnswer, "must be a dict", by_name, [("a", 1)], ["a"])


def test_parts_that_are_left_are_named_and_a_whole_stub_is_not(refused):
    refused(NotAttempted, "^b$", by_name, {"a": 1, "b": ...}, ["a", "b"])
    refused(NotAttempted, "^$", by_name, {"a": ..., "b": ...}, ["a", "b"])


@pytest.mark.parametrize("form", [list, tuple, iter, np.array, lambda items: (i for i in items)])
def test_every_sequence_is_taken_and_becomes_a_list(form, refused):
    assert in_order(form([1, 2]), 2) == [1, 2]
    refused(InvalidAnswer, "more than 1 items", in_order, form([1, 2]), 1)
    refused(InvalidAnswer, "must be a list", in_order, "ab", 2)


ADD = Case("for 3 and 1", lambda fn: fn(3, 1), "add them")


def add(a, b):
    return a + b


def divide(a, b):
    return a / (b - 1)


@pytest.mark.parametrize(
    ("answer", "advice", "because"),
    [
        (add, "add them", None),
        (lambda a, b: a - b, "add them", "for 3 and 1: yours gives 2, CPython gives 4; add them"),
        (lambda a, b: a - b, lambda mine, real: f"{mine} for {real}", "for 3 and 1: 2 for 4"),
        (divide, "", "yours raises ZeroDivisionError: division by zero, CPython gives 4"),
    ],
)
def test_the_first_difference_is_told_with_both_results(answer, advice, because):
    cases = [Case("for 1 and 2", lambda fn: 3), Case(ADD.shows, ADD.run, advice)]
    told = find_difference(answer, add, cases, "CPython")
    assert told == because or because in told


def test_the_same_error_is_no_difference_and_a_stub_is_untried(refused):
    assert find_difference(lambda a, b: 1 / 0, divide, [ADD]) is None
    refused(NotAttempted, "^$", find_difference, lambda a, b: ..., add, [ADD])


@pytest.mark.parametrize(
    ("mine", "real", "same"),
    [
        (2.0000001, 2, True),
        ((1, [math.nan]), [1, (math.nan,)], True),
        (np.ones(2), np.ones(2, "float32"), True),
        (np.ones(2), np.ones(3), False),
        ({"a": 1}, {"a": 1.1}, False),
        (True, 1, True),
        (1, True, False),
        (None, 0, False),
        ("1", 1, False),
        (math.inf, math.inf, True),
    ],
)
def test_results_agree_if_their_numbers_nearly_do(mine, real, same):
    assert same_result(mine, real) is same


def test_a_guess_is_told_what_is_so_and_why():
    truth, why = {"a": "x", "b": "y"}, {"a": "A", "b": "B"}
    assert check_guess({"b": "y", "a": "x"}, truth, why, ("x", "y")) is None
    assert check_guess({"a": "x", "b": "x"}, truth, why, ("x", "y")) == "b is 'y', not 'x': B"
    assert "one of 'x', 'y', not 5" in check_guess({"a": 5, "b": "x"}, truth, why, ("x", "y"))
