"""A replacement needs the references by which it reaches the original."""

from functools import partial

import pytest

from helpers.capture.references.places import Place
from helpers.capture.references.replacement_needs import Needs, find_needs


def original():
    return deep


def other(): ...


deep = {"key": [original]}
saved = original
table = {"op": original}
rows = [original]
pairs = (original,)
bound = partial(original)


def through_a_name():
    return saved()


def through_a_neighbour():
    return through_a_name()


def through_a_table():
    return table, rows


def through_a_partial():
    return bound()


def through_a_tuple():
    return pairs


def through_a_library():
    return pytest


class Wrapper:
    def __init__(self, wrapped):
        self.wrapped = wrapped

    def __call__(self):
        return saved()


def make_closure(wrapped):
    def wrapper(again=wrapped, *, by_name=wrapped):
        return wrapped()

    return wrapper


def name_in_this_module(name):
    return id(globals()), name


# replacement -> the global names that its code uses, here and in its neighbours
NAMES = {
    through_a_name: {"saved"},
    through_a_neighbour: {"through_a_name", "saved"},
    through_a_table: {"table", "rows"},
    through_a_partial: {"bound"},
    through_a_tuple: {"pairs"},
    through_a_library: {"pytest"},
    other: set(),
}


@pytest.mark.parametrize("new", NAMES)
def test_the_global_names_of_a_replacement_and_its_neighbours_are_needed(new):
    needs = find_needs(new, original)
    assert needs.names == {name_in_this_module(name) for name in NAMES[new]}
    assert id(new) in needs.ids


# replacement -> the containers through which it reaches the original, and one that it does not need
FOLLOWED = {
    "dicts and lists under a global name": (through_a_table, [table, rows], pairs),
    "a partial under a global name": (through_a_partial, [bound], table),
    "a tuple under a global name is not": (through_a_tuple, [], pairs),
    "a library is not": (through_a_library, [], pytest),
}


@pytest.mark.parametrize("kind", FOLLOWED)
def test_what_is_under_a_global_name_is_followed_by_its_kind(kind):
    new, needed, not_needed = FOLLOWED[kind]
    ids = find_needs(new, original).ids
    assert {id(value) for value in needed} <= ids
    assert id(not_needed) not in ids
    assert id(original) not in ids


def test_closure_defaults_and_attributes_of_a_function_are_parts_of_it():
    wrapper = make_closure(original)
    wrapper.parts = [table]
    ids = find_needs(wrapper, original).ids
    parts = (
        wrapper.__closure__,
        wrapper.__closure__[0],
        wrapper.__defaults__,
        wrapper.__kwdefaults__,
        vars(wrapper),
        wrapper.parts,
        table,
    )
    assert {id(part) for part in parts} <= ids


def test_the_search_stops_at_the_original():
    ids = find_needs(make_closure(original), original).ids
    assert id(deep) not in ids
    assert find_needs(original, original) == Needs(set(), set())


def test_a_partial_and_a_bound_method_are_followed():
    holder = Wrapper([original])
    for new in (partial(original, rows), holder.__call__):
        assert id(new) in find_needs(new, original).ids
    assert id(rows) in find_needs(partial(original, rows), original).ids
    assert id(holder.wrapped) in find_needs(holder.__call__, original).ids


def test_a_callable_instance_is_followed_with_its_attributes_and_its_call():
    holder = Wrapper(rows)
    needs = find_needs(holder, original)
    assert {id(holder), id(rows), id(Wrapper.__call__)} <= needs.ids
    assert name_in_this_module("saved") in needs.names


def test_a_callable_instance_in_a_container_is_not_followed():
    holder = Wrapper(rows)

    def new(): ...

    new.table = {"a": holder}
    ids = find_needs(new, original).ids
    assert id(new.table) in ids
    assert id(rows) not in ids
    assert id(Wrapper.__call__) not in ids


@pytest.mark.parametrize("new", [Wrapper, 3, "text", object()])
def test_a_class_and_a_plain_object_need_only_themselves(new):
    assert find_needs(new, original) == Needs({id(new)}, set())


def test_names_of_another_module_are_a_library_s_own_matter_if_only_named():
    elsewhere = {"helper": rows}
    exec("def library(): return helper", elsewhere)
    needed = (id(elsewhere), "helper")
    home = {"call": elsewhere["library"], "items": [elsewhere["library"]]}
    exec("def new(): return call, items", home)

    assert needed not in find_needs(home["new"], original).names
    assert needed in find_needs(elsewhere["library"], original).names
    assert id(rows) not in find_needs(home["new"], original).ids

    library = elsewhere["library"]
    closure = find_needs(lambda: library, original)
    assert needed in closure.names
    assert id(rows) in closure.ids


def test_a_place_is_needed_by_its_container_or_by_its_name():
    namespace, items = {}, []
    needs = Needs({id(items)}, {(id(namespace), "op")})
    assert needs.includes(Place("list item", items, "[0]"))
    assert needs.includes(Place("module attribute", namespace, "op"))
    assert not needs.includes(Place("module attribute", namespace, "other"))
    assert not needs.includes(Place("list item", [], "op"))
