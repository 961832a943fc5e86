"""A holder and what it holds -> the places: how to read each, how to write it, who owns it.

A place reads and writes through the methods of the built-in types. One that cannot be written has a
reason. The collector reports raw parts, such as the dict behind an instance: who owns a part
follows from its own holders.
"""

import functools
import inspect
import sys
import types
from collections import deque
from contextlib import suppress
from functools import partial
from gc import get_referents, get_referrers
from types import SimpleNamespace

from ...internals.interpreter_frame import local_variables
from ...model.reference_records import Binding, join
from ...safety import restoring
from ...safety.arguments import is_exactly, item_of_type, printable, real_isinstance, real_type_name
from ...safety.restoring import Own
from ..cpython.objects import instance_dict, namespace
from ..text.source import place_of

MISSING = Own()
_IMMUTABLE, _MANAGED_DICT = 1 << 8, 1 << 4  # of a type's __flags__
_NO_PLACE = (types.TracebackType,)  # what it keeps is told by the exception
# Attributes of types written in C whose getters return what is kept, and run nothing.
_PLAIN_GETTERS = {"__cause__", "__context__", "__self__", "args", "_coro", "_exception", "_result"}
_FRAMES = {types.GeneratorType: "gi_frame", types.CoroutineType: "cr_frame"}
_FRAMES[types.AsyncGeneratorType] = "ag_frame"
_FIXED_TYPE = "its type cannot be changed"
_FIXED = {  # kind of place -> why it cannot be written
    "dict key": "a key is found by its hash",
    "frozenset member": "a frozenset cannot be changed",
    "tuple item": "a tuple cannot be changed",
    "bound method": "a bound method's {} is read-only",
    "C-level holder": "it is in C or in a slot, where the search does not write",
}


class HiddenList(list, Own):
    """A list that the search may keep live objects in without finding it."""


class Place(Own):
    """A reference held by `container` under `name`; one with a `reason` cannot be written.

    `holder` is the object whose path names the owner. `owners` are the texts of that path, more
    than one only for a closure cell that several functions share. `at`: a key, an index, a name.
    `errors`: the exceptions whose tracebacks contain the holder, a frame.
    """

    def __init__(self, kind, container, name, holder=None, at=None, reason="", errors=()):
        self.kind, self.container, self.name = kind, container, name
        self.reason = reason or _FIXED.get(kind, "").format(name)
        self.holder = container if holder is None else holder
        self.at, self.scan, self.owners, self.cached = at, False, (), False
        self.errors = errors

    @property
    def key(self) -> tuple:
        """What makes two records of one place equal within this process."""
        plain = self.kind != "dict value" or is_exactly(self.at, int, str)
        return id(self.container), self.name, 0 if plain else id(self.at)

    @property
    def paths(self) -> tuple[str, ...]:
        """Every dotted path under which `keep` and `only` may name this place."""
        return (self.binding.path, *(join(owner, self.name) for owner in self.owners))

    @property
    def binding(self) -> Binding:
        """The row of this place."""
        owner = " and ".join(self.owners[:3]) + (" and others" if len(self.owners) > 3 else "")
        return Binding(self.kind, owner, self.name, self.scan, not self.reason, self.reason)

    def get(self):
        """Return what the place holds now, MISSING where the place is gone, or cannot be read."""
        try:
            return MISSING if self.reason else _WAYS.get(self.kind, _IN_DICT)[0](self)
        except Exception:
            return MISSING

    def follow(self, value, others: list["Place"]) -> None:
        """Find `value` where the program has moved it inside its list or deque.

        Not where one of the `others` is, which has its own.
        """
        base = {"list item": list, "deque item": deque}.get(self.kind)
        if base is not None and self.get() is not value:
            taken = {other.at for other in others if other.container is self.container}
            items = enumerate(base.__iter__(self.container))
            found = (at for at, one in items if one is value and at not in taken)
            self.at = next(found, self.at)

    def put(self, value) -> None:
        """Make the place hold `value`; an error, and nothing changed, where Python refuses."""
        _WAYS.get(self.kind, _IN_DICT)[1](self, value)


def module_name(name: str, module, at: str) -> Place:
    """Return the place of a name in a module that `sys.modules` lists."""
    place = Place("module attribute", namespace(module), at, module, at)
    cache = fast_cache(module)
    place.cached = bool(cache and cache.has(at))  # or a look-up in the block fills it
    place.owners, place.scan = (name,), True
    return place


