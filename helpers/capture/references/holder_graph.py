"""Find the objects that refer to some target objects (the *holders*), then the holders of these,
and so on upwards, until each has a name, as a module has. The garbage collector is asked for them
(`gc.get_referrers`). A *level* is a list of objects that are equally many steps above the targets.
A HiddenList is a list that the search does not report as a holder.

Some containers are not tracked by the collector; they are searched separately. A plain tuple or
list of objects that is made here would be one more holder. Therefore all lists are HiddenLists, and
no generator or closure may refer to a target meanwhile.
"""

import types
from gc import get_objects, get_referents, get_referrers, is_tracked

from ...safety.arguments import real_isinstance
from ...safety.restoring import HiddenFromSearch
from ..cpython.objects import read_namespace
from .loaded_modules import find_module_names, find_singledispatch_names
from .numpy_arrays import find_array_type, list_array_contents
from .places import HiddenList, Place
from .unreachable import find_unreachable, is_always_reachable

LEVELS = 8  # from a target upwards
FEW = 40  # objects to ask the collector about at once; for more, one pass over the heap is faster
# What holds these is not asked: a function has a name, and calls and tracebacks end by themselves.
_LAST_HOLDERS = (types.FrameType, types.TracebackType, types.FunctionType)


class HolderGraph(HiddenFromSearch):
    """The holders of some targets, and what holds these, as far as the search went.

    Attributes
    ----------
    names_by_id : dict of int to str
        The id of a dict that has a name of its own -> that name, such as a module's.
    left_out_count : int
        How many direct holders were not followed, because there were too many.
    is_closed : bool
        Whether the holders all hold one another, and none of them has a name.
    """

    def __init__(self, targets: HiddenList, most: int = 0):
        """Search the holders of `targets`.

        `most` is the largest number of direct holders to follow, 0 for no limit. Only with a limit
        are NumPy arrays searched that the collector does not track.
        """
        self.names_by_id = find_module_names() | find_singledispatch_names()
        self.left_out_count = 0
        self._targets = targets
        #: The id of an object -> its holders; only of objects whose holders were searched.
        self._holders_by_id: dict[int, HiddenList] = {}
        #: Every object that was found. The list keeps their ids valid.
        self._found = HiddenList(targets)
        #: The ids of holders that nothing reaches.
        self._unreachable: set[int] = set()

        self._search(most)
        # The search stops at an object that has a name. If it went on from every holder, no holder
        # has a name, and the holders only hold one another.
        holder_ids = {id(holder) for holders in self._holders_by_id.values() for holder in holders}
        self.is_closed = self._holders_by_id.keys() >= holder_ids

    def holders(self, value: object) -> HiddenList:
        """Return the holders of an object that were found; none if it was not searched."""
        return self._holders_by_id.get(id(value), HiddenList())

    def mark_garbage(self) -> None:
        """Find out which holders are garbage, which means that nothing in the program reaches them.

        The method counts references to the holders, and subtracts those from this graph's own
        lists. So it must run before anything else, such as a Place, refers to a holder.
        """
        direct_holders = HiddenList(
            holder for target in self._targets for holder in self.holders(target)
        )
        own_lists = HiddenList([self._found, direct_holders, *self._holders_by_id.values()])
        self._unreachable = find_unreachable(
            direct_holders, self._is_root, self._holders_by_id, own_lists
        )

    def is_garbage(self, place: Place) -> bool:
        """Return whether nothing reaches a place of the target: only the collector can free it."""
        return id(place.container) in self._unreachable or id(place.holder) in self._unreachable

    def _is_root(self, value: object) -> bool:
        """Return whether an object is known to be reachable, so that it need not be proved.

        Targets are reachable because the caller has them, and named dicts because a module does.
        """
        if any(value is target for target in self._targets):
            return True
        return id(value) in self.names_by_id or is_always_reachable(value)

    def _search(self, most: int) -> None:
        """Fill `_holders_by_id` level by level, upwards from the targets.

        `most` limits the number of holders of the targets themselves; 0 is no limit.
        """
        untracked_arrays = HiddenList()
        if most and find_array_type() is not None:
            untracked_arrays.extend(
                value for value in _find_untracked() if list_array_contents(value)
            )

        level = self._targets
        for depth in range(LEVELS):
            # The id of each object of this level -> its holders, of which none is known yet.
            holders_by_id = {id(value): HiddenList() for value in level}
            self._holders_by_id.update(holders_by_id)

            holders = _find_holders_of_level(level, holders_by_id)
            holders.extend(array for array in untracked_arrays if _holds_any(array, holders_by_id))
            if most and depth == 0:
                self.left_out_count = max(len(holders) - most, 0)
                holders = HiddenList(holders[:most])
            self._found.extend(holders)

            # The collector says that a holder refers to some object of the level, but not to which.
            for holder in holders:
                for held_id in holders_by_id.keys() & _list_content_ids(holder):
                    holders_by_id[held_id].append(holder)
            # All holders of the targets are wanted, and all owners of these holders. Further up,
            # one path to a name is enough.
            level = self._find_next_level(level, can_stop_at_names=depth > 1)
            if not level:
                return

    def _find_next_level(self, level: HiddenList, can_stop_at_names: bool) -> HiddenList:
        """Return the holders of a level's objects whose own holders must be searched next.

        With `can_stop_at_names`, the holders of an object are skipped if one of them gives the
        object a name, because one path to the object is enough.
        """
        searched_ids = set(self._holders_by_id)
        next_level = HiddenList()
        for value in level:
            holders = self.holders(value)
            if can_stop_at_names and any(self._is_named_by(holder, value) for holder in holders):
                continue
            for holder in holders:
                is_last = real_isinstance(holder, *_LAST_HOLDERS)
                if id(holder) in searched_ids or is_last or self._is_named_by(holder, value):
                    continue
                searched_ids.add(id(holder))
                next_level.append(holder)
        return next_level

    def _is_named_by(self, holder: object, value: object) -> bool:
        """Return whether a path to `value` may begin at `holder`, because the holder has a name.

        Functions and classes have names, and so have modules and the dicts in `names_by_id`.
        """
        if real_isinstance(holder, types.FunctionType):
            # A function refers to the dict of its module, which is no part of the function.
            return holder.__globals__ is not value
        if real_isinstance(holder, type):
            return True
        is_module = real_isinstance(holder, types.ModuleType)
        return id(read_namespace(holder) if is_module else holder) in self.names_by_id


