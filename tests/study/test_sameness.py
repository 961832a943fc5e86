"""helpers/study/sameness.py: which results agree, and where two arrays differ most."""

from collections import OrderedDict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.study.observations import Raised
from helpers.study.sameness import as_numbers, find_farthest_item, is_same_result

TYPE_ERROR = Raised(TypeError, TypeError("one message"))
SAME_TYPE_ERROR = Raised(TypeError, TypeError("another message"))
VALUE_ERROR = Raised(ValueError, ValueError())


class Unequal:
    """An object whose comparison raises an error."""

    def __eq__(self, other):
        raise RuntimeError

    __hash__ = object.__hash__


class Ragged:
    """An object that, like a ragged tensor, can only be compared as a list."""

    def __init__(self, items):
        self.items = items

    def to_list(self):
        return self.items


class Frame:
    """An object that, like a data frame, has a method for its equality."""

    def __init__(self, text):
        self.text = text

    def equals(self, other):
        return self.text == other.text


AGREE = [
    (None, None),
    ("a", "a"),
    (np.str_("a"), "a"),
    (b"a", b"a"),
    (int, int),
    (True, True),
    (np.bool_(False), False),
    (1, 1.000001),
    (2, np.float32(2)),
    (1e9 + 1, 1e9),
    (float("nan"), float("nan")),
    (1 + 2j, 1 + 2j),
    ([], ()),
    ([1, "a"], (1, "a")),
    ([1, [2, None]], (1.000001, (2, None))),
    ({}, {}),
    (OrderedDict(b=[1], a=2), {"a": 2.000001, "b": (1,)}),
    (np.ones(2), np.ones(2, int)),
    (TYPE_ERROR, SAME_TYPE_ERROR),
    (Ragged([[1], [2, 3]]), Ragged([[1], [2, 3.000001]])),
    (Frame("a"), Frame("a")),
    ({1, 2}, {2, 1}),
    (np.array(["a", "b"]), np.array(["a", "b"])),
]

DIFFER = [
    (None, 0),
    (0, None),
    ("a", "b"),
    ("a", b"a"),
    ("1", 1),
    (int, float),
    (1, True),
    (True, False),
    (1, 1.001),
    (0.001, 0),
    (float("nan"), 1),
    ([1], [1, 2]),
    ([1, 2], [1, 3]),
    ([2, 1], [1, 1]),
    ("ab", ["a", "b"]),
    (None, []),
    ({"a": 1}, {"b": 1}),
    ({"a": 1}, {"a": 2}),
    ({"a": 1, "b": 2}, {"a": 1}),
    ([("a", 1)], {"a": 1}),
    (np.ones(2), np.ones(3)),
    (np.ones((1, 2)), np.ones(2)),
    (TYPE_ERROR, VALUE_ERROR),
    (TYPE_ERROR, 1),
    (1, TYPE_ERROR),
    (Ragged([[1], [2]]), Ragged([[1], [3]])),
    ([[1], [2]], Ragged([[1], [2]])),
    (TYPE_ERROR, Ragged([])),
    (Frame("a"), Frame("b")),
    (None, Frame("a")),
    ({1}, {2}),
    (np.array(["a", "b"]), np.array(["a", "c"])),
    (np.array("a"), np.array(["a", "a"])),
    (Unequal(), {1}),
]


@pytest.mark.parametrize(("own_result", "right_result"), AGREE)
def test_these_results_agree(own_result, right_result):
    assert is_same_result(own_result, right_result) is True


@pytest.mark.parametrize(("own_result", "right_result"), DIFFER)
def test_these_results_do_not_agree(own_result, right_result):
    assert is_same_result(own_result, right_result) is False


def test_an_object_agrees_with_itself_before_its_method_is_asked():
    unequal = Unequal()
    assert is_same_result(unequal, unequal)


@pytest.mark.parametrize("wrap", [float, lambda x: [x], lambda x: {"a": x}, lambda x: [{"a": [x]}]])
def test_near_says_how_far_numbers_may_differ_at_any_depth(wrap):
    assert is_same_result(wrap(1.05), wrap(1.0), near=0.1)
    assert not is_same_result(wrap(1.05), wrap(1.0), near=0.01)


PLAIN_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | st.floats() | st.text(max_size=3),
    lambda items: st.lists(items, max_size=3) | st.dictionaries(st.text(max_size=2), items),
    max_leaves=6,
)


@settings(max_examples=50, deadline=None)
@given(PLAIN_VALUES)
def test_every_plain_value_agrees_with_itself_and_not_with_a_list_of_it(value):
    assert is_same_result(value, value)
    assert not is_same_result([value], value)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (True, "float64"),
        (3, "float64"),
        (np.uint8(3), "float64"),
        (np.float16(3), "float64"),
        (3j, "complex128"),
        ([[1, 2]], "float64"),
    ],
)
def test_numbers_become_arrays_of_at_least_float64(value, dtype):
    array = as_numbers(value)
    assert array.dtype == dtype
    assert array.tolist() == np.asarray(value).tolist()


@pytest.mark.parametrize("value", [None, "1", b"1", object(), [1, None], [[1], [1, 2]]])
def test_other_values_are_no_numbers(value):
    assert as_numbers(value) is None


def test_a_torch_tensor_of_any_form_becomes_an_array():
    torch = pytest.importorskip("torch")
    tensor = torch.tensor([0.0, 2.0])
    forms = [
        tensor,
        tensor.clone().requires_grad_(),
        tensor.bfloat16(),
        tensor.to_sparse(),
        torch.tensor([0.0, 2.0 + 0j]).conj(),
    ]
    assert [as_numbers(form).tolist() for form in forms] == [[0, 2]] * len(forms)


INF = float("inf")
NAN = float("nan")


@pytest.mark.parametrize(
    ("own_result", "right_result", "index"),
    [
        ([1, 2, 3], [1, 2, 4], (2,)),
        ([[1, 2], [9, 4]], [[1, 3], [3, 4]], (1, 0)),
        ([2, 110], [1, 100], (0,)),
        ([0.5, 0.0], [0.1, 0.5], (1,)),
        ([-8, 2], [-4, 1], (0,)),
        ([NAN, 5], [NAN, 4], (1,)),
        ([9, NAN], [1, 1], (1,)),
        ([INF, 5], [INF, 4], (1,)),
        ([9, INF], [1, 1], (1,)),
        ([1, 2], [1, 2], None),
        ([NAN], [NAN], None),
        ([], [], None),
        (1, 2, None),
        ([1], [1, 2], None),
        ("a", [1], None),
        ([1], "a", None),
    ],
)
def test_the_farthest_item_has_the_largest_relative_distance(own_result, right_result, index):
    assert find_farthest_item(own_result, right_result) == index
