"""A holder -> the words that name it: a dotted path from a module, a class or a function.

Functions go by the name under which their code was written (`co_qualname`), because decorators
copy `__name__` and `__qualname__` from what they wrap, and two owners would look like one.
"""

import sys
import types

from helpers.capture.cpython.objects import namespace
from helpers.capture.cpython.unwrapping import unwrap
from helpers.capture.references.heap import Shelf
from helpers.capture.references.places_in_holder import places_in
from helpers.capture.text.label import SCALARS, label, short_name
from helpers.model.bindings import join
from helpers.safety.arguments import is_a, is_exactly
from helpers.safety.original_builtins import BUILTINS

__builtins__ = BUILTINS

HOPS = 5
LOST = "(owner not found)"


def owners_of(place, heap) -> tuple[str, ...]:
    """Return a path per owner of `place`: one, or for a shared closure cell one per function."""
    if type(place.holder) is Shelf:
        return tuple(sorted({_own_name(function, heap) for function in place.holder}))
    return (_path(place.holder, heap),)


def _path(thing, heap) -> str:
    """Return the shortest path from a module, class or function to `thing`; ties by alphabet."""
    level, met = [(thing, "")], {id(thing)}
    for _ in range(HOPS):
        named = [_chain(_own_name(one, heap), tail) for one, tail in level if _own_name(one, heap)]
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
    return _suspended_name(thing)


def _suspended_name(thing) -> str | None:
    for base, prefix in _SUSPENDED:
        if is_a(thing, base):
            frame = getattr(thing, f"{prefix}_frame")
            return f"{_home(frame.f_globals) if frame else '?'}.{short_name(thing.__qualname__)}"
    return None


_SUSPENDED = (
    (types.GeneratorType, "gi"),
    (types.CoroutineType, "cr"),
    (types.AsyncGeneratorType, "ag"),
)


def _home(names: dict) -> str:
    name = dict.get(names, "__name__")
    return short_name(name) if type(name) is str else "?"


def _anonymous(thing) -> str:
    if is_a(thing, types.ModuleType):
        return f"{_home(namespace(thing))} (a module that sys.modules does not list)"
    name = class_name(type(thing))
    article = "an" if name[0] in "aeiouAEIOU" else "a"
    plain = "." not in name
    return f"{article} {name} {LOST}" if plain else f"an instance of {name}"


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
    module = type.__dict__["__module__"].__get__(cls)
    name = short_name(type.__dict__["__qualname__"].__get__(cls))
    plain = type(module) is not str or module == "builtins"
    return name if plain else f"{short_name(module)}.{name}"
