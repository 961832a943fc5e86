"""A place reads, writes and names one reference."""

import sys
from collections import UserDict, deque
from functools import partial
from types import ModuleType

import pytest

from helpers.capture.references.place_access import MISSING
from helpers.capture.references.places import (
    FIXED_REASONS,
    MOST_OWNERS,
    HiddenList,
    Place,
    build_module_place,
    find_keys,
    format_key,
)
from helpers.model.reference_records import Binding

OLD, NEW = object(), object()


def make_function(first=1, second=OLD):
    kept = OLD

    def inner():
        return kept

    return first, second, inner


class Owner:
    attribute = OLD

    @staticmethod
    def static(): ...

    @classmethod
    def of_class(cls): ...


def make_places():
    """Return kind -> a Place of that kind which refers to OLD, and a function that reads it."""
    namespace = {"a": OLD}
    module = ModuleType("app")
    module.op = OLD
    items = [1, OLD]
    queue = deque([OLD, 2])
    members = {OLD, 3}
    cell = make_function()[2].__closure__[0]
    holder = partial(OLD.__eq__, 5, key=6)
    owner = type("Owner", (), {"attribute": OLD})

    def defaults(first=1, second=OLD): ...

    return {
        "dict value": (
            Place("dict value", namespace, "['a']", position="a"),
            lambda: namespace["a"],
        ),
        "module attribute": (build_module_place("app", module, "op"), lambda: module.op),
        "class attribute": (
            Place("class attribute", owner, "attribute", position="attribute"),
            lambda: owner.attribute,
        ),
        "list item": (Place("list item", items, "[1]", position=1), lambda: items[1]),
        "deque item": (Place("deque item", queue, "[0]", position=0), lambda: queue[0]),
        "set member": (
            Place("set member", members, "{member}", position=OLD),
            lambda: next(iter(members - {3})),
        ),
        "closure cell": (Place("closure cell", cell, "kept"), lambda: cell.cell_contents),
        "default argument": (
            Place("default argument", defaults, "__defaults__[1]", position=1),
            lambda: defaults.__defaults__[1],
        ),
        "instance attribute": (
            Place("instance attribute", namespace, "a", holder=holder, position="a"),
            lambda: namespace["a"],
        ),
    }


@pytest.mark.parametrize("kind", make_places())
def test_a_place_reads_and_writes_its_one_reference(kind):
    place, read = make_places()[kind]
    assert place.kind == kind
    assert place.get() is OLD is read()
    place.put(NEW)
    assert place.get() is NEW is read()


def test_the_neighbours_of_a_written_place_stay():
    def function(first=1, second=2, third=3): ...

    Place("default argument", function, "", position=1).put(NEW)
    assert function.__defaults__ == (1, NEW, 3)

    members = {1, 2}
    Place("set member", members, "", position=1).put(3)
    assert members == {2, 3}


def test_a_partial_keeps_its_arguments_and_attributes():
    holder = partial(len, 5, key=6)
    holder.note = "kept"
    place = Place("partial", holder, "func")
    assert place.get() is len
    place.put(max)
    assert (holder.func, holder.args, holder.keywords) == (max, (5,), {"key": 6})
    assert holder.note == "kept"


@pytest.mark.parametrize(("name", "wrapper"), [("static", staticmethod), ("of_class", classmethod)])
def test_a_method_of_a_class_is_written_in_a_wrapper_of_its_kind(name, wrapper):
    owner = type("Copy", (), dict(vars(Owner)))
    place = Place("class attribute", owner, name, position=name, wrapper=wrapper)
    assert place.get() is vars(Owner)[name].__func__

    def other(*args): ...

    place.put(other)
    assert type(vars(owner)[name]) is wrapper
    assert place.get() is other

    setattr(owner, name, NEW)
    assert place.get() is NEW


GONE = {
    "an index": Place("list item", [], "[0]", position=0),
    "a key": Place("dict value", {}, "['a']", position="a"),
    "a member": Place("set member", {1}, "{member}", position=2),
    "an attribute": Place("class attribute", Owner, "none", position="none"),
    "an item of a tuple": Place("tuple item", (OLD,), "[0]", position=0),
    "a place with a reason": Place("list item", [OLD], "[0]", position=0, reason="fixed"),
}


@pytest.mark.parametrize("kind", GONE)
def test_a_place_that_is_gone_or_fixed_is_missing(kind):
    assert GONE[kind].get() is MISSING


def test_what_python_refuses_is_raised_and_changes_nothing():
    place = Place("class attribute", int, "real", position="real")
    with pytest.raises(TypeError):
        place.put(NEW)
    assert place.get() is vars(int)["real"]


def test_a_new_place_has_no_owners_yet_and_its_container_as_holder():
    items = [OLD]
    place = Place("list item", items, "[0]", position=0)
    assert place.holder is items
    assert (place.owners, place.scan, place.was_cached, place.errors) == ((), False, False, ())
    assert (place.reason, place.wrapper) == ("", None)
    assert Place("list item", items, "[0]", holder=OLD).holder is OLD


