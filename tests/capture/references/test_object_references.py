"""What a reader sees an object refer to, and by which labels."""

import functools
import types

import numpy as np
import pytest

from helpers.capture.references.object_references import (
    MOST_ITEMS,
    Reference,
    References,
    find_references,
)


def list_labels(value):
    return [reference.label for reference in find_references(value).first]


class Text:
    """An object with attributes, a method of each kind, and a slot for a property."""

    def __init__(self):
        self.size = 3
        vars(self)[7] = "a key that is no name"

    def method(self): ...

    @staticmethod
    def static(): ...

    @classmethod
    def of_class(cls): ...

    @property
    def loud(self):
        raise AssertionError("the property ran")

    constant = 5


TEXT = Text()
ITEM = object()
OPENED = {
    "a list": ([ITEM, 1], [Reference("[0]", ITEM), Reference("[1]", 1)]),
    "a tuple": ((ITEM,), [Reference("[0]", ITEM)]),
    "a dict": ({"a": ITEM, 3: 1}, [Reference("['a']", ITEM), Reference("[3]", 1)]),
    "a set in the order of its texts": ({10, 9}, [Reference("", 10), Reference("", 9)]),
    "a frozenset": (frozenset({ITEM}), [Reference("", ITEM)]),
    "a static method": (staticmethod(len), [Reference("__func__", len)]),
    "a class method": (classmethod(len), [Reference("__func__", len)]),
    "a partial": (functools.partial(len, []), [Reference("func", len)]),
    "a bound method": (
        TEXT.method,
        [Reference("__func__", Text.method), Reference("__self__", TEXT)],
    ),
    "an instance": (TEXT, [Reference(".size", 3)]),
    "an object without attributes": (ITEM, []),
    "a number": (3, []),
    "a text": ("text", []),
    "a module": (types, []),
    "an array": (np.zeros(2), []),
    "an empty list": ([], []),
}


@pytest.mark.parametrize("kind", OPENED)
def test_an_object_has_the_references_that_its_kind_shows(kind):
    value, references = OPENED[kind]
    assert find_references(value) == References(references, len(references))


def test_a_class_has_its_methods_and_no_other_attribute():
    assert list_labels(Text) == [".__init__", ".method", ".static", ".of_class"]


@pytest.mark.parametrize("make", [list, tuple, set, frozenset, dict.fromkeys])
def test_of_a_large_container_only_the_first_references_are_listed(make):
    for count in (MOST_ITEMS, MOST_ITEMS + 1):
        references = find_references(make(range(count)))
        assert len(references.first) == MOST_ITEMS
        assert references.count == count


def test_a_container_of_the_reader_s_own_class_is_an_instance():
    class Stack(list):
        pass

    stack = Stack([1, 2])
    stack.name = "s"
    assert list_labels(stack) == [".name"]


def test_a_function_refers_to_bound_variables_objects_as_defaults_and_what_it_wraps():
    bound = [1]

    def outer():
        return later

    def inner(first=bound, second=3, third=None):
        return bound, outer, later

    empty = [reference.label for reference in find_references(inner).first]
    assert empty == ["closure bound", "closure outer", "default"]

    later = {}
    inner.__wrapped__ = outer
    inner.other = 5
    references = find_references(inner)
    assert references.count == 5
    assert references.first == [
        Reference("closure bound", bound),
        Reference("closure later", later),
        Reference("closure outer", outer),
        Reference("default", bound),
        Reference("__wrapped__", outer),
    ]


def test_a_function_of_one_line_refers_to_nothing():
    assert find_references(lambda: 1) == References([], 0)


def test_no_comparison_of_the_reader_s_runs():
    class Loud:
        def __eq__(self, other):
            raise AssertionError("a comparison ran")

    loud = Loud()
    (reference,) = find_references(lambda: loud).first
    assert reference.target is loud