def _list_content_ids(holder: object) -> set[int]:
    """Return the ids of the objects that a holder refers to.

    The collector does not see what is in a NumPy array, so an array is read in another way.
    """
    return {id(value) for value in list_array_contents(holder) or get_referents(holder)}


def _holds_any(holder: object, ids: dict[int, HiddenList]) -> bool:
    """Return whether a holder refers to an object whose id is one of the keys of `ids`."""
    return not ids.keys().isdisjoint(_list_content_ids(holder))


def _find_holders_of_level(level: HiddenList, wanted_ids: dict[int, HiddenList]) -> HiddenList:
    """Return the objects that refer to any object of a level, without the search's own.

    `wanted_ids` has the ids of the level's objects as keys.
    """
    # get_referrers reports the tuple of its arguments as a holder, so this tuple is left out below.
    arguments = tuple(level)
    is_small = len(level) <= FEW
    # get_referrers compares each reference in the heap with each argument, which is slow for many
    # arguments. Then every object is a candidate, and is compared by a set of ids below.
    candidates = HiddenList(get_referrers(*arguments) if is_small else get_objects())

    # A container that the collector does not track can contain neither a dict nor a tracked object.
    # So untracked containers are searched only if the level has an object of another kind.
    if not all(is_tracked(value) or type(value) is dict for value in level):
        for container in _find_untracked():
            if not list_array_contents(container) and _holds_any(container, wanted_ids):
                candidates.append(container)

    holders = HiddenList()
    for candidate in candidates:
        is_holder = is_small or _holds_any(candidate, wanted_ids)
        # Everything that the search itself makes is derived from this class.
        if (
            is_holder
            and candidate is not arguments
            and not real_isinstance(candidate, HiddenFromSearch)
        ):
            holders.append(candidate)
    return holders


def _find_untracked() -> HiddenList:
    """Return the dicts (up to 3.13), tuples and NumPy arrays that CPython does not track.

    CPython does not track a container whose contents cannot be in a cycle, such as a tuple of
    numbers. Such a container is found in a tracked object, or in another untracked container.
    """
    array_type = find_array_type()
    containers_by_id: dict[int, object] = {}
    level = HiddenList(get_objects())
    while level:
        new_by_id: dict[int, object] = {}
        for value in _list_contents(level, array_type):
            kind = type(value)
            is_container = kind is dict or kind is tuple or kind is array_type
            if is_container and id(value) not in containers_by_id and not is_tracked(value):
                new_by_id[id(value)] = value
        containers_by_id |= new_by_id
        level = HiddenList(new_by_id.values())
    return HiddenList(containers_by_id.values())


def _list_contents(level: HiddenList, array_type: type | None) -> HiddenList:
    """Return what the objects of a level refer to.

    `array_type` is the class of NumPy's arrays, whose contents the collector does not report; None
    if NumPy is not imported.
    """
    contents = HiddenList(get_referents(*level))
    for value in level:
        if type(value) is array_type:
            contents.extend(list_array_contents(value))
    return contents
