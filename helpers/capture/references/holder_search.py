"""An object -> every place in this process that holds a reference to it, each with a name.

Two ways to look. The fast scan reads the dicts of the modules that `sys.modules` lists. The
thorough search asks the collector for holders (`gc.get_referrers`) and climbs until each has a
name. Neither imports anything, compares by `==`, or runs code of the objects that it meets.

What neither can see: locals and arguments of functions that are running, weak references (they
hold nothing), containers that the collector does not track (a NumPy object array, memory of a
C++ library), objects set aside by `gc.freeze`, and other processes. IPython's history of results
(`_`, `_3`, `Out`) is seen and left out: it is a diary, not a place where code looks a name up.

Functions go by the name under which their code was written (`co_qualname`), because decorators
copy `__name__` and `__qualname__` from what they wrap, and two owners would look like one.
"""

import builtins
import re
import sys
import types
from itertools import repeat
from operator import is_

from helpers.capture.cpython.objects import class_mapping, namespace
from helpers.capture.cpython.unwrapping import unwrap
from helpers.capture.references.heap import Heap, Shelf, listed_modules
from helpers.capture.references.places import ModuleName, Place
from helpers.capture.references.places_in_holder import names_of, places_in
from helpers.capture.text.value import SCALARS, label, short_name
from helpers.model.bindings import KINDS, join
from helpers.model.graph import Edge, Graph, Node
from helpers.model.listing import Column, Listing
from helpers.safety.arguments import is_a, is_exactly

MOST_HOLDERS = 2000  # that are named and listed; a rebinding has no such limit
HOPS = 5  # from a holder to what names it
LOST = "(owner not found)"
OURS, KERNELS, PYTHONS = (
    "what puts everything back relies on it",
    "the kernel's own machinery relies on it",
    "Python's own modules and the kernel rely on it",
)
COLUMNS = (
    Column("kind", "kind"),
    Column("owner", "owner", code=True),
    Column("name", "name", code=True),
    Column("scan", "scan finds it"),
    Column("verdict", "can be rebound"),
)
UNSEEN = (
    "Variables that a running call or a traceback alone holds are not listed; nor is a holder that "
    "the collector does not look at, such as a NumPy array."
)
_LEFT = (
    " {:,} more objects hold it and are not listed: the search names the first {:,} (`find_holders`"
    " of helpers.capture.references.holder_search names all)."
)
_HISTORY = re.compile(r"_{1,3}|_\d+|_i{1,3}|_i\d+|_oh|Out")
_KERNEL = ("IPython", "asyncio", "comm", "ipykernel", "jupyter_client", "selectors", "threading")
_KERNEL += ("json", "tornado", "traitlets", "zmq")  # json writes its messages
_SUSPENDED = (
    (types.GeneratorType, "gi_frame"),
    (types.CoroutineType, "cr_frame"),
    (types.AsyncGeneratorType, "ag_frame"),
)


def scan_modules(obj) -> tuple[Place, ...]:
    """Return the names in modules that hold `obj`: fast, and blind to everything else.

    A module that `sys.modules` lists twice counts once; entries that are no modules are passed
    over.
    """
    found = Shelf()
    for name, module in listed_modules().values():
        if _may_hold(namespace(module), obj):
            keys = [key for key in names_of(namespace(module), obj) if type(key) is str]
            found.extend(ModuleName(name, module, key) for key in keys)
    for place in found:
        place.reason = place.reason or why_fixed(place.container)
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
        # A mock makes a class for itself, which its module does not have under its name.
        own_class = any(thing is kind for kind in kinds) and not _is_listed(thing)
        if id(thing) in met or own_class:
            continue
        if not heap.parents(thing):
            return True
        met.add(id(thing))
        kinds.append(type(thing))
        level.extend(heap.parents(thing))
    return False


def _is_listed(cls) -> bool:
    return dict.get(_home_of_class(cls), class_name(cls).rpartition(".")[2]) is cls


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
    nodes, edges = [Node("object", describe(obj), "object")], []
    for at, row in enumerate(listing.rows):
        can = "can be rebound" if row.rebindable else f"cannot be rebound: {row.reason}"
        nodes.append(Node(f"place {at}", row.path, "name", can, group=row.kind))
        edges.append(Edge(f"place {at}", "object", row.kind))
    return Graph(listing.title, tuple(nodes), tuple(edges), listing.note)


def _counts(rows) -> str:
    fast = sum(row.scan for row in rows)
    if not rows:
        return f"Neither search finds a place that holds it. {UNSEEN}"
    found = "this 1 place" if len(rows) == 1 else f"these {len(rows)} places"
    return f"The thorough search finds {found}; the fast scan of the modules finds {fast}. {UNSEEN}"


def _may_hold(names: dict, obj) -> bool:
    """Ask all values of a dict at once in C; a dict that changes meanwhile gets a second look."""
    try:
        return True in map(is_, dict.values(names), repeat(obj))
    except RuntimeError:
        return True


def _places_of(target, heap: Heap) -> tuple[Place, ...]:
    found = {place.key: place for place in scan_modules(target)}
    for holder in heap.parents(target):
        if not heap.is_kept(holder):
            for place in places_in(holder, target, heap):
                found.setdefault(place.key, place)
    for place in found.values():
        place.owners = place.owners or _owners_of(place, heap)
        place.reason = place.reason or why_fixed(place.container)
    return _ordered(p for p in found.values() if ".user_ns_hidden" not in "".join(p.owners))


