"""Find out which holders of an object are garbage: in cycles of references that only the garbage
collector frees. A *holder* refers to the object. Its *members* are the holder, what refers to the
holder, and so on upwards. The method is the collector's own: a member with more references than
those from other members is reached from elsewhere, and so is everything that it refers to.

See `update_refs` and `subtract_refs` in Modules/gcmodule.c. The collector itself must not run
meanwhile, because it would free what is looked at. A HiddenList is a list that the search for
holders leaves out.
"""

import gc
import sys
import types
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ...safety.arguments import real_isinstance
from ...safety.restoring import HiddenFromSearch
from .places import HiddenList

MOST_MEMBERS = 3000  # objects above the holders; of more nothing is said
_COUNTING_REFERENCES = 2  # of `sys.getrefcount(member)` itself: the variable and the argument


@contextmanager
def no_collection() -> Iterator[None]:
    """Keep the collector from running by itself in the block, where garbage is to be found."""
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
    """Return the ids of the holders that are garbage, and of the garbage that refers to them.

    Parameters
    ----------
    holders : HiddenList
        The objects to begin with.
    is_root : callable
        `is_root(value)` says whether an object is known to be reachable.
    known_holders : dict of int to HiddenList
        The id of an object -> its holders, for the objects whose holders are known already.
    own_lists : HiddenList
        The lists of the search itself that refer to the holders. Their references do not count.
    """
    members = _find_members(holders, is_root, known_holders)
    if members is None:  # there are too many to decide: nothing is called garbage
        return set()

    # No other variable may refer to a member from here on, because references are counted.
    # id of a member -> how many references come from members and from lists of this search.
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
    """Return the holders, what refers to them, and so on upwards, up to the roots.

    The arguments are those of `find_unreachable`. None says that there are more than MOST_MEMBERS.
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
                continue  # it is reachable, whatever refers to it
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
    """Return the objects that refer to any of `values`, without the search's own objects."""
    # The collector also reports this tuple, which has the arguments of the call.
    arguments = tuple(values)
    referrers = gc.get_referrers(*arguments)
    return HiddenList(
        referrer
        for referrer in referrers
        if referrer is not arguments and not real_isinstance(referrer, HiddenFromSearch)
    )


def is_always_reachable(value: object) -> bool:
    """Return whether this is a module or a class, of which most are reachable."""
    return real_isinstance(value, type, types.ModuleType) or value is sys.modules
