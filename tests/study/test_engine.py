"""An answer and the reference are compared case by case; answers are taken in every form."""

import math
from collections import OrderedDict, UserDict
from itertools import product
from types import MappingProxyType

import numpy as np
import pytest

from helpers.study.answers import InvalidAnswer, NotAttempted, require_items, require_named_values
from helpers.study.engine import JudgedCase, find_difference, judge_guess
from helpers.study.sameness import is_same_result


@pytest.mark.parametrize("form", [dict, OrderedDict, UserDict, MappingProxyType])
def test_every_mapping_is_taken_and_becomes_a_dict_in_the_order_of_the_names(form):
    values = require_named_values(form({"b": 2, "a": 1}), ["a", "b"])
    assert list(values.items()) == [("a", 1), ("b", 2)]


def test_missing_and_unknown_names_are_told(refused):
    refused(InvalidAnswer, "a, b.*'b'", require_named_values, {"a": 1}, ["a", "b"])
    three = {"a": 1, "b": 2, "c": 3}
    refused(InvalidAnswer, "a, b.*'c'", require_named_values, three, ["a", "b"])
    refused(InvalidAnswer, "dict.* a,", require_named_values, [("a", 1)], ["a"])


def test_parts_that_are_left_are_named_and_a_whole_stub_is_not(refused):
    refused(NotAttempted, "^b$", require_named_values, {"a": 1, "b": ...}, ["a", "b"])
    refused(NotAttempted, "^$", require_named_values, {"a": ..., "b": ...}, ["a", "b"])


@pytest.mark.parametrize("form", [list, tuple, iter, np.array, lambda items: (i for i in items)])
def test_every_sequence_is_taken_and_becomes_a_list(form, refused):
    assert require_items(form([1, 2]), 2) == [1, 2]
    refused(InvalidAnswer, "^what .* 1 ", require_items, form([1, 2]), 1, "what")
    refused(InvalidAnswer, "^what .*list.*'ab'", require_items, "ab", 2, "what")


ADD = JudgedCase("for 3 and 1", lambda fn: fn(3, 1), "add them")


def add(a, b):
    return a + b


def divide(a, b):
    return a / (b - 1)


@pytest.mark.parametrize(
    ("answer", "advice"),
    [
        (lambda a, b: a - b, "add them"),
        (lambda a, b: a - b, lambda mine, real: f"{mine} for {real}"),
        (divide, ""),
    ],
    ids=["advice is text", "advice is a function", "an error"],
)
def test_the_first_difference_is_told_with_both_results(answer, advice, snapshot):
    cases = [JudgedCase("for 1 and 2", lambda fn: 3), JudgedCase(ADD.shows, ADD.run, advice)]
    assert find_difference(answer, add, cases, "CPython") == snapshot
    assert find_difference(add, add, cases, "CPython") is None


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
    assert is_same_result(mine, real) is same


def test_a_guess_is_told_what_is_so_and_why(snapshot):
    truth, why = {"a": "x", "b": "y"}, {"a": "A", "b": "B"}
    assert judge_guess({"b": "y", "a": "x"}, truth, why, ("x", "y")) is None
    assert judge_guess({"a": "x", "b": "x"}, truth, why, ("x", "y")) == snapshot
    assert judge_guess({"a": 5, "b": "x"}, truth, why, ("x", "y")) == snapshot


class RaisesAtEqual:
    """An object that nothing can be compared with."""

    def __eq__(self, other):
        raise TypeError("cannot be compared")

    __hash__ = None


class ManyAnswers:
    """As a data frame: == gives an answer for each item, and these have no truth together."""

    shape = (2,)

    def __init__(self, *items):
        self.items = np.array(items, dtype=object)

    def __eq__(self, other):
        return self.items == getattr(other, "items", other)

    __hash__ = None


def _raise():
    raise KeyError("mine")


