"""Find every place in this process that refers to an object. A Place is one reference, with the
dotted path of its owner: the global name `app.op`, the item `app.table['add']`. There are two
searches: `scan_modules` reads only the dicts of loaded modules, and `find_holders` asks the garbage
collector.

Neither imports anything, compares by `==`, or runs code of the objects that it meets.
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
    """Return a Place for each global name of a loaded module that refers to `obj`.

    This is fast, and finds nothing else, such as an item of a list or an attribute of an instance.
    """
    places = HiddenList()
    for name in find_module_names().values():
        module = sys.modules[name]
        keys = [key for key in find_keys(read_namespace(module), obj) if type(key) is str]
        places.extend(build_module_place(name, module, key) for key in keys)
    return _clean_and_sort(places)


def find_holders(obj: object) -> tuple[Place, ...]:
    """Return every place that refers to `obj`, as far as the collector can see, sorted.

    Places in garbage are left out, because nothing in the program reaches them.
    """
    # A run of the collector would free garbage while this function looks at it.
    with no_collection():
        graph = HolderGraph(HiddenList([obj]))
        graph.mark_garbage()
        return tuple(place for place in find_places(obj, graph) if not graph.is_garbage(place))


def find_places(target: object, graph: HolderGraph) -> tuple[Place, ...]:
    """Return the places that refer to a target of the graph, each once and with its owners.

    Three sources are asked: the modules, the holders that the graph has, and the registries of the
    interpreter, such as that of signal handlers. The first Place with a key wins.
    """
    places_by_key = {place.key: place for place in scan_modules(target)}
    for holder in graph.holders(target):
        for place in find_places_in(holder, target, graph):
            places_by_key.setdefault(place.key, place)
    for place in find_registered(target):
        places_by_key.setdefault(place.key, place)

    places = HiddenList()
    for place in places_by_key.values():
        _name_owners(place, graph)
        # IPython copies some names of a notebook into its dict `user_ns_hidden`, to list them.
        is_hidden_copy = ".user_ns_hidden" in "".join(place.owners)
        # A node of the tree of context variables; `find_registered` has their readable places.
        if not is_hidden_copy and not is_part_of_context(place):
            places.append(place)
    return _clean_and_sort(places)


def _name_owners(place: Place, graph: HolderGraph) -> None:
    """Fill in `place.owners`, the dotted paths of its owners, if there are none yet.

    A place has several owners only if it is a closure cell that several functions share.
    """
    if type(place.holder) is HiddenList:  # the functions that share a closure cell
        names = {find_own_name(function, graph) for function in place.holder}
        place.owners = tuple(sorted(names))
    if not place.owners:
        place.owners = (find_path(place.holder, graph),)


def _clean_and_sort(places: Iterable[Place]) -> tuple[Place, ...]:
    """Return the places sorted by kind and name, without IPython's record of results.

    `place.reason` is filled in where this package or the kernel relies on the place.
    """
    shown = [place for place in places if not _is_history(place)]
    for place in shown:
        place.reason = place.reason or find_fixed_reason(place.container)
    return tuple(sorted(shown, key=_read_sort_key))


def _read_sort_key(place: Place) -> tuple:
    """Return what places are sorted by."""
    return KINDS.index(place.kind), place.owners, place.name


def _is_history(place: Place) -> bool:
    """Return whether IPython or Python made the place, to keep the result of a cell.

    Such a place is a global name like `_` or `_3`, or is inside an object of IPython.
    """
    if place.kind != "module attribute":
        # The place is no global name. It counts if it is inside an object of IPython.
        package = str(type(place.holder).__module__).partition(".")[0]
        return package in _IPYTHON_PACKAGES
    if place.holder is builtins:
        return place.name == "_"  # Python's prompt binds the last value there
    if place.holder is sys.modules.get("__main__") and "IPython" in sys.modules:
        return bool(_HISTORY_NAMES.fullmatch(place.name))
    return False
