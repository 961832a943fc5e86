"""An object -> every place in this process that holds a reference to it, each with a name.

The fast scan reads the dicts of the modules that `sys.modules` lists. The thorough search asks the
collector for holders (`gc.get_referrers`, Modules/gcmodule.c) and climbs until each has a name.
Neither imports anything, compares by `==`, or runs code of the objects that it meets.

Functions go by the name under which their code was written (`co_qualname`), because decorators
copy `__name__` from what they wrap, and two owners would look like one.
"""

import builtins
import functools
import os
import re
import sys
import types
from dataclasses import replace
from gc import get_objects, get_referents, get_referrers, is_tracked
from itertools import chain

from ...model.code_records import columns
from ...model.graphs import Edge, Graph, Node
from ...model.phrase import listed
from ...model.reference_records import KINDS, Binding, join
from ...model.tables import Listing
from ...safety import PACKAGE
from ...safety.arguments import is_exactly, printable, real_isinstance
from ...safety.restoring import Own
from ...safety.users_frames import is_library
from ..cpython.objects import called, namespace, spoken
from ..cpython.unwrapping import unwrap
from ..text.source import place_of
from ..text.value import SCALARS, label, short_name
from .places import HiddenList, Place, array_type, in_array, module_name, names_of, places_in
from .registries import find_registered, is_part_of_context
from .tensor_holders import (
    find_keepers,
    find_saving,
    find_sharers,
    is_plain_tensor,
    say_hidden,
    say_sharers,
)
from .unreachable import find_unreachable, is_always_reachable, no_collection

LEVELS = 8
FEW = 40  # so many objects the collector is asked about at once; for more, one pass over the heap
MOST_HOLDERS = 2000  # that are named and listed; a rebinding has no such limit
HOPS = 7  # from a holder to what names it
LOST = "(owner not found)"
OURS = "the code that restores everything relies on it"
KERNELS = "the kernel's own machinery relies on it"
PYTHONS = "Python's own modules and the kernel rely on it"
_HEADINGS = {"kind": "kind", "owner": "owner", "name": "name"}
COLUMNS = columns("owner name", **_HEADINGS, scan="scan finds it", verdict="can be rebound")
UNSEEN = "The search does not list what only a running call (see show_frame) keeps, or what is "
UNSEEN += "kept in C where the collector does not look."
CYCLE = " It is in a cycle of references, and nothing else that the search sees keeps it."
IN_TORCH = "torch keeps it in C++"
MOST_SHARERS = 5  # tensors with the same storage that are named
ONLY_COLLECTOR = "Only the collector (gc.collect) can free it."
_HISTORY = re.compile(r"_{1,3}|_\d+|_i{1,3}|_i\d+|_oh|Out")
_KERNEL = ("IPython", "asyncio", "comm", "ipykernel", "jupyter_client", "selectors", "threading")
_KERNEL += ("json", "tornado", "traitlets", "zmq")  # json writes its messages
_PASSING = (types.FrameType, types.TracebackType, types.FunctionType)
_TYPED = ("<stdin>", "<ipython-input", "<answer>", "<cell")


