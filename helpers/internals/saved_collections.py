"""Copy the items of a mutable collection of torch, and put them back into the same object later.

A collection is a dict, a list, a set, a deque, or torch's `ExactWeakKeyDictionary`: a dict with
weak references to its keys, which are compared by identity (torch/_dynamo/utils.py).
"""

import weakref
from collections import deque
from collections.abc import Iterable

from . import torch_private


class SavedCollection:
    """A collection, with a copy of its items and of the dicts and lists among a dict's values."""

    def __init__(self, collection: dict | list | set | deque):
        """Note the items that a collection has now."""
        self.collection = collection
        if isinstance(collection, dict):
            self.items = dict(collection)
            #: The saved collections among the values of the dict.
            self.inner = _save_inner(collection.values())
        else:
            self.items = list(collection)
            self.inner = []

    def restore(self) -> None:
        """Give the collection, and the collections in it, the items that they had."""
        for saved in self.inner:
            saved.restore()
        self.collection.clear()  # the object itself stays, because torch refers to it
        if isinstance(self.collection, (list, deque)):
            self.collection.extend(self.items)
        else:  # a dict or a set
            self.collection.update(self.items)


class SavedWeakDict:
    """An ExactWeakKeyDictionary of torch with a copy of its items.

    Torch's class has two dicts: `refs` maps the id of a key to a weak reference to the key, and
    `values` maps the id to the value.
    """

    def __init__(self, weak_dict):
        """Note the items that the dict has now, without keeping their keys alive."""
        self.weak_dict = weak_dict
        #: id of a key -> (weak reference to the key, value)
        self.items: dict[int, tuple[weakref.ref, object]] = {}
        # A list, because a key that is freed meanwhile removes its item.
        for key_id, reference in list(weak_dict.refs.items()):
            key = reference()
            if key is not None and key_id in weak_dict.values:
                # A new reference. Torch's own one has a callback that removes the item, and would
                # call it even after torch has removed the item itself.
                self.items[key_id] = weakref.ref(key), weak_dict.values[key_id]
        self.inner = _save_inner(value for _, value in self.items.values())

    def restore(self) -> None:
        """Give the dict the items that it had, without those whose key has been freed since."""
        for saved in self.inner:
            saved.restore()

        # Remove what was added since.
        for key_id, reference in list(self.weak_dict.refs.items()):
            if not self._has_key(key_id, reference()):
                self.weak_dict._remove_id(key_id)

        for reference, value in self.items.values():
            key = reference()
            if key is not None:
                self.weak_dict[key] = value

    def _has_key(self, key_id: int, key: object) -> bool:
        """Return whether the saved items have this key.

        The id alone does not say so, because Python may give the id of a freed key to another one.
        """
        if key_id not in self.items:
            return False
        reference, _ = self.items[key_id]
        return reference() is key


def save_collection(collection) -> SavedCollection | SavedWeakDict | None:
    """Return an object whose `restore()` gives a collection its present items back.

    None if the argument is no collection of a kind that this module knows.
    """
    if type(collection) is torch_private.dynamo_utils.ExactWeakKeyDictionary:
        return SavedWeakDict(collection)
    if isinstance(collection, (dict, list, set, deque)):
        return SavedCollection(collection)
    return None


def _save_inner(values: Iterable) -> list[SavedCollection]:
    """Return the saved collections among the values of a dict: dicts and lists."""
    return [SavedCollection(value) for value in values if isinstance(value, (dict, list))]
