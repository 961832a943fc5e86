"""Objects -> the graph of their holders, the holders of these, and so on, until each has a name.

A holder is an object that refers to another one. The collector is asked for them
(`gc.get_referrers`, Modules/gcmodule.c), and what it does not track is searched separately. A plain
tuple or list of objects that is made here would be one more holder. Therefore all lists are
HiddenLists, which the search leaves out, and no generator or closure may refer to a target
meanwhile.
"""

import types
from gc import get_objects, get_referents, get_referrers, is_tracked

from ...safety.arguments import real_isinstance
from ...safety.restoring import Own
from ..cpython.objects import read_namespace
from .loaded_modules import find_module_names, find_singledispatch_names
from .numpy_arrays import find_array_type, list_array_contents
from .places import HiddenList, Place
from .unreachable import find_unreachable, is_always_reachable

LEVELS = 8  # from a target upwards
FEW = 40  # objects to ask the collector about at once; for more, one pass over the heap is faster
# What holds these is not asked: a function has a name, and calls and tracebacks end by themselves.
_LAST_HOLDERS = (types.FrameType, types.TracebackType, types.FunctionType)


class HolderGraph(Own):
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
        # Closed: for each holder, the search went on. It stops at one that has a name.
        ids = {id(holder) for holders in self._holders_by_id.values() for holder in holders}
        self.is_closed = self._holders_by_id.keys() >= ids

    def holders(self, value: object) -> HiddenList:
        """Return the holders of an object that were found; none if it was not searched."""
        return self._holders_by_id.get(id(value), HiddenList())

    def mark_garbage(self) -> None:
        """Find out which holders nothing reaches.

        The method counts references. So it must run before anything but the hidden lists of this
        graph refers to a holder.
        """
        direct = HiddenList(holder for target in self._targets for holder in self.holders(target))
        own_lists = HiddenList([self._found, direct, *self._holders_by_id.values()])
        self._unreachable = find_unreachable(direct, self._is_root, self._holders_by_id, own_lists)

    def is_garbage(self, place: Place) -> bool:
        """Return whether nothing reaches a place of the target: only the collector can free it."""
        return id(place.container) in self._unreachable or id(place.holder) in self._unreachable

    def _is_root(self, value: object) -> bool:
        """Return whether an object is known to be reachable."""
        if any(value is target for target in self._targets):
            return True
        return id(value) in self.names_by_id or is_always_reachable(value)

    def _search(self, most: int) -> None:
        """Search level by level, upwards from the targets, up to `most` direct holders."""
        untracked_arrays = HiddenList()
        if most and find_array_type() is not None:
            untracked_arrays.extend(
                value for value in _find_untracked() if list_array_contents(value)
            )

        level = self._targets
        for depth in range(LEVELS):
            holders_by_id = {id(value): HiddenList() for value in level}
            self._holders_by_id.update(holders_by_id)

            holders = _find_holders_of_level(level, holders_by_id)
            holders.extend(array for array in untracked_arrays if _holds_any(array, holders_by_id))
            if most and depth == 0:
                self.left_out_count = max(len(holders) - most, 0)
                holders = HiddenList(holders[:most])
            self._found.extend(holders)

            for holder in holders:
                for key in holders_by_id.keys() & _list_content_ids(holder):
                    holders_by_id[key].append(holder)
            level = self._find_next_level(level, can_stop_at_names=depth > 1)
            if not level:
                return

    def _find_next_level(self, level: HiddenList, can_stop_at_names: bool) -> HiddenList:
        """Return the holders of a level whose own holders must be searched too.

        With `can_stop_at_names`, an object that a holder names is done: its other holders are not
        followed, because one path to it is enough.
        """
        visited = set(self._holders_by_id)
        next_level = HiddenList()
        for value in level:
            holders = self.holders(value)
            if can_stop_at_names and any(self._is_named_by(holder, value) for holder in holders):
                continue
            for holder in holders:
                is_last = real_isinstance(holder, *_LAST_HOLDERS)
                if id(holder) in visited or is_last or self._is_named_by(holder, value):
                    continue
                visited.add(id(holder))
                next_level.append(holder)
        return next_level

    def _is_named_by(self, holder: object, value: object) -> bool:
        """Return whether a path to `value` may begin at `holder`, because that has a name."""
        if real_isinstance(holder, types.FunctionType):
            return holder.__globals__ is not value  # a module's dict is not a part of a function
        if real_isinstance(holder, type):
            return True
        is_module = real_isinstance(holder, types.ModuleType)
        return id(read_namespace(holder) if is_module else holder) in self.names_by_id


def _list_content_ids(holder: object) -> set[int]:
    """Return the ids of the objects that a holder refers to."""
    return {id(value) for value in list_array_contents(holder) or get_referents(holder)}


def _holds_any(holder: object, ids: dict[int, HiddenList]) -> bool:
    """Return whether a holder refers to an object with one of these ids, the keys of a dict."""
    return not ids.keys().isdisjoint(_list_content_ids(holder))


def _find_holders_of_level(level: HiddenList, wanted_ids: dict[int, HiddenList]) -> HiddenList:
    """Return what holds any object of a level. `wanted_ids` has the ids of the level as keys."""
    # get_referrers reports this very tuple, its arguments, as a holder.
    arguments = tuple(level)
    is_small = len(level) <= FEW
    # get_referrers compares each reference in the heap with each argument: many are slow.
    candidates = HiddenList(get_referrers(*arguments) if is_small else get_objects())

    # Neither a dict nor anything that the collector tracks can be inside an untracked container.
    if not all(is_tracked(value) or type(value) is dict for value in level):
        for container in _find_untracked():
            if not list_array_contents(container) and _holds_any(container, wanted_ids):
                candidates.append(container)

    holders = HiddenList()
    for candidate in candidates:
        is_holder = is_small or _holds_any(candidate, wanted_ids)
        if is_holder and candidate is not arguments and not real_isinstance(candidate, Own):
            holders.append(candidate)
    return holders


def _find_untracked() -> HiddenList:
    """Return the dicts (up to 3.13), tuples and NumPy arrays that CPython does not track.

    They contain nothing that could be in a cycle, so the collector need not see them. They are
    found in what it does see, and in each other.
    """
    array = find_array_type()
    found: dict[int, object] = {}
    level = HiddenList(get_objects())
    while level:
        fresh: dict[int, object] = {}
        for value in _list_contents(level, array):
            kind = type(value)
            is_searched = kind is dict or kind is tuple or kind is array
            if is_searched and id(value) not in found and not is_tracked(value):
                fresh[id(value)] = value
        found |= fresh
        level = HiddenList(fresh.values())
    return HiddenList(found.values())


def _list_contents(level: HiddenList, array: type | None) -> HiddenList:
    """Return what the objects of a level refer to. `array` is the class of NumPy's arrays."""
    contents = HiddenList(get_referents(*level))
    for value in level:
        if type(value) is array:
            contents.extend(list_array_contents(value))
    return contents
