"""What an object contained before -> its changes by their places, and the same object restored."""

import sys

import pytest

from helpers.capture.tensorflow.kept_state import (
    BY_ATTRIBUTE,
    BY_ITEM,
    BY_NAME,
    GONE,
    LibraryAttributes,
    snapshot_owner,
)


def cell_of(value):
    return (lambda: value).__closure__[0]


def set_item(owner, key, value):
    owner[key] = value


def fill(cell, value):
    cell.cell_contents = value


CHANGES = {
    "an item of a dict": ({"a": 1}, BY_ITEM, lambda d: set_item(d, "a", 2), {"o['a']": 2}),
    "a new item": ({"a": 1}, BY_ITEM, lambda d: set_item(d, "b", 2), {"o['b']": 2}),
    "an item that is gone": ({"a": 1}, BY_ITEM, dict.clear, {"o['a']": GONE}),
    "an attribute": ({"a": 1}, BY_ATTRIBUTE, lambda d: set_item(d, "a", 2), {"o.a": 2}),
    "a global": ({"a": 1}, BY_NAME, lambda d: set_item(d, "a", 2), {"a": 2}),
    "an item of a list": ([1, 2], BY_ITEM, lambda x: set_item(x, 0, 5), {"o[0]": 5}),
    "a longer list": ([1], BY_ITEM, lambda x: x.append(2), {"o": [1, 2]}),
    "a set": ({1}, BY_ITEM, lambda x: x.add(2), {"o": {1, 2}}),
    "a cell": (cell_of(1), "n", lambda cell: fill(cell, 2), {"n": 2}),
}


def contents(owner):
    return owner.cell_contents if hasattr(owner, "cell_contents") else owner


@pytest.mark.parametrize("name", CHANGES)
def test_each_change_is_named_by_its_place_and_restored(name):
    owner, pattern, change, expected = CHANGES[name]
    snapshot = snapshot_owner("o", pattern, owner)
    before = contents(owner) if hasattr(owner, "cell_contents") else owner.copy()
    assert not snapshot.find_changes()
    change(owner)
    assert snapshot.find_changes() == expected
    assert snapshot.restore() == [] and contents(owner) == before
    assert not snapshot.find_changes()


def test_an_equal_object_of_a_class_is_another_one():
    class Same:
        def __eq__(self, other):
            return True

        __hash__ = None

    owner = {"text": "a b", "object": Same()}
    snapshot = snapshot_owner("o", BY_ITEM, owner)
    owner["text"] = " ".join(["a", "b"])  # equal plain values are the same
    owner["object"] = Same()
    assert list(snapshot.find_changes()) == ["o['object']"]


def test_the_order_of_a_dict_is_restored_and_a_name_that_python_adds_stays():
    owner = {"a": 1, "b": 2}
    snapshot = snapshot_owner("o", BY_NAME, owner)
    owner["a"] = owner.pop("a")
    owner["__warningregistry__"] = {}
    assert not snapshot.find_changes()
    snapshot.restore()
    assert list(owner) == ["a", "b", "__warningregistry__"]


def test_attributes_of_a_library_are_restored_and_returned(monkeypatch):
    monkeypatch.setattr(sys, "of_kept_state", 1, raising=False)
    attributes = LibraryAttributes(sys, {"of_kept_state", "not_there"})
    snapshot = snapshot_owner("sys", BY_ATTRIBUTE, attributes)
    sys.of_kept_state = 2
    assert snapshot.find_changes() == {"sys.of_kept_state": 2}
    assert snapshot.restore() == [(sys, "of_kept_state", 2)] and sys.of_kept_state == 1
