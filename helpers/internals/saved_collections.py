"""Collections of torch's: their items are noted, and restored after a block.

They are dicts, lists, sets, deques, and dicts whose keys are weak and compared by identity
(torch/_dynamo/utils.py: `ExactWeakKeyDictionary`).
"""

import weakref
from collections import deque
from collections.abc import Iterable

from . import torch_private


class SavedCollection:
    """A collection of torch's with its items at a moment; of a dict, also those of its values."""

    def __init__(self, collection: dict | list | set | deque):
        """Note the items that a collection has now."""
        self.collection = collection
        if isinstance(collection, dict):
            self.items = dict(collection)
            self.inner = _save_inner(collection.values())
        else:
            self.items = list(collection)
            self.inner = []

    def restore(self) -> None:
        """Give the collection the items that it had."""
        for saved in self.inner:
            saved.restore()
        self.collection.clear()
        if isinstance(self.collection, (list, deque)):
            self.collection.extend(self.items)
        else:
            self.collection.update(self.items)


class SavedWeakDict:
    """An ExactWeakKeyDictionary of torch's with its items at a moment."""

    def __init__(self, weak_dict):
        """Note the items that the dict has now, without keeping their keys alive."""
        self.weak_dict = weak_dict
        #: id of a key -> a reference to the key, and the value.
        self.items: dict[int, tuple[weakref.ref, object]] = {}
        # A list, because a key that is freed meanwhile removes its item.
        for key_id, reference in list(weak_dict.refs.items()):
            key = reference()
            if key is not None and key_id in weak_dict.values:
                # Not torch's own reference: it would call back after torch has dropped it.
                self.items[key_id] = weakref.ref(key), weak_dict.values[key_id]
        self.inner = _save_inner(value for _, value in self.items.values())

    def restore(self) -> None:
        """Give the dict the items that it had, less those whose key has been freed since."""
        for saved in self.inner:
            saved.restore()

        for key_id, reference in list(self.weak_dict.refs.items()):
            if not self._has_key(key_id, reference()):
                self.weak_dict._remove_id(key_id)

        for reference, value in self.items.values():
            key = reference()
            if key is not None:
                self.weak_dict[key] = value

    def _has_key(self, key_id: int, key: object) -> bool:
        """Return whether this key is in the saved items: an id is used again once it is free."""
        if key_id not in self.items:
            return False
        reference, _ = self.items[key_id]
        return reference() is key


def save_collection(collection) -> SavedCollection | SavedWeakDict | None:
    """Return an object that can restore this collection; None if it is no collection."""
    if type(collection) is torch_private.dynamo_utils.ExactWeakKeyDictionary:
        return SavedWeakDict(collection)
    if isinstance(collection, (dict, list, set, deque)):
        return SavedCollection(collection)
    return None


def _save_inner(values: Iterable) -> list[SavedCollection]:
    """Return the saved collections among the values of a dict: dicts and lists."""
    return [SavedCollection(value) for value in values if isinstance(value, (dict, list))]
