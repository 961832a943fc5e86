"""One place that holds a reference: how to read it, how to write it, how to put it back.

A place never runs code of the object that it holds: it compares by identity, and reads and
writes through the methods of the built-in types. Where Python offers no way to write, the place
is `Fixed` and says why. Here: the record itself and the containers; the places of a module or a
class are in `namespaces`, those of a function in `callables`.
"""

from collections import deque

from helpers.capture.cpython.objects import pairs
from helpers.model.bindings import Binding, join
from helpers.safety.arguments import is_a, is_exactly, kind_of
from helpers.safety.original_builtins import BUILTINS, Own

__builtins__ = BUILTINS

MISSING = type("Missing", (Own,), {"__slots__": (), "__repr__": lambda self: "nothing"})()


class Place(Own):
    """A reference held by `container` under `name`.

    `holder` is the object whose path names the owner. `owners` are the texts of that path, more
    than one only for a closure cell that several functions share.
    """

    __slots__ = ("kind", "container", "holder", "name", "scan", "owners", "reason")

    def __init__(self, kind, container, name, holder=None, reason=""):
        self.kind, self.container, self.name, self.reason = kind, container, name, reason
        self.holder = container if holder is None else holder
        self.scan, self.owners = False, ()

    @property
    def key(self) -> tuple[int, str]:
        """What makes two records of one place equal within this process."""
        return id(self.container), self.name

    @property
    def paths(self) -> tuple[str, ...]:
        """Every dotted path under which `keep` and `only` may name this place."""
        joint = self.binding.path
        return tuple(dict.fromkeys((joint, *(join(owner, self.name) for owner in self.owners))))

    @property
    def binding(self) -> Binding:
        """The row of this place."""
        owner = " and ".join(self.owners[:3]) + (" and others" if len(self.owners) > 3 else "")
        return Binding(self.kind, owner, self.name, self.scan, not self.reason, self.reason)

    def get(self):
        """Return what the place holds now, MISSING where the place is gone."""
        return MISSING

    def put(self, value) -> None:
        """Make the place hold `value`; TypeError where Python refuses."""
        raise TypeError(f"{self.binding.path} cannot be rebound: {self.reason}")

    def state(self):
        """Return what `settle` needs beside the old value."""

    def settle(self, state) -> None:
        """Undo what a write did beside writing."""


class Fixed(Place):
    """A place that Python shows but does not let anybody write."""

    __slots__ = ()


class Item(Place):
    """The value under a key of a dict: plain dicts and the namespaces of instances."""

    __slots__ = ("at",)

    def __init__(self, kind, container, at, holder=None, name=None):
        super().__init__(kind, container, label(at) if name is None else name, holder)
        self.at = at

    @property
    def key(self):
        """One place per key of the dict, whatever it is called."""
        return id(self.container), f"key {self.at if type(self.at) is str else id(self.at)}"

    def get(self):
        """Return the value; a key that could bring its own hash is compared by identity."""
        if is_exactly(self.at, *_PLAIN_KEYS):
            return dict.get(self.container, self.at, MISSING)
        found = pairs(self.container)
        return next((value for key, value in found if key is self.at), MISSING)

    def put(self, value) -> None:
        """Write the value under the key that is there already, so the order stays.

        TypeError, and nothing changed, where the key's hash has changed since: the dict takes the
        key for another one, and would hold both.
        """
        size = dict.__len__(self.container)
        dict.__setitem__(self.container, self.at, value)
        if dict.__len__(self.container) > size:
            dict.popitem(self.container)  # the last one in; no hash is asked for
            raise TypeError("the key is no longer found by its hash")


_PLAIN_KEYS = (str, int, bool, bytes, type(None))


class ListItem(Place):
    """An index of a list or a deque."""

    __slots__ = ("at", "base")

    def __init__(self, container, at):
        self.base = deque if is_a(container, deque) else list
        super().__init__(f"{self.base.__name__} item", container, f"[{at}]")
        self.at = at

    def get(self):
        """Return the item, MISSING where the list has become too short."""
        short = self.base.__len__(self.container) <= self.at
        return MISSING if short else self.base.__getitem__(self.container, self.at)

    def put(self, value) -> None:
        """Replace the item."""
        self.base.__setitem__(self.container, self.at, value)


class SetMember(Place):
    """A member of a set: found by its hash, so replaced by leaving and joining."""

    __slots__ = ("member", "leaves")

    def __init__(self, container, member):
        super().__init__("set member", container, "{member}")
        self.member, self.leaves = member, True

    def get(self):
        """Return the member as long as the set holds it."""
        here = any(thing is self.member for thing in list(set.__iter__(self.container)))
        return self.member if here else MISSING

    def put(self, value) -> None:
        """Swap the member; TypeError, and nothing changed, where `value` has no hash.

        What was a member before the swap stays one when the swap is undone.
        """
        size = set.__len__(self.container)
        set.add(self.container, value)
        joined = set.__len__(self.container) > size
        if self.leaves:
            set.discard(self.container, self.member)
        self.member, self.leaves = value, joined


def label(key) -> str:
    """Return `['key']` for a string, `[3]` for a number, the name of the type for the rest."""
    plain = is_exactly(key, str, int, bool, type(None))
    return f"[{key!r}]" if plain else f"[<{kind_of(key)}>]"
