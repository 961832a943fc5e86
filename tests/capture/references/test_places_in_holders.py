"""Each kind of holder refers to a value at places that are named as a reader writes them."""

import functools
import sys
import types
from collections import deque

import numpy as np
import pytest

from helpers.capture.references.holder_graph import HolderGraph
from helpers.capture.references.places import HiddenList
from helpers.capture.references.places_in_holders import find_places_in


def operate(*args): ...


kept_in_module = [operate]


class Owner:
    @staticmethod
    def static(): ...

    @classmethod
    def of_class(cls): ...

    def method(self): ...


class Table(dict):
    pass


class KeepsNothing:
    """A graph in which nothing has a holder."""

    names_by_id = {}

    def holders(self, value):
        return HiddenList()


def list_facts(holder, value, graph=None):
    places = find_places_in(holder, value, graph or KeepsNothing())
    return [(place.kind, place.name, place.position) for place in places]


ARRAY = np.array([1, operate, operate], dtype=object)
HOLDERS = {
    "a list": (
        [operate, 1, operate],
        [("list item", "[0]", 0), ("list item", "[2]", 2)],
    ),
    "a deque": (deque([1, operate]), [("deque item", "[1]", 1)]),
    "a set": ({operate, 1}, [("set member", "{member}", operate)]),
    "a frozenset": (frozenset({operate}), [("frozenset member", "{member}", operate)]),
    "values of a dict": (
        {"a": operate, 3: operate, "b": 1},
        [("dict value", "['a']", "a"), ("dict value", "[3]", 3)],
    ),
    "a key of a dict": ({operate: 1}, [("dict key", "{key}", None)]),
    "a key and its value": (
        {operate: operate},
        [("dict value", "[<function>]", operate), ("dict key", "{key}", None)],
    ),
    "a view of a dict": (types.MappingProxyType({}), [("C-level holder", "", None)]),
    "a partial": (functools.partial(operate), [("partial", "func", None)]),
    "a bound method": (
        types.MethodType(operate, operate),
        [("bound method", "__func__", None), ("bound method", "__self__", None)],
    ),
    "an array": (ARRAY, [("C-level holder", "[1]", None), ("C-level holder", "[2]", None)]),
    "a class": (Owner, []),
    "a tuple of a running call": ((operate,), []),
    "an empty list": ([], []),
    "a module": (types, []),
}


@pytest.mark.parametrize("kind", HOLDERS)
def test_a_holder_has_a_place_for_each_reference(kind):
    holder, facts = HOLDERS[kind]
    assert list_facts(holder, operate) == facts


def test_the_base_of_a_view_of_an_array_is_a_place():
    view = ARRAY[1:]
    assert list_facts(view, ARRAY) == [("C-level holder", "base", None)]
    assert list_facts(view, operate)[:2] == [
        ("C-level holder", "[0]", None),
        ("C-level holder", "[1]", None),
    ]


def test_a_container_of_a_derived_class_has_attributes_too():
    table = Table(a=operate)
    table.note = operate
    assert list_facts(table, operate) == [
        ("dict value", "['a']", "a"),
        ("instance attribute", "note", "note"),
    ]


def test_a_partial_around_something_else_is_searched_for_attributes():
    wrapped = functools.partial(len)
    wrapped.note = operate
    names = [name for _, name, _ in list_facts(wrapped, operate)]
    assert names == ["note"]


def list_all_facts(value):
    """Return (kind, name, position, holder, wrapper) of each place in the holders of a value."""
    graph = HolderGraph(HiddenList([value]))
    places = HiddenList()
    for holder in graph.holders(value):
        places.extend(find_places_in(holder, value, graph))
    return [
        (place.kind, place.name, place.position, place.holder, place.wrapper) for place in places
    ]


def test_a_global_name_is_a_place_of_its_module():
    module = sys.modules[__name__]
    facts = list_all_facts(kept_in_module)
    assert facts == [("module attribute", "kept_in_module", "kept_in_module", module, None)]


@pytest.mark.parametrize(("name", "wrapper"), [("static", staticmethod), ("of_class", classmethod)])
def test_a_method_in_a_wrapper_is_an_attribute_of_its_class(name, wrapper):
    function = vars(Owner)[name].__func__
    assert ("class attribute", name, name, Owner, wrapper) in list_all_facts(function)


def test_a_method_is_an_attribute_of_its_class():
    assert list_all_facts(Owner.method) == [("class attribute", "method", "method", Owner, None)]


def test_defaults_are_places_of_their_function():
    value = [1]

    def function(first=1, second=value, *, option=value): ...

    facts = list_all_facts(value)
    assert ("default argument", "__defaults__[1]", 1, function, None) in facts
    assert ("keyword default", "__kwdefaults__['option']", "option", function, None) in facts


def test_the_default_of_two_functions_is_a_place_of_each():
    value = [1]

    def one(first=value): ...

    def two(): ...

    two.__defaults__ = one.__defaults__
    functions = [holder for kind, _, _, holder, _ in list_all_facts(value) if "default" in kind]
    assert sorted(function.__name__ for function in functions) == ["one", "two"]


def test_an_item_of_a_tuple_of_the_program_is_fixed():
    value = [1]
    rows = [(0, value)]
    assert ("tuple item", "[1]", None, rows[0], None) in list_all_facts(value)


def test_a_variable_of_a_closure_belongs_to_all_its_functions():
    def make():
        value = [1]

        def one():
            return value

        def two():
            return value

        return one, two

    one, two = make()
    value = one.__closure__[0].cell_contents
    graph = HolderGraph(HiddenList([value]))
    (place,) = find_places_in(one.__closure__[0], value, graph)
    assert (place.kind, place.name, place.reason) == ("closure cell", "value", "")
    assert place.container is one.__closure__[0]
    assert sorted(function.__name__ for function in place.holder) == ["one", "two"]
    assert two() is value


def test_the_class_in_the_cell_of_super_is_fixed():
    class Derived(Owner):
        def method(self):
            return super().method()

    cell = Derived.method.__closure__[0]
    graph = HolderGraph(HiddenList([Derived]))
    (place,) = find_places_in(cell, Derived, graph)
    assert place.name == "__class__"
    assert place.reason