# How two results are made anew each time: those of one group agree, those of two groups differ.
GROUPS = (
    (lambda: None,),
    (lambda: math.nan, lambda: np.float32("nan"), lambda: np.array(math.nan)),
    (lambda: np.ones(2), lambda: np.ones(2, "int8")),
    (lambda: np.ones((2, 1)),),
    (lambda: np.array([1, math.nan]), lambda: np.array([1, math.nan], "float32")),
    (lambda: np.array([]), lambda: np.zeros(0, "int64")),
    (lambda: np.array(["a", "b"]),),
    (lambda: np.array(["a", None], dtype=object),),
    (lambda: ManyAnswers("p", "q"),),
    (lambda: ManyAnswers("p", "r"),),
    (lambda: 10**400,),
    (lambda: {1, 2},),
    (lambda: {"a": np.ones(2)}, lambda: UserDict(a=np.ones(2, "float32"))),
    (lambda: {"a": None},),
    (lambda: [np.ones(2), None], lambda: (np.ones(2), None)),
    (lambda: [np.ones(2), "x"],),
    (lambda: "text",),
    (lambda: b"text",),
    (lambda: ValueError,),
)
NEVER_RIGHT = (
    RaisesAtEqual,
    object,
    lambda: [RaisesAtEqual()] * 2,
    lambda: {"a": _raise},
)


def torch_groups():
    torch = pytest.importorskip("torch")
    return (
        (lambda: torch.full((3,), 2.0), lambda: torch.full((3,), 2.0, dtype=torch.bfloat16)),
        (
            lambda: torch.full((4,), 2.0, requires_grad=True),
            lambda: torch.full((4,), 2.0).to_sparse(),
        ),
        (lambda: torch.tensor([1 + 2j]).conj(), lambda: np.array([1 - 2j])),
        (lambda: torch.tensor([math.nan], dtype=torch.bfloat16), lambda: np.array([math.nan])),
    )


def all_groups():
    return (*GROUPS, *torch_groups())


def test_each_result_agrees_with_those_of_its_own_group_alone():
    groups = all_groups()
    for (at, mine), (place, real) in product(enumerate(groups), repeat=2):
        for make, right in product(mine, real):
            assert is_same_result(make(), right()) is (at == place), (make(), right())


def test_whatever_an_answer_does_the_verdict_is_about_it_and_not_about_the_check():
    groups = all_groups()
    answers = [make for group in groups for make in group]
    for real, mine in product(groups, (*answers, *NEVER_RIGHT, _raise)):
        because = find_difference(mine, real[0], [JudgedCase("for x", lambda make: make())])
        if mine in real:
            assert because is None
        elif mine is _raise:
            assert because.beside.yours == "raises KeyError: 'mine'"
        else:
            assert because.beside.yours.startswith("gives "), because


def test_two_data_frames_agree_if_all_their_items_do():
    pandas = pytest.importorskip("pandas")
    words, others = ["x", "y"], ["x", "z"]
    frames = [pandas.DataFrame({"a": [1.0, math.nan], "b": each}) for each in (words, others)]
    frames += [pandas.DataFrame({"b": words}), pandas.Series(words)]
    for (at, mine), (place, real) in product(enumerate(frames), repeat=2):
        assert is_same_result(mine.copy(), real) is (at == place), (mine, real)
    assert not any(is_same_result(mine, real) for mine in (None, 5, math.nan) for real in frames)


def test_arrays_that_differ_are_told_by_the_item_that_differs_most():
    real = np.array([[1.0, 2.0], [3.0, 4.0]])
    mine = np.array([[1.0, 2.0], [3.5, 4.25]], "float32")
    because = find_difference(mine, real, [JudgedCase("for x", lambda answer: answer)], "train")
    assert (because.beside.yours, because.beside.real) == (
        "gives 3.5 at [1, 0]",
        "gives 3 at [1, 0]",
    )
    longer = find_difference(np.ones(3), np.ones(2), [JudgedCase("for x", lambda answer: answer)])
    assert (longer.beside.yours, longer.beside.real) == ("gives float64 [3]", "gives float64 [2]")
