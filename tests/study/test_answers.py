"""helpers/study/answers.py: an answer is read in any form, refused, or not attempted."""

from collections import UserDict
from itertools import count

import numpy as np
import pytest

from helpers.study.answers import (
    InvalidAnswer,
    NotAttempted,
    require_items,
    require_named_values,
    require_no_stub,
    require_no_stubs,
    to_plain_text,
)


class Endless(UserDict):
    """A mapping whose items have no end."""

    def items(self):
        return ((number, number) for number in count())


@pytest.mark.parametrize("value", [None, 0, "", [], NotImplemented])
def test_a_value_that_is_no_stub_is_returned(value):
    assert require_no_stub(value) is value


@pytest.mark.parametrize(("arguments", "message"), [((...,), ""), ((..., "x"), "x")])
def test_a_stub_is_not_attempted_and_names_its_part(arguments, message):
    with pytest.raises(NotAttempted) as caught:
        require_no_stub(*arguments)
    assert str(caught.value) == message


@pytest.mark.parametrize("values", [{}, {"a": 1}, {"a": None, "b": 0}])
def test_values_without_a_stub_pass(values):
    assert require_no_stubs(values) is None


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"a": ...}, ""),
        ({"a": ..., "b": ...}, ""),
        ({"a": ..., "b": 1}, "a"),
        ({"a": ..., "b": 1, 2: ...}, "a, 2"),
    ],
)
def test_the_message_lists_the_stubs_unless_all_are_stubs(values, message):
    with pytest.raises(NotAttempted) as caught:
        require_no_stubs(values)
    assert str(caught.value) == message


def test_named_values_come_in_the_order_of_the_names_as_plain_text():
    answer = UserDict(b=np.str_("text"), a=1)
    values = require_named_values(answer, iter(["a", "b"]))

    assert list(values.items()) == [("a", 1), ("b", "text")]
    assert type(values["b"]) is str


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        ([("a", 1)], ["a"]),
        (None, ["a"]),
        ({}, ["a"]),
        ({"a": 1}, ["a", "b"]),
        ({"a": 1, "c": 2}, ["a"]),
        ({"a": 1, "c": ...}, ["a"]),
        (Endless(), ["a"]),
    ],
)
def test_an_answer_with_other_keys_is_invalid_and_called_by_its_name(answer, names):
    with pytest.raises(InvalidAnswer, match="^the table .*a"):
        require_named_values(answer, names, "the table")


def test_a_named_value_that_is_a_stub_is_not_attempted():
    with pytest.raises(NotAttempted, match=r"^b$"):
        require_named_values({"a": 1, "b": ...}, ["a", "b"])


@pytest.mark.parametrize(
    "answer",
    [[1, 2], (1, 2), np.array([1, 2]), range(1, 3), iter([1, 2])],
    ids=lambda answer: type(answer).__name__,
)
def test_any_iterable_of_up_to_the_limit_has_items(answer):
    assert require_items(answer, 2) == [1, 2]


def test_an_empty_answer_has_no_items():
    assert require_items([], 0) == []


@pytest.mark.parametrize("answer", ["ab", b"ab", {"a": 1}, None, 3, list], ids=repr)
def test_text_mappings_and_single_values_are_no_lists(answer):
    with pytest.raises(InvalidAnswer, match="^the stack "):
        require_items(answer, 5, "the stack")


@pytest.mark.parametrize("answer", [range(1001), count()], ids=["one too many", "endless"])
def test_an_answer_with_more_items_than_the_limit_is_invalid(answer):
    with pytest.raises(InvalidAnswer, match="1,000"):
        require_items(answer, 1000)


def test_only_text_becomes_plain():
    assert type(to_plain_text(np.str_("a"))) is str

    items = ["a"]
    assert to_plain_text(items) is items
