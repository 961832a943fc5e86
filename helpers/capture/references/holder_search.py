"""An object -> every place in this process that holds a reference to it, each with a name.

Two ways to look. The fast scan reads the dicts of the modules that `sys.modules` lists. The
thorough search asks the collector for holders (`gc.get_referrers`) and climbs until each has a
name. Neither imports anything, compares by `==`, or runs code of the objects that it meets.

What neither can see: locals and arguments of functions that are running, weak references (they
hold nothing), containers that the collector does not track (a NumPy object array, memory of a
C++ library), objects set aside by `gc.freeze`, and other processes. IPython's history of results
(`_`, `_3`, `Out`) is seen and left out: it is a diary, not a place where code looks a name up.
"""

import builtins
import re
import sys
import types
from itertools import repeat
from operator import is_

from helpers.capture.cpython.objects import class_mapping, namespace
from helpers.capture.references import kernel_modules
from helpers.capture.references.heap import Heap, Shelf, listed_modules
from helpers.capture.references.named_places import ModuleName
from helpers.capture.references.namespaces import names_of
from helpers.capture.references.paths import class_name, describe, owners_of
from helpers.capture.references.places import Place
from helpers.capture.references.places_in_holder import places_in
from helpers.model.bindings import KINDS
from helpers.model.graph import Edge, Graph, Node
from helpers.model.listing import Column, Listing
from helpers.safety.arguments import is_a
from helpers.safety.original_builtins import BUILTINS, is_ours

__builtins__ = BUILTINS

_HISTORY = re.compile(r"_{1,3}|_\d+|_i{1,3}|_i\d+|_oh|Out")

COLUMNS = (
    Column("kind", "kind"),
    Column("owner", "owner", code=True),
    Column("name", "name", code=True),
    Column("scan", "scan finds it"),
    Column("verdict", "can be rebound"),
)


def scan_modules(obj) -> tuple[Place, ...]:
    """Return the names in modules that hold `obj`: fast, and blind to everything else.

    A module that `sys.modules` lists twice counts once; entries that are no modules are passed
    over.
    """
    found = Shelf()
    for name, module in listed_modules().values():
        if _may_hold(namespace(module), obj):
            found.extend(_module_places(name, module, obj))
    for place in found:
        _leave_alone(place)
    return _ordered(found)


def find_holders(obj, tidy: bool = True) -> tuple[Place, ...]:
    """Return every place that holds `obj`, as far as the collector can see; always in one order.

    `tidy=False` takes half the time: garbage is not collected first, and may be found.
    """
    return _places_of(obj, Heap(Shelf([obj]), tidy=tidy))


def find_holders_beside(obj) -> tuple[Place, ...]:
    """Return the places that hold `obj`, without those that only `obj` itself leads to.

    What a mock has returned holds the mock, for one.
    """
    heap = Heap(Shelf([obj]))
    return tuple(place for place in _places_of(obj, heap) if _is_beside(place.container, obj, heap))


def _is_beside(holder, obj, heap) -> bool:
    level, met, kinds = Shelf([holder]), {id(obj)}, Shelf()
    while level:
        thing = level.pop()
        if id(thing) in met or any(thing is kind and _is_unlisted(kind) for kind in kinds):
            continue
        if not heap.parents(thing):
            return True
        met.add(id(thing))
        kinds.append(type(thing))
        level.extend(heap.parents(thing))
    return False


def _is_unlisted(cls) -> bool:
    """Return whether its module has it under no such name: a mock makes a class for itself."""
    return dict.get(_namespace_of_class(cls) or {}, class_name(cls).rpartition(".")[2]) is not cls


def find_holders_of_both(one, other) -> tuple[tuple[Place, ...], tuple[Place, ...]]:
    """Return the places of two objects, found in the same passes over the heap."""
    heap = Heap(Shelf([one, other]))
    return _places_of(one, heap), _places_of(other, heap)


def bindings(obj) -> Listing:
    """Return a listing with a row per place that holds `obj`, and the two counts in its note."""
    heap = Heap(Shelf([obj]), MOST_HOLDERS)
    places = _places_of(obj, heap)
    rows = tuple(place.binding for place in places)
    left = _LEFT.format(heap.left, MOST_HOLDERS) if heap.left else ""
    return Listing(f"Places that hold {describe(obj)}", COLUMNS, rows, _counts(rows) + left)


