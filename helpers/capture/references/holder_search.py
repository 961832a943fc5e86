"""An object -> every place in this process that holds a reference to it, each with a name.

The fast scan reads the dicts of the modules that `sys.modules` lists. The thorough search asks the
collector for holders and climbs until each has a name. Neither imports anything, compares by `==`,
or runs code of the objects that it meets.
"""

import builtins
import re
import sys
from collections.abc import Iterable

from ...model.reference_records import KINDS
from ..cpython.objects import read_namespace
from .fixed_places import find_fixed_reason
from .holder_graph import HolderGraph
from .loaded_modules import find_module_names
from .owner_names import find_own_name, find_path
from .places import HiddenList, Place, build_module_place, find_keys
from .places_in_holders import find_places_in
from .registries import find_registered, is_part_of_context
from .unreachable import no_collection

# What IPython binds for the results and inputs of cells, and in which dict it keeps them.
_HISTORY_NAMES = re.compile(r"_{1,3}|_\d+|_i{1,3}|_i\d+|_oh|Out")
_IPYTHON_PACKAGES = ("IPython", "ipykernel")


def scan_modules(obj: object) -> tuple[Place, ...]:
    """Return the names in modules that hold `obj`: fast, and blind to everything else."""
    places = HiddenList()
    for name in find_module_names().values():
        module = sys.modules[name]
        keys = [key for key in find_keys(read_namespace(module), obj) if type(key) is str]
        places.extend(build_module_place(name, module, key) for key in keys)
    return _order(places)


def find_holders(obj: object) -> tuple[Place, ...]:
    """Return every place that holds `obj`, as far as the collector can see; always in one order.

    Places in garbage are left out: nothing reaches them.
    """
    with no_collection():
        graph = HolderGraph(HiddenList([obj]))
        graph.mark_garbage()
        return tuple(place for place in find_places(obj, graph) if not graph.is_garbage(place))


def find_places(target: object, graph: HolderGraph) -> tuple[Place, ...]:
    """Return the places that hold a target of the graph, each once and with its owners."""
    places_by_key = {place.key: place for place in scan_modules(target)}
    for holder in graph.holders(target):
        for place in find_places_in(holder, target, graph):
            places_by_key.setdefault(place.key, place)
    for place in find_registered(target):
        places_by_key.setdefault(place.key, place)

    places = HiddenList()
    for place in places_by_key.values():
        _name_owners(place, graph)
        # IPython keeps there which names of a notebook are hidden.
        is_hidden_copy = ".user_ns_hidden" in "".join(place.owners)
        if not is_hidden_copy and not is_part_of_context(place):
            places.append(place)
    return _order(places)


def _name_owners(place: Place, graph: HolderGraph) -> None:
    """Find the paths of a place's owners, if it has none yet."""
    if type(place.holder) is HiddenList:  # the functions that share a closure cell
        names = {find_own_name(function, graph) for function in place.holder}
        place.owners = tuple(sorted(names))
    if not place.owners:
        place.owners = (find_path(place.holder, graph),)


def _order(places: Iterable[Place]) -> tuple[Place, ...]:
    """Return places by their kinds and names, without IPython's record of results.

    Those that the house or the kernel relies on get their reasons.
    """
    shown = [place for place in places if not _is_history(place)]
    for place in shown:
        place.reason = place.reason or find_fixed_reason(place.container)
    return tuple(sorted(shown, key=_read_sort_key))


def _read_sort_key(place: Place) -> tuple:
    """Return what places are sorted by."""
    return KINDS.index(place.kind), place.owners, place.name


def _is_history(place: Place) -> bool:
    """Return whether an interactive session keeps a result there: `_`, `_3`, the display hook."""
    if place.kind != "module attribute":
        package = str(type(place.holder).__module__).partition(".")[0]
        return package in _IPYTHON_PACKAGES
    if place.holder is builtins:
        return place.name == "_"
    if place.holder is sys.modules.get("__main__") and "IPython" in sys.modules:
        return bool(_HISTORY_NAMES.fullmatch(place.name))
    return False
