"""Holders of an object -> those in garbage: cycles of references that only the collector frees.

The method is the collector's own (`update_refs`, `subtract_refs`, Modules/gcmodule.c), on the few
objects above a holder. An object with more references than the other objects account for is reached
from elsewhere, and so is what it refers to. The collector itself must not run: it would free what
is looked at.
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

MOST_MEMBERS = 3000  # objects above the holders; of more nothing is said
_COUNTING_REFERENCES = 2  # of `sys.getrefcount(member)` itself: the variable and the argument


@contextmanager
def no_collection() -> Iterator[None]:
    """Keep the collector from running by itself in the block: what it frees could not be found."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def find_unreachable(
    holders: HiddenList,
    is_root: Callable[[object], bool],
    known_holders: dict[int, HiddenList],
    own_lists: HiddenList,
) -> set[int]:
    """Return the ids of those holders, and of what holds them, that nothing else reaches.

    Parameters
    ----------
    holders : HiddenList
        The objects to begin with.
    is_root : callable
        `is_root(value)` says whether an object is known to be reachable.
    known_holders : dict of int to HiddenList
        The id of an object -> what holds it, of the objects for which that was searched.
    own_lists : HiddenList
        The lists of the search itself that refer to the holders. Their references do not count.
    """
    members = _find_members(holders, is_root, known_holders)
    if members is None:
        return set()

    # No other variable may refer to a member from here on: it would be one more reference.
    # Count the references that come from the members themselves and from lists of this search.
    inner_counts = Counter()
    for container in (*members, *own_lists, members):
        inner_counts.update(id(referent) for referent in gc.get_referents(container))
    # A member with more references than these is reached from elsewhere.
    reachable = HiddenList()
    for member in members:
        outer_count = sys.getrefcount(member) - _COUNTING_REFERENCES - inner_counts[id(member)]
        if is_root(member) or outer_count > 0:
            reachable.append(member)

    # What a reachable member refers to is reachable, too.
    unreachable_ids = set(map(id, members)) - set(map(id, reachable))
    while reachable:
        for referent in gc.get_referents(reachable.pop()):
            if id(referent) in unreachable_ids:
                unreachable_ids.discard(id(referent))
                reachable.append(referent)
    return unreachable_ids


def _find_members(
    holders: HiddenList,
    is_root: Callable[[object], bool],
    known_holders: dict[int, HiddenList],
) -> HiddenList | None:
    """Return the holders and all that holds them, up to the roots; None if it is too much.

    The arguments are those of `find_unreachable`.
    """
    members = HiddenList()
    visited_ids: set[int] = set()
    level = HiddenList(holders)
    while level:
        unsearched = HiddenList()
        next_level = HiddenList()
        for value in level:
            if id(value) in visited_ids:
                continue
            visited_ids.add(id(value))
            members.append(value)
            if is_root(value):
                continue
            if id(value) in known_holders:
                next_level.extend(known_holders[id(value)])
            else:
                unsearched.append(value)
        if len(members) > MOST_MEMBERS:
            return None
        if unsearched:
            next_level.extend(_find_holders_of_all(unsearched))
        level = next_level
    return members


def _find_holders_of_all(values: HiddenList) -> HiddenList:
    """Return what holds any of these objects, without what belongs to the search."""
    arguments = tuple(values)  # the collector reports this tuple too, as the arguments of the call
    referrers = gc.get_referrers(*arguments)
    return HiddenList(
        referrer
        for referrer in referrers
        if referrer is not arguments and not real_isinstance(referrer, Own)
    )


def is_always_reachable(value: object) -> bool:
    """Return whether this is a module or a class, of which most are reachable."""
    return real_isinstance(value, type, types.ModuleType) or value is sys.modules
