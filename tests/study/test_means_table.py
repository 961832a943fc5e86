"""Who notices a call, and at what cost: what the table says of means that are known."""

import re
from contextlib import contextmanager

import pytest
from torch.nn import functional

from helpers.study.chapter_7.means_table import (
    HEADINGS,
    MOST,
    ROUNDS,
    UNTRIED,
    call_routes,
    watch_means,
)

pytestmark = pytest.mark.own_process


@contextmanager
def rebound():
    notes, own = [], functional.softsign

    def noting(x):
        notes.append(x)
        return own(x)

    functional.softsign = noting
    try:
        yield notes
    finally:
        functional.softsign = own


@contextmanager
def breaking():
    own = functional.softsign
    functional.softsign = None
    try:
        yield []
    finally:
        functional.softsign = own


@contextmanager
def deaf():
    yield []


def test_each_route_gives_what_a_plain_call_gives():
    routes = call_routes()
    assert routes.keys() == HEADINGS.keys()
    found = {name: route() for name, route in routes.items()}
    right = found["name"].tolist()
    assert all(given.tolist() == right for given in found.values())


def test_a_name_is_noticed_where_it_is_looked_up():
    reach = watch_means({"rebound": rebound, "deaf": deaf}).model
    seen = {route for route in HEADINGS if reach.notices("rebound", route)}
    assert {"name", "thread"} <= seen and not seen & {"alias", "imported", "mapped", "recorded"}
    assert not any(reach.notices("deaf", route) for route in HEADINGS)
    assert reach.rows[0].cost.count(" to ") == 1


def test_a_cost_is_a_middle_and_a_range():
    [row] = watch_means({"deaf": deaf}).model.rows
    middle, low, high = map(float, re.findall(r"\d+\.\d", row.cost))
    assert 0 <= low <= middle <= high
    assert str(ROUNDS) in watch_means({"deaf": ...}).model.note


def test_a_means_that_is_not_tried_has_a_row_without_words():
    exhibit = watch_means({"later": ...})
    [row] = exhibit.model.rows
    assert {*exhibit.model.cells()[0]} == {"later", UNTRIED}
    with pytest.raises(KeyError):
        exhibit.model.notices("never", "name")
    assert not exhibit.model.notices("later", "name") and row.cost == UNTRIED


def test_what_is_no_means_is_told_in_one_sentence():
    for wrong in (None, [rebound], {"a": 5}, {5: rebound}, {"a": "b"}):
        with pytest.raises(TypeError, match="must be"):
            watch_means(wrong)
    for wrong in ({}, {str(n): ... for n in range(MOST + 1)}):
        with pytest.raises(ValueError, match="from 1 to"):
            watch_means(wrong)


def test_a_route_that_raises_in_the_block_says_so_and_all_is_put_back():
    own = functional.softsign
    with pytest.raises(TypeError):  # the cost of a call by name cannot be told
        watch_means({"breaking": breaking})
    assert functional.softsign is own


def test_words_of_a_means_are_shown_escaped():
    assert "<b>" not in watch_means({"<b>": ...})._repr_mimebundle_()[0]["text/html"]
