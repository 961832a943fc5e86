"""The words of a library's object are its own; no `__repr__` of a user's class runs for them."""

import datetime
from collections import OrderedDict, deque
from fractions import Fraction

import numpy as np
import pytest

from helpers.capture.text.value import (
    contains_only_library_values,
    format_library_value,
    is_library_class,
)


class Loud:
    def __repr__(self):
        raise AssertionError("it must not be asked")


class Derived(deque):
    __repr__ = Loud.__repr__


def nested(value, levels):
    for _ in range(levels):
        value = deque([value])
    return value


def test_a_class_is_of_a_library_by_the_file_of_its_module():
    assert all(map(is_library_class, (int, deque, Fraction, np.ndarray)))
    assert not is_library_class(Loud) and not is_library_class(Derived)


def test_what_a_container_of_a_library_contains_is_looked_into():
    assert contains_only_library_values(deque([1, Fraction(1, 2)]))
    assert not contains_only_library_values(deque([Loud()]))
    assert not contains_only_library_values(OrderedDict(a=[Loud()]))
    assert not contains_only_library_values(Derived())
    assert not contains_only_library_values(deque(range(5_000)))  # too many to look at
    assert contains_only_library_values(nested(1, 9))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(1, 2), "Fraction(1, 2)"),
        (np.zeros((2, 3), "float32"), "float32 [2, 3]"),
        (deque(range(100)), "deque of 100"),
        (datetime.date(2020, 1, 2), "datetime.date(2020, 1, 2)"),
        (deque([Loud()]), ""),
        (Derived(), ""),
        (Loud(), ""),
        (3, ""),  # a built-in scalar has a format of its own
        (deque, ""),
        (object(), ""),  # nothing but an address
    ],
)
def test_the_text_of_a_library_value_is_what_it_says_of_itself_or_nothing(value, text):
    assert format_library_value(value) == text
