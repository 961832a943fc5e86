"""Collections of torch's: what is in them is noted, and put back after a block.

They are dicts, lists, sets, deques, and dicts whose keys are weak and compared by identity
(torch/_dynamo/utils.py: `ExactWeakKeyDictionary`).
"""

import weakref
from collections import deque

from . import torch_private


class KeptCollection:
    """A collection of torch's, and what was in it, down to collections in a dict."""

    def __init__(self, owner):
        self.owner = owner
        self.before = dict(owner) if isinstance(owner, dict) else list(owner)
        self.inside = _inside(owner.values() if isinstance(owner, dict) else ())

    def put_back(self) -> None:
        """Make the collection what it was."""
        for collection in self.inside:
            collection.put_back()
        self.owner.clear()
        add = self.owner.extend if isinstance(self.owner, (list, deque)) else self.owner.update
        add(self.before)


class KeptWeakDict:
    """A dict with weak keys, and what was in it. What was freed since then is not put back."""

    def __init__(self, owner):
        self.owner = owner
        keys = ((at, reference()) for at, reference in [*owner.refs.items()])
        # torch's own references, if kept, would call back after torch has dropped them
        self.before = {
            at: (weakref.ref(key), owner.values[at])
            for at, key in keys
            if key is not None and at in owner.values
        }
        self.inside = _inside(value for _, value in self.before.values())

    def put_back(self) -> None:
        """Make the dict what it was, for the keys that are still there."""
        for collection in self.inside:
            collection.put_back()
        for at, reference in [*self.owner.refs.items()]:
            if at not in self.before or reference() is not self.before[at][0]():
                self.owner._remove_id(at)
        for reference, value in self.before.values():
            if (key := reference()) is not None:
                self.owner[key] = value


def kept(owner) -> KeptCollection | KeptWeakDict | None:
    """Return what puts a collection back; None for anything else."""
    if type(owner) is torch_private.dynamo_utils.ExactWeakKeyDictionary:
        return KeptWeakDict(owner)
    return KeptCollection(owner) if isinstance(owner, (dict, list, set, deque)) else None


def _inside(values) -> list[KeptCollection]:
    return [KeptCollection(value) for value in values if isinstance(value, (dict, list))]