class Heap(Own):
    """The holders of `targets`, their holders, and so on, until each chain ends in a name.

    `most` direct holders are followed (0: all but NumPy arrays); `left` says how many were not.
    """

    def __init__(self, targets: HiddenList, most: int = 0):
        self.left = 0
        self.targets, self._unreachable = targets, set()
        self.names = _list_modules()
        for fn in singledispatch():
            home = f"{_home({'__name__': fn.__module__})}.{short_name(fn.__qualname__)}"
            self.names[id(get_referents(fn.registry)[0])] = f"{home}.registry"
            self.names[id(fn._clear_cache.__self__.data)] = f"{home}.dispatch_cache"
        self._parents: dict[int, HiddenList] = {}
        self._met = HiddenList(targets)  # which keeps the ids valid
        level = targets
        arrays = HiddenList(filter(in_array, _find_untracked()) if most and array_type() else ())
        for depth in range(LEVELS):
            wanted = {id(thing): HiddenList() for thing in level}
            self._parents.update(wanted)
            found = HiddenList(_find_referrers(level, wanted))
            found.extend(one for one in arrays if _holds(one, wanted))
            if most and not depth:
                self.left, found = max(len(found) - most, 0), HiddenList(found[:most])
            self._met.extend(found)
            for holder in found:
                for key in wanted.keys() & map(id, in_array(holder) or get_referents(holder)):
                    wanted[key].append(holder)
            level = HiddenList(self._find_unfinished(level, prune=depth > 1))
            if not level:
                break
        ups = (id(up) for found in self._parents.values() for up in found)
        # all hold one another, and none has a name
        self.is_closed = self._parents.keys() >= set(ups)

    def parents(self, thing) -> HiddenList:
        """Return what holds `thing`, as far as the search went."""
        return self._parents.get(id(thing), HiddenList())

    def mark_garbage(self) -> None:
        """Find out what nothing reaches; before anything but the lists here refers to it."""
        direct = HiddenList(one for target in self.targets for one in self.parents(target))
        ours = HiddenList([self._met, direct, *self._parents.values()])
        self._unreachable = find_unreachable(direct, self._is_root, self._parents, ours)

    def is_garbage(self, place: Place) -> bool:
        """Return whether nothing reaches a place of the target: only the collector can free it."""
        return bool({id(place.container), id(place.holder)} & self._unreachable)

    def _is_root(self, thing) -> bool:
        is_target = any(thing is target for target in self.targets)
        return is_target or id(thing) in self.names or is_always_reachable(thing)

    def _find_unfinished(self, level: HiddenList, prune: bool):
        known = set(self._parents)
        for thing in level:
            if prune and any(self._names_it(parent, thing) for parent in self.parents(thing)):
                continue
            for parent in self.parents(thing):
                ends = real_isinstance(parent, *_PASSING) or self._names_it(parent, thing)
                if id(parent) not in known and not ends:
                    known.add(id(parent))
                    yield parent

    def _names_it(self, parent, thing) -> bool:
        if real_isinstance(parent, types.FunctionType):
            return parent.__globals__ is not thing
        inside = namespace(parent) if real_isinstance(parent, types.ModuleType) else parent
        return real_isinstance(parent, type) or id(inside) in self.names


def _find_untracked() -> HiddenList:
    """Return the dicts (up to 3.13), tuples and NumPy arrays that CPython does not track."""
    found, level, array = {}, HiddenList(get_objects()), array_type()
    while level:
        kept = chain(get_referents(*level), *(in_array(v) for v in level if type(v) is array))
        kept = (v for v in kept if type(v) is dict or type(v) is tuple or type(v) is array)
        fresh = {id(v): v for v in kept if id(v) not in found and not is_tracked(v)}
        found, level = found | fresh, HiddenList(fresh.values())
    return HiddenList(found.values())


def _holds(holder, wanted: dict) -> bool:
    return not wanted.keys().isdisjoint(map(id, in_array(holder) or get_referents(holder)))


def _find_referrers(level: HiddenList, wanted: dict):
    """Yield what holds any of these; `gc.get_referrers` would compare each with each of many."""
    asked = tuple(level)
    found = HiddenList(get_referrers(*asked) if len(level) <= FEW else get_objects())
    # Neither a dict nor anything that the collector tracks can be inside an untracked container.
    if not all(is_tracked(one) or type(one) is dict for one in level):
        found.extend(v for v in _find_untracked() if not in_array(v) and _holds(v, wanted))
    for holder in found:
        holds = len(level) <= FEW or _holds(holder, wanted)
        if holds and holder is not asked and not real_isinstance(holder, Own):
            yield holder


def _list_modules() -> dict[int, str]:
    """Return the name of each module by the id of its dict: once each, under its own name."""
    found = {}
    for name in sorted(key for key in list(sys.modules) if type(key) is str):
        module = sys.modules.get(name)
        if real_isinstance(module, types.ModuleType):
            inside = namespace(module)
            if id(inside) not in found or dict.get(inside, "__name__") == name:
                found[id(inside)] = name
    return found


def singledispatch() -> HiddenList:
    """Return all functions that functools.singledispatch made."""
    theirs = [one for one in get_referrers(vars(functools)) if type(one) is types.FunctionType]
    return HiddenList(one for one in theirs if "_clear_cache" in vars(one))


def scan_modules(obj) -> tuple[Place, ...]:
    """Return the names in modules that hold `obj`: fast, and blind to everything else."""
    found = HiddenList()
    for name in _list_modules().values():
        module = sys.modules[name]
        keys = [key for key in names_of(namespace(module), obj) if type(key) is str]
        found.extend(module_name(name, module, key) for key in keys)
    return _order(found)


