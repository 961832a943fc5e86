"""A learner's dicts become the rows of a table, and no code of a value of theirs runs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.capture.rows import MOST_COLUMNS, MOST_ITEMS, MOST_NAMED, list_rows
from helpers.capture.text.value import BIGGEST_BITS
from helpers.model.tables import Column


def list_fields(*headings):
    row = dict.fromkeys(headings, 1)
    return [column.field for column in list_rows("t", row).columns]


def make_cell(value):
    (row,) = list_rows("t", {"cell": value}).rows
    return row.cell


class Loud:
    """An object whose repr and str must not run."""

    def __repr__(self):
        raise AssertionError("the repr ran")

    __str__ = __repr__


class LoudText(str):
    def __str__(self):
        raise AssertionError("the str ran")


class Numbers(list):
    def __repr__(self):
        raise AssertionError("the repr ran")


def test_keys_are_headings_and_attributes():
    listing = list_rows("ways", {"way": "a name", "cannot see": 3}, {"way": "x", "cannot see": 4})
    assert listing.title == "ways"
    assert listing.columns == (Column("way", "way"), Column("cannot_see", "cannot see"))
    assert [(row.way, row.cannot_see) for row in listing.rows] == [("a name", 3), ("x", 4)]
    assert listing.note == ""


# headings -> the names of the attributes
FIELDS = {
    ("loss",): ["loss"],
    ("my loss", "x.y"): ["my_loss", "x_y"],
    ("2nd",): ["column_0_2nd"],
    ("ok", "class"): ["ok", "column_1_class"],
    ("a b", "a-b"): ["a_b", "column_1_a_b"],
    ("__len__",): ["column_0___len__"],
    ("_private",): ["_private"],
    ("",): ["column_0_"],
}


@pytest.mark.parametrize("headings", FIELDS)
def test_a_heading_that_is_no_new_name_gets_its_number_in_front(headings):
    assert list_fields(*headings) == FIELDS[headings]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text("ab_ 1", max_size=3), min_size=1, max_size=6, unique=True))
def test_every_heading_has_an_attribute_of_its_own(headings):
    fields = list_fields(*headings)
    assert len(set(fields)) == len(headings)
    assert all(field.isidentifier() for field in fields)


SHOWN = [
    (True, True),
    (7, 7),
    (-(2**BIGGEST_BITS - 1), -(2**BIGGEST_BITS - 1)),
    ("text", "text"),
    (LoudText("kept"), "kept"),
    (np.float32(0.5), "0.5"),
    (np.int64(3), "3"),
    (1.5, "1.5"),
    (None, "None"),
    ([1, (2, "a")], "[1, (2, 'a')]"),
    ({"a": [1]}, "{'a': [1]}"),
    ({1}, "{1}"),
    (frozenset(), "frozenset()"),
    ([0] * MOST_ITEMS, repr([0] * MOST_ITEMS)),
]


@pytest.mark.parametrize(("value", "cell"), SHOWN)
def test_a_short_value_of_a_built_in_type_is_shown_as_it_is(value, cell):
    shown = make_cell(value)
    assert shown == cell
    assert type(shown) is type(cell)


DESCRIBED = {
    "a user's object": Loud(),
    "a user's object in a list": [Loud()],
    "a user's object as a value": {"a": Loud()},
    "a user's list": Numbers([1]),
    "three containers in each other": [[[1]]],
    "many items": [0] * (MOST_ITEMS + 1),
    "a dict of half as many pairs and one": dict.fromkeys(range(MOST_ITEMS // 2 + 1)),
    "an int of very many digits": 2 ** (BIGGEST_BITS + 1),
    "such an int in a list": [2 ** (BIGGEST_BITS + 1)],
}


@pytest.mark.parametrize("kind", DESCRIBED)
def test_any_other_value_is_described_in_a_few_words(kind):
    shown = make_cell(DESCRIBED[kind])
    assert type(shown) is str
    assert len(shown) < 100


def test_the_depth_of_what_is_shown_is_two_containers():
    assert make_cell([[1]]) == "[[1]]"
    assert make_cell([[[1]]]) != "[[[1]]]"


REFUSED = {
    "no row": (ValueError, "at least one row", ()),
    "no dict": (TypeError, "heading", ([1],)),
    "a key that is no name": (TypeError, "heading", ({1: 2},)),
    "another key": (ValueError, r"keys a, .*row 2 has b$", ({"a": 1}, {"b": 2})),
    "another order": (
        ValueError,
        r"keys a, b, .*row 2 has b, a$",
        ({"a": 1, "b": 1}, {"b": 1, "a": 1}),
    ),
    "no key": (TypeError, "a row of a table", ({},)),
    "a further key": (ValueError, "row 3 has a, b$", ({"a": 1}, {"a": 2}, {"a": 3, "b": 4})),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_rows_that_make_no_table_are_refused(refused, kind):
    error, words, rows = REFUSED[kind]
    refused(error, words, list_rows, "t", *rows)


def test_a_title_that_is_no_text_is_refused(refused):
    refused(TypeError, "title of a table", list_rows, 3, {"a": 1})


def test_an_error_names_only_the_first_headings(refused):
    exactly = {f"h{number}": 0 for number in range(MOST_NAMED)}
    more = {**exactly, "last": 0}
    refused(ValueError, f"h{MOST_NAMED - 1}, …, in this order", list_rows, "t", more, {"a": 0})
    refused(ValueError, f"h{MOST_NAMED - 1}, in this order", list_rows, "t", exactly, {"a": 0})


def test_a_table_has_a_limit_of_columns():
    assert len(list_fields(*(f"h{number}" for number in range(MOST_COLUMNS)))) == MOST_COLUMNS