def fast_cache(module) -> SimpleNamespace | None:
    """Return the doors to a `TFModuleWrapper`'s cache (python/util/fast_module_type.cc).

    The wrapper (tensorflow/python/util/module_wrapper.py) keeps three copies: its own dict, that of
    the module it wraps, and a cache in C that wins every look-up and is filled by it.
    """
    wrapped = dict.get(namespace(module), "_tfmw_wrapped_module")
    kinds = [cls.__name__ for cls in type(module).__mro__]
    if "TFModuleWrapper" not in kinds or not real_isinstance(wrapped, types.ModuleType):
        return None
    ends = {"has": "key_in", "get": "get", "insert": "insert", "pop": "pop"}
    doors = {n: object.__getattribute__(module, f"_fastdict_{end}") for n, end in ends.items()}
    return SimpleNamespace(wrapped=wrapped, **doors)


def _write_module(place: Place, value) -> None:
    dict.__setitem__(place.container, place.at, value)
    if cache := fast_cache(place.holder):
        dict.__setitem__(namespace(cache.wrapped), place.at, value)
        if cache.has(place.at):
            cache.insert(place.at, value) if place.cached else cache.pop(place.at)


def _read_cache(place: Place):
    cache = fast_cache(place.container)
    return cache.get(place.at) if cache.has(place.at) else MISSING


def _read_class(place: Place):
    name, wrapper = place.at
    now = vars(place.container)[name]
    return now.__func__ if wrapper and type(now) is wrapper else now


def _write_class(place: Place, value) -> None:
    # A wrapper is built anew: CPython's specialised instructions look at the version of the class,
    # which only an assignment to the class moves on.
    name, wrapper = place.at
    type.__setattr__(place.container, name, wrapper(value) if wrapper else value)


def _write_member(place: Place, value) -> None:
    set.add(place.container, value)
    set.discard(place.container, place.at)
    place.at = value


def _write_default(place: Place, value) -> None:
    items = list(place.container.__defaults__)
    items[place.at] = value
    place.container.__defaults__ = tuple(items)


def _write_partial(place: Place, value) -> None:
    held = place.container  # Modules/_functoolsmodule.c
    partial.__setstate__(held, (value, held.args, held.keywords, instance_dict(held) or None))


_IN_DICT = (
    lambda place: dict.__getitem__(place.container, place.at),
    lambda place, value: dict.__setitem__(place.container, place.at, value),
)
_WAYS = {  # kind of place -> what reads it, what writes it; a dict for all others
    "module attribute": (_IN_DICT[0], _write_module),
    "class attribute": (_read_class, _write_class),
    "set member": (
        lambda place: place.at if place.at in place.container else MISSING,
        _write_member,
    ),
    "list item": (
        lambda place: list.__getitem__(place.container, place.at),
        lambda place, value: list.__setitem__(place.container, place.at, value),
    ),
    "deque item": (
        lambda place: deque.__getitem__(place.container, place.at),
        lambda place, value: deque.__setitem__(place.container, place.at, value),
    ),
    "closure cell": (
        lambda place: place.container.cell_contents,
        lambda place, value: setattr(place.container, "cell_contents", value),
    ),
    "default argument": (lambda place: place.container.__defaults__[place.at], _write_default),
    "partial": (lambda place: place.container.func, _write_partial),
    "C-level cache": (
        _read_cache,
        lambda place, value: fast_cache(place.container).insert(place.at, value),
    ),
}


def array_type() -> type | None:
    """Return the class of NumPy's arrays, if somebody has imported it."""
    return getattr(restoring.module("numpy"), "ndarray", None)


def in_array(thing) -> list:
    """Return what a NumPy array keeps, and the collector does not see: its base and its objects."""
    kind = array_type()
    if kind is None or not real_isinstance(thing, kind):
        return []
    base, flat, dtype = (getattr(kind, name).__get__(thing) for name in ("base", "flat", "dtype"))
    if dtype.char == "O":
        return [base, *flat]
    return [] if base is None else [base]


def is_immutable(cls) -> bool:
    """Return whether CPython refuses `cls.name = value` for every name."""
    return bool(cls.__flags__ & _IMMUTABLE)


def names_of(container: dict, child) -> list:
    """Return the keys whose value is `child`.

    No list of all pairs is made: so many tuples at once would bring a collection nearer.
    """
    while True:
        try:
            return [key for key, value in dict.items(container) if value is child]
        except RuntimeError:  # another thread has changed it meanwhile
            continue


