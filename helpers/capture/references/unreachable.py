"""Holders of an object -> those in garbage: cycles of references that only the collector frees.

The method is the collector's own (`update_refs`, `subtract_refs`, Modules/gcmodule.c), on the few
objects above a holder. The collector itself must not run: it would free what is looked at.
"""

import gc
import sys
import types
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ...safety.arguments import real_isinstance
from ...safety.restoring import Own
from .places import HiddenList

MOST_CLIMBED = 3000  # objects above the holders; of more nothing is said
_OUR_OWN = 2  # references that a count itself makes: the variable and the argument


@contextmanager
def no_collection() -> Iterator[None]:
    """Keep the collector from running by itself in the block: what it frees could not be found."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def find_unreachable(
    holders: HiddenList, is_root: Callable, known_parents: dict[int, HiddenList], ours: HiddenList
) -> set[int]:
    """Return the ids of those `holders`, and of what holds them, that nothing else reaches.

    `is_root(thing)`: whether it is known to be reachable. `known_parents`: id -> what holds it, as
    far as it was searched. `ours`: the lists of ours that refer to them.
    """
    members = _climb(holders, is_root, known_parents)
    if members is None:
        return set()
    references = Counter()
    for holder in (*members, *ours, members):
        references.update(map(id, gc.get_referents(holder)))
    reachable = HiddenList()
    for thing in members:
        if is_root(thing) or sys.getrefcount(thing) - _OUR_OWN > references[id(thing)]:
            reachable.append(thing)
    unreachable = set(map(id, members)) - set(map(id, reachable))
    while reachable:
        for thing in gc.get_referents(reachable.pop()):
            if id(thing) in unreachable:
                unreachable.discard(id(thing))
                reachable.append(thing)
    return unreachable


def _climb(holders: HiddenList, is_root: Callable, known_parents: dict) -> HiddenList | None:
    """Return the holders and all that holds them, up to what is a root; None if it is too much."""
    members, met = HiddenList(), set()
    level = HiddenList(holders)
    while level:
        unknown, above = HiddenList(), HiddenList()
        for thing in level:
            if id(thing) in met:
                continue
            met.add(id(thing))
            members.append(thing)
            if is_root(thing):
                continue
            if id(thing) in known_parents:
                above.extend(known_parents[id(thing)])
            else:
                unknown.append(thing)
        if len(members) > MOST_CLIMBED:
            return None
        if unknown:
            above.extend(_referrers(unknown))
        level = above
    return members


def _referrers(things: HiddenList) -> HiddenList:
    asked = tuple(things)
    found = gc.get_referrers(*asked)
    return HiddenList(one for one in found if one is not asked and not real_isinstance(one, Own))


def is_always_reachable(thing) -> bool:
    """Return whether this is a module or a class, of which most are reachable."""
    return real_isinstance(thing, type, types.ModuleType) or thing is sys.modules