def find_holders(obj) -> tuple[Place, ...]:
    """Return every place that holds `obj`, as far as the collector can see; always in one order.

    Places in garbage are left out: nothing reaches them.
    """
    with no_collection():
        heap = Heap(HiddenList([obj]))
        heap.mark_garbage()
        return tuple(place for place in _places_of(obj, heap) if not heap.is_garbage(place))


def bindings(obj) -> Listing:
    """List the places in this process that refer to `obj`, and which a module scan finds."""
    with no_collection():
        return _list_bindings(obj)


def _list_bindings(obj) -> Listing:
    heap = Heap(HiddenList([obj]), MOST_HOLDERS)
    heap.mark_garbage()
    places = _places_of(obj, heap)
    garbage = HiddenList(place for place in places if heap.is_garbage(place))
    reached = HiddenList(place for place in places if not heap.is_garbage(place))
    if reached and is_exactly(obj, types.FunctionType, types.ModuleType, type):
        garbage = HiddenList()
    known = {}  # the holders of each exception, by its id
    in_torch, seen_in_torch = _look_into_torch(obj) if is_plain_tensor(obj) else ([], "")
    rows = [_row(place, known) for place in reached]
    rows += [replace(_row(place, known), rebindable=False, garbage=True) for place in garbage]
    rows += in_torch
    fast = sum(row.scan for row in rows)
    found = "this 1 place" if len(rows) == 1 else f"these {len(rows)} places"
    note = f"The thorough search finds {found}; the fast scan of the modules finds {fast}."
    note = note if rows else "Neither search finds a place that holds it."
    left = f" {heap.left:,} more objects hold it and are not listed." if heap.left else ""
    left += CYCLE * (bool(reached) and not heap.left and heap.is_closed)
    left += f" {seen_in_torch}" if seen_in_torch else ""
    left += f" {_say_garbage(len(garbage), len(rows))}" if garbage else ""
    title = f"Places that refer to {describe(obj)}{_made(obj)}"
    return Listing(title, COLUMNS, tuple(rows), f"{note} {UNSEEN}{left}")


def _look_into_torch(tensor) -> tuple[list[Binding], str]:
    """Return the rows of tensors that keep this one in C++, and sentences on what is not seen."""
    keepers, names = find_keepers(tensor)
    sharers, saving = find_sharers(tensor), find_saving(tensor)
    named = HiddenList([*keepers, *sharers[:MOST_SHARERS], *saving[:MOST_SHARERS]])
    paths = _name_each(named)
    rows = [
        Binding("C-level holder", path or _anonymous(keeper), name, False, False, IN_TORCH)
        for path, keeper, name in zip(paths, keepers, names, strict=False)
    ]
    shown = sorted(filter(None, paths[len(keepers) : len(named) - len(saving[:MOST_SHARERS])]))
    graphs = sorted(filter(None, paths[len(named) - len(saving[:MOST_SHARERS]) :]))
    words = say_hidden(tensor, len(keepers), graphs), say_sharers(shown, len(sharers) - len(shown))
    rows.sort(key=lambda row: (row.owner, row.name))
    return rows, " ".join(filter(None, words))


def _name_each(things: HiddenList) -> list[str]:
    """Return the shortest path to each thing, "" where there is none; one search for all."""
    scanned = [[place.binding.path for place in scan_modules(thing)] for thing in things]
    if not all(scanned):
        heap = Heap(things)
        for at, thing in enumerate(things):
            if not scanned[at]:
                scanned[at] = [place.binding.path for place in _places_of(thing, heap)]
    known = [[path for path in paths if LOST not in path] for paths in scanned]
    return [min(paths, key=len, default="") for paths in known]


def _say_garbage(count: int, rows: int) -> str:
    which = "It is" if rows == 1 else "They are" if count == rows else f"{count} of them are"
    return f"{which} in a cycle of references that nothing else reaches. {ONLY_COLLECTOR}"


def _row(place: Place, known: dict[int, str]) -> Binding:
    """Return the row of a place; where the traceback of an exception keeps it, with its holders."""
    if place.errors and (key := id(place.errors[0])) not in known:
        found = _holders_of_error(place.errors[0])
        known[key] = f"; the exception is in {listed(found, 2)}" if found else ""
    row = place.binding
    return replace(row, reason=row.reason + known[key]) if place.errors else row