@pytest.mark.parametrize("kind", FIXED_REASONS)
def test_a_kind_that_is_never_written_has_its_reason(kind):
    place = Place(kind, [], "__self__")
    assert place.reason == FIXED_REASONS[kind].format("__self__")
    assert not place.binding.rebindable
    assert Place(kind, [], "__self__", reason="another").reason == "another"


# owners -> what the row calls them
OWNERS = {
    (): "",
    ("app",): "app",
    ("a", "b"): "a and b",
    ("a", "b", "c"): "a and b and c",
    ("a", "b", "c", "d"): "a and b and c and others",
}


@pytest.mark.parametrize("owners", OWNERS)
def test_a_row_names_the_first_owners(owners):
    place = Place("closure cell", OLD, "kept")
    place.owners = owners
    assert place.binding.owner == OWNERS[owners]
    assert MOST_OWNERS == 3


@pytest.mark.parametrize("reason", ["", "fixed"])
@pytest.mark.parametrize("is_garbage", [False, True])
@pytest.mark.parametrize("is_in_scan", [False, True])
def test_a_row_has_the_facts_of_its_place(reason, is_garbage, is_in_scan):
    place = Place("list item", [], "[0]")
    place.owners = ("app.items",)
    place.scan = is_in_scan
    assert place.build_binding(reason, is_garbage) == Binding(
        kind="list item",
        owner="app.items",
        name="[0]",
        scan=is_in_scan,
        rebindable=not reason and not is_garbage,
        reason=reason,
        garbage=is_garbage,
    )


def test_the_row_of_a_place_is_of_no_garbage():
    place = Place("list item", [], "[0]")
    assert place.binding == place.build_binding("")
    assert place.binding.rebindable and not place.binding.garbage


def test_every_owner_gives_a_place_a_path():
    place = Place("closure cell", OLD, "kept")
    place.owners = ("app.one", "app.two")
    assert place.paths == (place.binding.path, "app.one.kept", "app.two.kept")


def test_two_places_of_one_reference_have_one_key():
    namespace, other = {}, {}
    assert Place("list item", namespace, "[0]").key == Place("x", namespace, "[0]").key
    assert Place("list item", namespace, "[0]").key != Place("list item", namespace, "[1]").key
    assert Place("list item", namespace, "[0]").key != Place("list item", other, "[0]").key


def test_keys_of_a_dict_with_one_name_are_told_apart():
    namespace = {}
    first, second = (1, 2), (3, 4)

    def make_key(position):
        return Place("dict value", namespace, "[<tuple>]", position=position).key

    assert make_key(first) == make_key(first) != make_key(second)
    assert make_key("a" * 2) == make_key("b" * 2)
    assert make_key(1000) == make_key(2000)


@pytest.mark.parametrize("sequence_type", [list, deque])
def test_a_place_follows_its_value_to_an_index_that_no_other_place_has(sequence_type):
    kind = f"{sequence_type.__name__} item"
    sequence = sequence_type([1, OLD, OLD, OLD])
    place = Place(kind, sequence, "[0]", position=0)
    place.update_position(OLD, [])
    assert place.position == 1

    place.position = 0
    elsewhere = Place(kind, sequence_type([OLD] * 4), "", position=2)
    place.update_position(OLD, [Place(kind, sequence, "", position=1), elsewhere])
    assert place.position == 2


def test_a_place_that_has_its_value_or_cannot_find_it_stays():
    items = [OLD, OLD]
    place = Place("list item", items, "[1]", position=1)
    place.update_position(OLD, [])
    assert place.position == 1
    place.update_position(NEW, [])
    assert place.position == 1

    by_key = Place("dict value", {0: NEW, 1: OLD}, "[0]", position=0)
    by_key.update_position(OLD, [])
    assert by_key.position == 0


def test_a_global_name_is_a_place_of_the_scan():
    place = build_module_place("pkg.app", sys, "path")
    assert (place.kind, place.name, place.position) == ("module attribute", "path", "path")
    assert place.container is vars(sys)
    assert place.holder is sys
    assert place.owners == ("pkg.app",)
    assert place.scan is True
    assert place.was_cached is False
    assert place.get() is sys.path


def test_keys_are_found_by_identity():
    twin = [1]
    value = [1]
    assert find_keys({"a": value, "b": twin, 3: value}, value) == ["a", 3]
    assert find_keys({}, value) == []


def test_a_key_is_formatted_without_its_own_code():
    class Loud:
        def __repr__(self):
            raise AssertionError("the repr ran")

    formatted = {"a": "['a']", 3: "[3]", True: "[True]", None: "[None]", int: "[int]"}
    assert {key: format_key(key) for key in formatted} == formatted
    assert format_key((1,)) == "[<tuple>]"
    assert format_key(Loud()) == "[<Loud>]"
    assert format_key(1.5) == "[<float>]"
    assert format_key(UserDict) == "[UserDict]"


def test_a_hidden_list_is_a_list():
    assert HiddenList([1, 2]) == [1, 2]
