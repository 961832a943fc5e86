"""Which calls notice a replacement, and who holds what meanwhile: all of it is run and read."""

import contextlib
import sys

import pytest

from helpers import code_swapped
from helpers.capture.references.rebind import rebind_everywhere
from helpers.capture.references.routes import record_routes
from helpers.model.reference_records import UNKNOWN


def op():
    return "old"


def new_op():
    return "new"


alias = op


def by_default(call=op):
    return call()


ROUTES = {
    "default argument": lambda: by_default(),
    "the name": lambda: op(),
    "alias": lambda: alias(),
    "attribute": lambda: sys.modules[__name__].op(),
}
HOLDERS = {
    "default argument": lambda: by_default.__defaults__[0],
    "the name": lambda: op,
    "alias": lambda: alias,
    "attribute": lambda: sys.modules[__name__].op,
}


@contextlib.contextmanager
def assigned():
    global op
    op, before = new_op, op
    yield
    op = before


PATCHES = {
    "op = new_op": assigned,
    "module names": lambda: rebind_everywhere(op, new_op, search="scan"),
    "every holder": lambda: rebind_everywhere(op, new_op),
    "the code": lambda: code_swapped(op, new_op),
}


@pytest.fixture(scope="module")
def board():
    return record_routes(op, new_op, ROUTES, HOLDERS, PATCHES)


def test_what_each_route_runs_and_holds_is_measured(board):
    assert set(board.noticed("op = new_op")) == {"the name", "attribute"}
    assert board.noticed("op = new_op") == board.moved("op = new_op")
    assert set(board.moved("module names")) == {"the name", "attribute", "alias"}
    assert set(board.moved("every holder")) == set(ROUTES)


def test_swapped_code_is_noticed_though_no_arrow_moves(board):
    assert set(board.noticed("the code")) == set(ROUTES) and not board.moved("the code")
    old, new = board.functions
    assert old.codes[0] == old.codes[3] != old.codes[4] == new.codes[0]
    assert board.codes == ('return "old"', 'return "new"')


def test_routes_come_in_the_order_in_which_they_notice(board):
    names = [route.name for route in board.routes]
    assert names == ["the name", "attribute", "alias", "default argument"]
    assert names == [entry.subject for entry in board.entries]


def test_calls_and_patches_are_told_by_their_source(board):
    calls = {route.name: (route.call, route.kind) for route in board.routes}
    assert calls["the name"] == ("op()", "name")
    assert calls["default argument"] == ("by_default()", "function")
    assert board.patches[1].startswith("global op\n")
    assert board.patches[4] == "code_swapped(op, new_op)"


def test_what_cannot_be_read_is_unknown():
    holders = {"the name": lambda: 1 / 0, "other": lambda: print}
    routes = dict.fromkeys(holders, lambda: op())
    found = record_routes(op, new_op, routes, holders, {"assigned": assigned})
    assert [route.holds for route in found.routes] == [(UNKNOWN, UNKNOWN)] * 2
    assert set(found.noticed("assigned")) == {"the name", "other"}


def test_holders_of_other_names_are_refused(refused):
    with pytest.raises(ValueError, match="holders .* routes"):
        record_routes(op, new_op, ROUTES, {"other": lambda: op}, PATCHES)
    refused(TypeError, "holders needs a dict", record_routes, op, new_op, ROUTES, [op], PATCHES)
