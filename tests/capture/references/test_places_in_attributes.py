"""An attribute of an owner that refers to a value is a place of its kind."""

import functools
import types
from collections import defaultdict
from gc import get_referents

import pytest

from helpers.capture.cpython.objects import read_instance_dict
from helpers.capture.references.places import FIXED_REASONS
from helpers.capture.references.places_in_attributes import (
    FIXED_TYPE,
    build_owned_place,
    find_in_instance,
    find_part_kind,
    is_immutable_type,
)

VALUE = [object()]


class Plain:
    def __init__(self, **attributes):
        vars(self).update(attributes)


class Slotted:
    __slots__ = ("empty", "full")

    def __init__(self):
        self.full = VALUE


class Both(Slotted):
    pass


@functools.cache
def cached(value):
    return value


def function(*, option=None): ...


function.note = "an attribute"


def list_facts(places):
    return [(place.kind, place.name, place.reason) for place in places]


def test_a_type_of_c_cannot_be_changed():
    assert is_immutable_type(int) and is_immutable_type(types.FunctionType)
    assert not is_immutable_type(Plain)


PLAIN = Plain(a=1)
PARTS = {
    "a module": (types, vars(types), "hidden module attribute"),
    "a function's attributes": (function, vars(function), "function attribute"),
    "a cache's attributes": (cached, vars(cached), "function attribute"),
    "keyword defaults": (function, function.__kwdefaults__, "keyword default"),
    "an instance": (PLAIN, vars(PLAIN), "instance attribute"),
    "another dict of an instance": (PLAIN, {}, ""),
    "another dict of a module": (types, {}, ""),
    "another dict of a function": (function, {}, ""),
    "another dict of a class": (Plain, {}, ""),
    "an owner without attributes": (3, {}, ""),
}


@pytest.mark.parametrize("kind", PARTS)
def test_a_dict_that_is_a_part_of_its_owner_has_a_kind(kind):
    owner, part, expected = PARTS[kind]
    assert find_part_kind(owner, part) == expected


def test_the_dict_of_a_class_is_the_one_behind_its_view():
    (class_dict,) = [part for part in get_referents(vars(Plain)) if type(part) is dict]
    assert find_part_kind(Plain, class_dict) == "class attribute"


# (kind, owner, key) -> name of the place, its reason, and whether the owner is its container
OWNED = [
    ("class attribute", Plain, "a", "a", "", True),
    ("class attribute", int, "real", "real", FIXED_TYPE, True),
    ("keyword default", function, "option", "__kwdefaults__['option']", "", False),
    ("instance attribute", PLAIN, "a", "a", "", False),
    ("instance attribute", PLAIN, 3, "[3]", "", False),
    ("function attribute", function, "note", "note", "", False),
]


@pytest.mark.parametrize(("kind", "owner", "key", "name", "reason", "is_container"), OWNED)
def test_a_place_in_a_part_is_named_as_its_owner_s(kind, owner, key, name, reason, is_container):
    part = {}
    place = build_owned_place(kind, owner, part, key)
    assert (place.kind, place.name, place.reason) == (kind, name, reason)
    assert place.position == key
    assert place.holder is owner
    assert place.container is (owner if is_container else part)


IN_SLOT = FIXED_REASONS["C-level holder"]


def test_attributes_and_slots_of_an_instance_are_found():
    plain = Plain(a=VALUE, b=list(VALUE), c=VALUE)
    assert list_facts(find_in_instance(plain, VALUE)) == [
        ("instance attribute", "a", ""),
        ("instance attribute", "c", ""),
    ]
    assert list_facts(find_in_instance(Slotted(), VALUE)) == [
        ("instance attribute", "full", IN_SLOT)
    ]
    assert find_in_instance(Both(), VALUE)[0].name == "full"


def test_what_an_instance_does_not_refer_to_is_not_found():
    assert find_in_instance(Plain(a=1), VALUE) == []
    assert find_in_instance(object(), VALUE) == []
    assert find_in_instance(Plain(), Plain) == []


def test_the_field_of_a_container_is_found_and_its_items_are_not():
    def make(): ...

    table = defaultdict(make, {"item": make})
    assert list_facts(find_in_instance(table, make)) == [
        ("instance attribute", "default_factory", IN_SLOT)
    ]


def test_a_field_that_a_plain_getter_reads_is_found():
    error = ValueError()
    error.__cause__ = cause = KeyError()
    names = [place.name for place in find_in_instance(error, cause)]
    assert set(names) == {"__cause__"}
    method = "".join
    assert list_facts(find_in_instance(method, method.__self__)) == [
        ("instance attribute", "__self__", IN_SLOT)
    ]


def test_a_variable_of_a_paused_generator_is_found():
    def paused():
        kept = VALUE
        yield
        return kept

    generator = paused()
    next(generator)
    (place,) = find_in_instance(generator, VALUE)
    assert "kept" in place.name


def test_a_reference_in_c_without_a_name_is_described():
    (cache,) = [part for part in get_referents(cached) if part == {} and part is not vars(cached)]
    assert list_facts(find_in_instance(cached, cache)) == [
        ("C-level holder", "(its cache)", IN_SLOT)
    ]
    iterator = iter(VALUE)
    assert list_facts(find_in_instance(iterator, VALUE)) == [
        ("C-level holder", "(inside the C object)", IN_SLOT)
    ]


def test_attributes_are_those_of_the_instance_s_own_dict():
    plain = Plain(a=VALUE)
    (place,) = find_in_instance(plain, VALUE)
    assert place.container is read_instance_dict(plain)
    assert place.holder is plain
    assert place.get() is VALUE