def places_in(holder, child, heap) -> list[Place]:
    """Return the places in `holder` that hold `child`; none for bare views."""
    found = []
    if real_isinstance(holder, *_NO_PLACE, type):
        return found
    if real_isinstance(holder, dict):
        found = _in_dict(holder, child, heap)
    elif real_isinstance(holder, deque):
        indexes = [at for at, one in enumerate(deque.__iter__(holder)) if one is child]
        found = [Place("deque item", holder, f"[{at}]", at=at) for at in indexes]
    elif type(holder) is types.MappingProxyType:
        return [Place("C-level holder", holder, "")]
    elif real_isinstance(holder, list):
        indexes = [at for at, one in enumerate(list.__iter__(holder)) if one is child]
        found = [Place("list item", holder, f"[{at}]", at=at) for at in indexes]
    elif real_isinstance(holder, tuple):
        found = _in_tuple(holder, child, heap.parents(holder))
    elif real_isinstance(holder, set, frozenset):
        kind = "frozenset member" if real_isinstance(holder, frozenset) else "set member"
        found = [Place(kind, holder, "{member}", at=one) for one in list(holder) if one is child]
    elif type(holder) is types.CellType:
        return _in_cell(holder, child, heap)
    elif type(holder) is types.MethodType:
        names = [name for name in ("__func__", "__self__") if getattr(holder, name) is child]
        return [Place("bound method", holder, name) for name in names]
    elif real_isinstance(holder, types.ModuleType):
        cache = fast_cache(holder)
        known = [name for name in list(namespace(holder)) if cache.has(name)] if cache else []
        return [Place("C-level cache", holder, n, at=n) for n in known if cache.get(n) is child]
    elif is_exactly(holder, staticmethod, classmethod):
        found = _in_wrapper(holder, heap)
    elif inside := in_array(holder):
        at = [at for at, one in enumerate(inside) if one is child]
        found = [Place("C-level holder", holder, f"[{n - 1}]" if n else "base") for n in at]
    elif real_isinstance(holder, partial) and holder.func is child:
        return [Place("partial", holder, "func")]
    wrapper = found and is_exactly(holder, staticmethod, classmethod)
    if wrapper or is_exactly(holder, dict, list, deque, tuple, set, frozenset):
        return found
    return found + _in_instance(holder, child)


def _in_dict(holder, child, heap):
    if vars(sys.modules["__main__"]).get("Out") is holder:  # IPython's record of results
        return []
    parents, keys, name = heap.parents(holder), names_of(holder, child), heap.names.get(id(holder))
    owners = [(kind, parent) for parent in parents if (kind := _kind_of_part(parent, holder))]
    if name in sys.modules:
        found = [module_name(name, sys.modules[name], at) for at in keys]
    elif owners:
        found = [_in_owner(*owner, holder, at) for at in keys for owner in owners]
    elif parents and all(type(p) is types.FrameType and not _in_call(p, holder) for p in parents):
        return []  # only the snapshot of a frame's locals
    else:
        # The collector skips a built-in type, the only way to its dict.
        reason = "" if parents or not dict.__contains__(holder, "__doc__") else _FIXED_TYPE
        found = [Place("dict value", holder, key_words(k), at=k, reason=reason) for k in keys]
    if any(key is child for key in list(holder)):
        found.append(Place("dict key", holder, "{key}"))
    return found


def _kind_of_part(parent, inside) -> str:
    """Return the kind of the places in a dict that is a part of `parent`, "" if it is none."""
    if real_isinstance(parent, types.ModuleType):
        return "hidden module attribute" if namespace(parent) is inside else ""
    if real_isinstance(parent, type):
        behind = get_referents(vars(parent))[0]  # the read-only view of its dict
        return "class attribute" if behind is inside else ""
    if real_isinstance(parent, types.FunctionType) and parent.__kwdefaults__ is inside:
        return "keyword default"
    if instance_dict(parent) is not inside:
        return ""
    function = real_isinstance(parent, types.FunctionType, functools._lru_cache_wrapper)
    return "function attribute" if function else "instance attribute"


def _in_owner(kind: str, parent, inside: dict, at) -> Place:
    if kind == "class attribute":
        reason = _FIXED_TYPE if is_immutable(parent) else ""
        return Place(kind, parent, at, at=(at, None), reason=reason)
    name = at if type(at) is str else key_words(at)
    name = f"__kwdefaults__{key_words(at)}" if kind == "keyword default" else name
    return Place(kind, inside, name, parent, at)


def _in_tuple(holder, child, parents):
    """A tuple that nothing in the heap holds carries the arguments of a call: no place."""
    # gc.get_referrers itself, and each call on the way here, holds the object in such a tuple.
    if not parents or any(real_isinstance(p, type) and p.__mro__ is holder for p in parents):
        return []
    indexes = [at for at, one in enumerate(tuple.__iter__(holder)) if one is child]
    found = [
        Place("default argument", function, f"__defaults__[{at}]", at=at)
        for function in parents
        if real_isinstance(function, types.FunctionType) and function.__defaults__ is holder
        for at in indexes
    ]
    return found or [Place("tuple item", holder, f"[{at}]") for at in indexes]


