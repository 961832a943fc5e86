"""Who notices a call, and at what cost: what the table says of means that are known."""

import re
from contextlib import contextmanager

import pytest
from torch.nn import functional

from helpers.study.chapter_7.means_table import HEADINGS, UNTRIED, build_route_calls, watch_means

pytestmark = [pytest.mark.own_process, pytest.mark.long]


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
def deaf():
    yield []


def test_each_route_gives_what_a_plain_call_gives():
    routes = build_route_calls()
    assert routes.keys() == HEADINGS.keys()
    found = {name: route() for name, route in routes.items()}
    right = found["name"].tolist()
    assert all(given.tolist() == right for given in found.values())


def test_a_name_is_noticed_where_it_is_looked_up():
    first, second, third = watch_means({"rebound": rebound, "deaf": deaf, "later": ...}).model.rows
    seen = {route for route in HEADINGS if vars(first)[route] == "yes"}
    assert {"name", "thread"} <= seen and not seen & {"alias", "imported", "mapped", "recorded"}
    assert {vars(second)[route] for route in HEADINGS} == {"no"}
    middle, low, high = map(float, re.findall(r"\d+\.\d", second.cost))
    assert 0 <= low <= middle <= high
    assert {*vars(third).values()} == {"later", UNTRIED}
