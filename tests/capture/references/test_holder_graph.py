"""The holders of a value, and what holds these, up to what has a name."""

import functools
import sys
import types

import pytest

from helpers.capture.references.holder_graph import LEVELS, HolderGraph
from helpers.capture.references.places import HiddenList, Place
from helpers.capture.references.unreachable import no_collection


class Own:
    """An object whose attributes are in a dict or in the object itself."""


@functools.singledispatch
def dispatched(value): ...


def has(values, value):
    return any(item is value for item in values)


def search(*targets, most=0):
    return HolderGraph(HiddenList(targets), most)


def test_each_container_that_has_a_value_is_its_holder():
    value = [1]
    holders = [[value], (value, [2]), {"a": value}, Own()]
    holders[3].attribute = vars(holders[3])["attribute"] = value
    graph = search(value)
    found = graph.holders(value)
    for holder in holders[:3]:
        assert has(found, holder)
    assert has(found, vars(holders[3])) or has(found, holders[3])


def test_the_search_is_no_holder_of_its_own():
    value = [1]
    hidden = HiddenList([value])
    graph = search(value)
    assert not has(graph.holders(value), hidden)
    assert not any(isinstance(holder, HiddenList) for holder in graph.holders(value))


def test_holders_of_holders_are_searched():
    value = [1]
    inner = [value]
    middle = {"a": inner}
    outer = [middle]
    graph = search(value)
    assert has(graph.holders(value), inner)
    assert has(graph.holders(inner), middle)
    assert has(graph.holders(middle), outer)


def test_an_object_that_was_not_searched_has_no_holders():
    graph = search([1])
    assert graph.holders([2]) == []
    assert type(graph.holders([2])) is HiddenList


def test_the_levels_of_a_search_have_a_limit():
    chain = [1]
    value = chain
    links = []
    for _ in range(LEVELS + 3):
        chain = [chain]
        links.append(chain)
    graph = search(value)
    assert has(graph.holders(links[LEVELS - 2]), links[LEVELS - 1])
    assert graph.holders(links[LEVELS]) == []


def test_several_targets_are_told_apart():
    one, two = [1], [2]
    holder_of_one, holder_of_two, holder_of_both = [one], [two], [one, two]
    graph = search(one, two)
    assert has(graph.holders(one), holder_of_one)
    assert has(graph.holders(two), holder_of_two)
    assert has(graph.holders(one), holder_of_both) and has(graph.holders(two), holder_of_both)
    assert not has(graph.holders(one), holder_of_two)


def test_a_container_that_the_collector_does_not_track_is_found():
    value = object()
    inside = [(value, 1)]
    graph = search(value)
    assert has(graph.holders(value), inside[0])


@pytest.mark.parametrize("most", [1, 3])
def test_of_too_many_direct_holders_only_some_are_followed(most):
    value = [1]
    holders = [[value] for _ in range(5)]
    all_count = len(search(value).holders(value))
    graph = search(value, most=most)
    assert all_count >= len(holders)
    assert len(graph.holders(value)) == most
    assert graph.left_out_count >= len(holders) - most
    assert search(value, most=1000).left_out_count == 0
    assert search(value).left_out_count == 0


def test_dicts_of_modules_and_of_singledispatch_have_names():
    names = search([1]).names_by_id
    assert names[id(vars(sys))] == "sys"
    assert any(name.endswith(".dispatched.registry") for name in names.values())


def test_what_a_module_leads_to_is_not_closed(monkeypatch):
    module = types.ModuleType("made_holder")
    monkeypatch.setitem(sys.modules, "made_holder", module)
    module.kept = [[1]]
    assert not search(module.kept).is_closed


def test_a_place_that_something_reaches_is_no_garbage():
    value = [1]
    reachable = {"a": value}
    graph = search(value)
    graph.mark_garbage()
    assert not graph.is_garbage(Place("dict value", reachable, "['a']", position="a"))


def test_a_place_that_nothing_reaches_is_garbage():
    value = [1]

    def leave_a_cycle():
        cycle = [value]
        cycle.append(cycle)
        return id(cycle)

    with no_collection():
        cycle_id = leave_a_cycle()
        graph = search(value)
        graph.mark_garbage()
        (cycle,) = [holder for holder in graph.holders(value) if id(holder) == cycle_id]
        assert graph.is_garbage(Place("list item", cycle, "[0]", position=0))
        assert graph.is_garbage(Place("list item", [], "[0]", holder=cycle))
        assert not graph.is_garbage(Place("list item", [], "[0]", position=0))
        cycle.clear()
