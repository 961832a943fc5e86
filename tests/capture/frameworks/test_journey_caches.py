"""What caches of functools answered between two readings, and whose caches are read."""

import functools
import weakref

from helpers.capture.frameworks.journey_caches import (
    count_new_answers,
    read_cache_counts,
    read_inner_cache_counts,
)


@functools.cache
def double(n):
    return 2 * n


@functools.cache
def half(n):
    return n / 2


def test_counts_are_those_of_the_cache_itself_and_zero_for_no_cache():
    double.cache_clear()
    double(1), double(1), double(2)
    assert read_cache_counts(double) == (1, 2)
    assert read_cache_counts(len) == read_cache_counts(None) == (0, 0)


def test_inner_caches_are_those_of_the_module_but_not_the_called_one():
    of_other_module = functools.cache(eval("lambda n: n", {}))
    in_a_container = [functools.cache(lambda n: n)]
    found = {reference() for reference in read_inner_cache_counts(double, globals())}
    assert {half, in_a_container[0]} <= found
    assert not found & {double, of_other_module}
    assert read_inner_cache_counts(double, None) == {}


def test_a_cache_that_is_new_or_was_cleared_counts_no_less_than_zero():
    old, new = weakref.ref(double), weakref.ref(half)
    assert count_new_answers({old: (2, 3)}, {old: (5, 4), new: (1, 1)}) == (4, 2)
    assert count_new_answers({old: (2, 3)}, {old: (0, 1)}) == (0, 0)