def _holders_of_error(error) -> list[str]:
    """Return the paths of what holds an exception, or of what did before it became garbage."""
    heap = Heap(HiddenList([error]))
    return sorted({place.binding.path for place in _places_of(error, heap)})


def _made(obj) -> str:
    """Return the place of the learner's code, or of what one package puts into another's."""
    if type(obj) is not types.FunctionType:
        return ""
    homes = {_home(s).partition(".")[0] for s in (obj.__globals__, {"__name__": obj.__module__})}
    own = len(homes) > 1 or not is_library(obj.__code__.co_filename)
    return f" ({where})" if own and (where := place_of(obj.__code__)) else ""


def binding_graph(obj) -> Graph:
    """Draw each place that `show_bindings` lists for `obj` as an arrow to `obj`."""
    listing = bindings(obj)
    kind = "function" if describe(obj).startswith("the function ") else "object"
    nodes, edges = [Node("object", describe(obj), kind)], []
    for at, row in enumerate(listing.rows):
        can = "can be rebound" if row.rebindable else f"cannot be rebound: {row.reason}"
        nodes.append(Node(f"place {at}", row.path, "name", can, group=row.kind))
        edges.append(Edge(f"place {at}", "object", row.kind))
    return Graph(listing.title, tuple(nodes), tuple(edges), listing.note)


def _places_of(target, heap: Heap) -> tuple[Place, ...]:
    found = {place.key: place for place in scan_modules(target)}
    for holder in heap.parents(target):
        for place in places_in(holder, target, heap):
            found.setdefault(place.key, place)
    for place in find_registered(target):
        found.setdefault(place.key, place)
    for place in found.values():
        if type(place.holder) is HiddenList:  # the functions that share a closure cell
            place.owners = tuple(sorted({_own_name(one, heap) for one in place.holder}))
        place.owners = place.owners or (_find_path(place.holder, heap),)
    shown = (p for p in found.values() if ".user_ns_hidden" not in "".join(p.owners))
    return _order(p for p in shown if not is_part_of_context(p))


def why_fixed(home) -> str:
    """Return why a module of the house, the kernel or the builtins keeps what it has; else ""."""
    if real_isinstance(home, types.FunctionType):
        home = home.__globals__
    elif real_isinstance(home, type):
        module = sys.modules.get(home.__module__)
        home = namespace(module) if real_isinstance(module, types.ModuleType) else None
    name = dict.get(home, "__name__") if real_isinstance(home, dict) else None
    if type(name) is not str:
        return ""
    if name.startswith((f"{PACKAGE}.capture.", f"{PACKAGE}.safety.")):
        return OURS
    if home is vars(builtins):
        return PYTHONS
    kernel = getattr(sys.modules.get("ipykernel.kernelapp"), "IPKernelApp", None)
    runs = getattr(kernel, "_instance", None) is not None
    return KERNELS if runs and name.partition(".")[0] in _KERNEL else ""


def _order(places) -> tuple[Place, ...]:
    found = [place for place in places if not _is_history(place)]
    for place in found:
        place.reason = place.reason or why_fixed(place.container)
    return tuple(sorted(found, key=lambda p: (KINDS.index(p.kind), p.owners, p.name)))


def _is_history(place) -> bool:
    """Return whether this is the diary of an interactive session: `_`, `_3`, the display hook."""
    if place.kind == "module attribute":
        diary = place.holder is sys.modules.get("__main__") and "IPython" in sys.modules
        prompt = place.holder is builtins and place.name == "_"
        return prompt or bool(diary and _HISTORY.fullmatch(place.name))
    return str(type(place.holder).__module__).partition(".")[0] in ("IPython", "ipykernel")


def patched_names(most: int) -> str:
    """Return "numpy.dot: mine, …" of the names in libraries that lead to the learner's code."""
    spaces = {name: namespace(sys.modules[name]) for name in _list_modules().values()}
    files = {name: str(dict.get(names, "__file__") or "") for name, names in spaces.items()}
    theirs = {name for name in files if name in sys.builtin_module_names or is_library(files[name])}
    own = {name for name in files.keys() - theirs if files[name] or name == "__main__"}
    found = [words for name in theirs for words in _find_own(name, spaces[name], name, own)]
    return listed(sorted(found), most)