def binding_graph(obj) -> Graph:
    """Return a graph of one box for the object and one per place, with an arrow from each place."""
    listing = bindings(obj)
    center = Node("object", describe(obj), "object")
    nodes = tuple(
        Node(f"place {at}", row.path, "name", _can(row), group=row.kind)
        for at, row in enumerate(listing.rows)
    )
    edges = tuple(
        Edge(node.key, center.key, row.kind) for node, row in zip(nodes, listing.rows, strict=True)
    )
    return Graph(listing.title, (center, *nodes), edges, listing.note)


def _can(row) -> str:
    return "can be rebound" if row.rebindable else f"cannot be rebound: {row.reason}"


MOST_HOLDERS = 2000  # that are named and listed; a rebinding has no such limit
MISSING = (
    "Variables that a running call or a traceback alone holds are not listed; nor is a holder that "
    "the collector does not look at, such as a NumPy array."
)
_LEFT = (
    " {:,} more objects hold it and are not listed: the search names the first {:,} (`find_holders`"
    " of helpers.capture.references.holder_search names all)."
)


def _counts(rows) -> str:
    fast = sum(row.scan for row in rows)
    if not rows:
        return f"Neither search finds a place that holds it. {MISSING}"
    found = "this 1 place" if len(rows) == 1 else f"these {len(rows)} places"
    return (
        f"The thorough search finds {found}; the fast scan of the modules finds {fast}. {MISSING}"
    )


def _may_hold(names: dict, obj) -> bool:
    """Ask all values of a dict at once in C; a dict that changes meanwhile gets a second look."""
    try:
        return True in map(is_, dict.values(names), repeat(obj))
    except RuntimeError:
        return True


def _module_places(name, module, obj):
    keys = [key for key in names_of(namespace(module), obj) if type(key) is str]
    return [ModuleName(name, module, key) for key in keys]


def _places_of(target, heap: Heap) -> tuple[Place, ...]:
    found = {place.key: place for place in scan_modules(target)}
    for holder in heap.parents(target):
        if not heap.is_kept(holder):
            for place in places_in(holder, target, heap):
                found.setdefault(place.key, place)
    for place in found.values():
        place.owners = place.owners or owners_of(place, heap)
        _leave_alone(place)
    return _ordered(p for p in found.values() if ".user_ns_hidden" not in "".join(p.owners))


def _leave_alone(place) -> None:
    """Mark a place as fixed that a kernel, or the code which puts everything back, relies on."""
    home = place.container
    if is_a(home, types.FunctionType):
        home = home.__globals__
    elif is_a(home, type):
        home = _namespace_of_class(home)
    if is_a(home, dict) and not place.reason:
        if is_ours(home):
            place.reason = "what puts everything back relies on it"
        elif kernel_modules.is_machinery(home):
            place.reason = kernel_modules.REASON


def _namespace_of_class(cls) -> dict | None:
    name = class_mapping(cls).get("__module__")
    module = sys.modules.get(name) if type(name) is str else None
    return namespace(module) if is_a(module, types.ModuleType) else None


def _ordered(places) -> tuple[Place, ...]:
    return tuple(sorted((p for p in places if not _is_history(p)), key=_rank))


def _rank(place):
    return KINDS.index(place.kind), place.owners, place.name


def _is_history(place) -> bool:
    """Return whether this is the diary of an interactive session: `_`, `_3`, the display hook.

    What a rebinding puts beside a builtin for the kernel is no place either.
    """
    if kernel_modules.is_shield(place):
        return True
    if type(place) is ModuleName:
        diary = place.module is sys.modules.get("__main__") and "IPython" in sys.modules
        return bool(diary and _HISTORY.fullmatch(place.name)) or _is_plain_prompt(place)
    module = class_mapping(type(place.holder)).get("__module__")
    return type(module) is str and module.split(".")[0] in ("IPython", "ipykernel")


def _is_plain_prompt(place) -> bool:
    return place.module is builtins and place.name == "_"