def why_fixed(home) -> str:
    """Return why a module, or a function or class of it, keeps what it has; "" where it may change.

    That is so of the house's own modules and the kernel's, and of the builtins.
    """
    if is_a(home, types.FunctionType):
        home = home.__globals__
    elif is_a(home, type):
        home = _home_of_class(home)
    name = dict.get(home, "__name__") if is_a(home, dict) else None
    if type(name) is not str:
        return ""
    if name.startswith(("helpers.capture.", "helpers.safety.")):
        return OURS
    if home is vars(builtins):
        return PYTHONS
    return KERNELS if name.partition(".")[0] in _KERNEL and _kernel_runs() else ""


def _kernel_runs() -> bool:
    module = sys.modules.get("ipykernel.kernelapp")
    return module is not None and getattr(module.IPKernelApp, "_instance", None) is not None


def _home_of_class(cls) -> dict:
    name = class_mapping(cls).get("__module__")
    module = sys.modules.get(name) if type(name) is str else None
    return namespace(module) if is_a(module, types.ModuleType) else {}


def _ordered(places) -> tuple[Place, ...]:
    places = (place for place in places if not _is_history(place))
    return tuple(sorted(places, key=lambda p: (KINDS.index(p.kind), p.owners, p.name)))


def _is_history(place) -> bool:
    """Return whether this is the diary of an interactive session: `_`, `_3`, the display hook."""
    if type(place) is ModuleName:
        diary = place.module is sys.modules.get("__main__") and "IPython" in sys.modules
        prompt = place.module is builtins and place.name == "_"
        return prompt or bool(diary and _HISTORY.fullmatch(place.name))
    module = class_mapping(type(place.holder)).get("__module__")
    return type(module) is str and module.split(".")[0] in ("IPython", "ipykernel")


def _owners_of(place, heap) -> tuple[str, ...]:
    """Return a path per owner of `place`: one, or for a shared closure cell one per function."""
    if type(place.holder) is Shelf:
        return tuple(sorted({_own_name(function, heap) for function in place.holder}))
    return (_path(place.holder, heap),)


def _path(thing, heap) -> str:
    """Return the shortest path from a module, class or function to `thing`; ties by alphabet."""
    level, met = [(thing, "")], {id(thing)}
    for _ in range(HOPS):
        named = [_chain(name, tail) for one, tail in level if (name := _own_name(one, heap))]
        if named:
            return min(named)
        level = [step for one, tail in level for step in _steps_up(one, tail, heap, met)]
    return _anonymous(thing)


def _steps_up(thing, tail, heap, met):
    for holder, name in _above(thing, heap):
        if id(holder) not in met:
            met.add(id(holder))
            yield holder, _chain(name, tail)


def _above(thing, heap) -> Shelf:
    """Return (holder, the name it has for `thing`), found out once for each thing."""
    if id(thing) not in heap.ups:
        places = Shelf(p for parent in heap.parents(thing) for p in places_in(parent, thing, heap))
        heap.ups[id(thing)] = Shelf(
            (place.holder[0] if type(place.holder) is Shelf else place.holder, place.name)
            for place in places
        )
    return heap.ups[id(thing)]


def _chain(head: str, tail: str) -> str:
    return join(head, tail) if tail else head


def _own_name(thing, heap) -> str | None:
    """Return the name of what needs no owner to be named; None for the rest."""
    if thing is sys.modules:
        return "sys.modules"  # and not the name under which another module keeps it
    if is_a(thing, types.ModuleType):
        return heap.names.get(id(namespace(thing)))
    if is_a(thing, types.FunctionType):
        return f"{_home(thing.__globals__)}.{short_name(thing.__code__.co_qualname)}"
    if is_a(thing, type):
        return class_name(thing)
    for base, attribute in _SUSPENDED:
        if is_a(thing, base):
            frame = getattr(thing, attribute)
            return f"{_home(frame.f_globals) if frame else '?'}.{short_name(thing.__qualname__)}"
    return None


def _home(names: dict) -> str:
    name = dict.get(names, "__name__")
    return short_name(name) if type(name) is str else "?"


def _anonymous(thing) -> str:
    if is_a(thing, types.ModuleType):
        return f"{_home(namespace(thing))} (a module that sys.modules does not list)"
    name = class_name(type(thing))
    article = "an" if name[0] in "aeiouAEIOU" else "a"
    return f"an instance of {name}" if "." in name else f"{article} {name} {LOST}"


def describe(obj) -> str:
    """Return a few words for any object: never its repr, never an address."""
    if is_a(obj, types.FunctionType, types.BuiltinFunctionType):
        return f"the function {short_name(obj.__name__)}"
    if is_a(obj, type):
        return f"the class {class_name(obj)}"
    if is_a(obj, types.ModuleType):
        return f"the module {_home(namespace(obj))}"
    if is_exactly(obj, *SCALARS):
        return label(obj)
    words, inside = _anonymous(obj).removesuffix(f" {LOST}"), unwrap(obj)[0]
    return f"{words} around {describe(inside)}" if type(inside) is types.FunctionType else words


def class_name(cls) -> str:
    """Return `module.Class`, short enough to be read; a metaclass is never asked."""
    module, name = (type.__dict__[n].__get__(cls) for n in ("__module__", "__qualname__"))
    plain = type(module) is not str or module == "builtins"
    return short_name(name) if plain else f"{short_name(module)}.{short_name(name)}"