def _find_own(place: str, names, home: str, own: set[str]) -> list[str]:
    """Return the names in a module, or a class (no `home`), of what the modules in `own` made."""
    found = []
    for key, value in [(k, v) for k, v in list(names.items()) if type(k) is str]:
        path = f"{place}.{printable(key)}"
        if is_exactly(value, staticmethod, classmethod):
            value = value.__func__
        if type(value) is types.FunctionType:
            file = value.__code__.co_filename
            written = file.startswith(_TYPED) or ("<" not in file and os.sep in file)
            if written and not is_library(file):
                maker = printable(value.__code__.co_qualname.rpartition(".<locals>.")[0])
                where = (at := place_of(value.__code__)) + (maker and f", in {maker}")
                found.append(f"{path}: {called(value)}{at and f' (made at {where})'}")
        elif not home and type(type(value)) is type and type(value).__module__ in own:
            found.append(f"{path}: an instance of {printable(type(value).__name__)}")
        elif real_isinstance(value, type) and home and vars(value).get("__module__") == home:
            found += _find_own(path, vars(value), "", own)
    return found


def _find_path(thing, heap) -> str:
    """Return the shortest path from a module, class or function to `thing`; ties by alphabet."""
    level, met = HiddenList([(thing, "")]), {id(thing)}
    for _ in range(HOPS):
        named = [join(name, tail) for one, tail in level if (name := _own_name(one, heap))]
        if named:
            return min(named)
        above, level = level, HiddenList()
        for child, tail in above:
            for place in [p for up in heap.parents(child) for p in places_in(up, child, heap)]:
                holder = place.holder[0] if type(place.holder) is HiddenList else place.holder
                if id(holder) not in met:
                    met.add(id(holder))
                    level.append((holder, join(place.name, tail)))
    return _anonymous(thing)


def _own_name(thing, heap) -> str | None:
    """Return the name of what needs no owner to be named; None for the rest."""
    if thing is sys.modules:
        return "sys.modules"  # and not the name under which another module keeps it
    if real_isinstance(thing, types.ModuleType):
        return heap.names.get(id(namespace(thing)))
    if type(thing) is dict:
        return heap.names.get(id(thing))
    if real_isinstance(thing, types.FunctionType):
        space, code = thing.__globals__, thing.__code__
    elif type(thing) is types.FrameType:
        space, code = thing.f_globals, thing.f_code
    else:
        return _class_name(thing) if real_isinstance(thing, type) else None
    name = short_name(code.co_qualname)
    at = name.endswith("<lambda>") and place_of(code)
    return f"{_home(space)}.{f'{name[:-1]} {at}>' if at else name}"


def _home(names: dict) -> str:
    name = dict.get(names, "__name__")
    return short_name(name) if type(name) is str else "?"


def _class_name(cls) -> str:
    """Return `module.Class`, short enough to be read."""
    home = "" if cls.__module__ == "builtins" else f"{short_name(str(cls.__module__))}."
    return home + short_name(cls.__qualname__)


def _anonymous(thing) -> str:
    name = _class_name(type(thing))
    article = "an" if name[0] in "aeiouAEIOU" else "a"
    return f"an instance of {name}" if "." in name else f"{article} {name} {LOST}"


def describe(obj) -> str:
    """Return a few words for any object: never its repr, never an address."""
    if real_isinstance(obj, types.FunctionType, types.BuiltinFunctionType):
        return f"the function {short_name(obj.__name__)}"
    if real_isinstance(obj, type):
        return f"the class {_class_name(obj)}"
    if real_isinstance(obj, types.ModuleType):
        return f"the module {_home(namespace(obj))}"
    if is_exactly(obj, *SCALARS):
        return label(obj)
    if type(obj) is types.MethodType and type(obj.__func__) is types.FunctionType:
        return f"the bound method {label(obj).removesuffix('()')}"
    words, inside = _anonymous(obj).removesuffix(f" {LOST}"), unwrap(obj)[0]
    if callable(obj) and (said := spoken(obj)).startswith("np."):
        return f"the {'ufunc' if inside is obj else 'function'} {said}"
    return f"{words} around {describe(inside)}" if type(inside) is types.FunctionType else words