def _in_cell(holder, child, heap):
    # Closures share a cell: a write to it changes the variable for all of them.
    owners = HiddenList(
        function
        for closure in heap.parents(holder)
        for function in heap.parents(closure)
        if real_isinstance(function, types.FunctionType) and function.__closure__ is closure
    )
    if not owners:  # a running call's, or that of a call that something keeps
        return [place for call in heap.parents(holder) for place in _in_call(call, child)]
    at = next(at for at, cell in enumerate(owners[0].__closure__) if cell is holder)
    name = owners[0].__code__.co_freevars[at]
    reason = "super() without arguments needs it" if name == "__class__" else ""
    return [Place("closure cell", holder, name, owners, reason=reason)]


def _in_call(call, child) -> list[Place]:
    """Return the variables that hold `child`, of a frame that is over or of a generator."""
    is_frame, name = type(call) is types.FrameType, item_of_type(call, _FRAMES)
    frame = call if is_frame else name and getattr(call, name)
    if not frame or not frame.f_code.co_flags & inspect.CO_OPTIMIZED:  # a function's
        return []
    names = [name for name, value in local_variables(frame).items() if value is child]
    errors = HiddenList(_find_errors(frame) if names and is_frame else ())
    at = place_of(frame.f_code, frame.f_lineno)
    of = f"the traceback of {real_type_name(errors[0])}" if errors else f"a {real_type_name(call)}"
    why = f"{of} keeps it{at and f', at {at}'}"
    return [Place("local variable", call, name, reason=why, errors=errors) for name in names]


def _find_errors(frame) -> HiddenList:
    """Return the exceptions whose tracebacks contain a frame, without those behind another one."""
    level, errors = HiddenList([frame]), HiddenList()
    while level:
        kept = [up for one in level for up in get_referrers(one)]
        errors.extend(one for one in kept if real_isinstance(one, BaseException))
        level = HiddenList(one for one in kept if type(one) is types.TracebackType)
    behind = {id(cause) for one in errors for cause in (one.__context__, one.__cause__)}
    outer = (one for one in errors if id(one) not in behind)
    return HiddenList(sorted(outer, key=real_type_name))


def _in_slots(holder, child) -> list[Place]:
    """Return the slots, and the attributes kept in C, that hold `child`."""
    found, fixed = [], _FIXED["C-level holder"]
    for name, slot in [pair for base in type(holder).__mro__ for pair in vars(base).items()]:
        readable = type(slot) is types.MemberDescriptorType
        readable = readable or (name in _PLAIN_GETTERS and type(slot) is types.GetSetDescriptorType)
        with suppress(AttributeError):  # it is empty
            if readable and slot.__get__(holder) is child:
                found.append(Place("instance attribute", holder, name, reason=fixed))
    return found


def _name_in_c(holder, child) -> str:
    """Return in words what part of an object written in C holds `child`."""
    if is_exactly(holder, *_FRAMES, types.FrameType):
        return "(on its value stack)"
    if type(holder) is functools._lru_cache_wrapper:
        return "(inside the C object)" if holder.__wrapped__ is child else "(its cache)"
    return "(inside the C object)"


def _in_annotations(function, child) -> list[Place]:
    """Return the place of annotations that CPython still has as a tuple of names and values."""
    if type(child) is not tuple or function.__defaults__ is child or function.__closure__ is child:
        return []
    return [Place("C-level holder", function, "__annotations__")]


def _in_wrapper(holder, heap):
    return [
        Place("class attribute", owner, at, at=(at, type(holder)))
        for inside in heap.parents(holder)
        for owner in heap.parents(inside)
        if _kind_of_part(owner, inside) == "class attribute"
        for at in names_of(inside, holder)
    ]


def _in_instance(holder, child):
    inside = instance_dict(holder)
    kind = "" if inside is None else _kind_of_part(holder, inside)
    found = [_in_owner(kind, holder, inside, at) for at in names_of(inside, child)] if kind else []
    # What the collector counts more often than we have found in Python is held by C code.
    in_c = sum(one is child for one in get_referents(holder)) - (type(holder) is child)
    in_c -= len(found) * bool(type(holder).__flags__ & _MANAGED_DICT)  # kept without a dict
    if real_isinstance(holder, dict, list, deque, tuple, set, frozenset):
        return found + _in_slots(holder, child)  # such as the default_factory of a defaultdict
    if in_c <= 0:
        return found
    named = _in_call(holder, child) or _in_slots(holder, child)
    if not named and real_isinstance(holder, types.FunctionType):
        named = _in_annotations(holder, child)
    return found + (named or [Place("C-level holder", holder, _name_in_c(holder, child))])


def key_words(key) -> str:
    """Return `['key']` for a string, `[3]` for a number, `[str]` for a class, else the type."""
    if real_isinstance(key, type):
        return f"[{printable(key.__name__)}]"
    plain = is_exactly(key, str, int, bool, type(None))
    return f"[{key!r}]" if plain else f"[<{real_type_name(key)}>]"
