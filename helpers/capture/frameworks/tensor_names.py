"""A function and its arguments -> the names by which a reader knows the tensors in its run.

Only what is really a tensor, a variable, a layer or a module by its type is looked into, and no
code of its class runs.
"""

from collections.abc import Mapping
from types import CellType, FunctionType

from helpers.capture.cpython.objects import LONGEST_NAME, instance_dict, names_used
from helpers.capture.cpython.unwrapping import arguments
from helpers.capture.text.tensors import TENSORS, base_of
from helpers.safety import imported
from helpers.safety.arguments import is_a, printable
from helpers.safety.original_builtins import BUILTINS

__builtins__ = BUILTINS  # those of the interpreter may be patched when this runs

MOST_ITEMS, MOST_LOOKED_AT, DEEPEST = 100, 20_000, 20
MODULE, LAYER = ("torch.nn.modules.module", "Module"), ("keras.src.layers.layer", "Layer")


def names_of(fn, args: tuple, kwargs: Mapping) -> dict[object, str]:
    """Return identity -> name of every tensor and variable that `fn` names or is given.

    A layer's weights are named by their own path. What cannot be read is left out.
    """
    search = _Search()
    for name, value in _named(fn, args, kwargs):
        search.look(name, value, 0)
    return search.names


def is_tensor(value) -> bool:
    """Return whether this is a tensor, a variable or an array by its real type."""
    return base_of(type(value)) is not None


def value_is(value):
    """Return what tells whether the value is of the class that a (module, name) stands for."""

    def of(place: tuple[str, str]) -> bool:
        kind = getattr(imported.module(place[0]), place[1], None)
        return isinstance(kind, type) and is_a(value, kind)

    return of


def identity(tensor) -> object:
    """Return what stands for a tensor: TensorFlow numbers them, torch's have one object each."""
    if value_is(tensor)(TENSORS[1]):
        number = tensor._id
        return number if type(number) is int else id(tensor)
    return id(tensor)


def _named(fn, args, kwargs):
    yield "layer", fn  # where it is one; of anything else no tensor is found
    yield from arguments(fn, args, kwargs)
    if type(fn) is not FunctionType:
        return
    code = fn.__code__
    for name, cell in zip(code.co_freevars, fn.__closure__ or (), strict=True):
        try:
            yield name, CellType.cell_contents.__get__(cell)
        except ValueError:  # bound later
            continue
    for name in sorted(names_used(code) & fn.__globals__.keys()):
        yield name, fn.__globals__[name]


class _Search:
    """Names by identity, found in nested lists, layers and modules; each of these once."""

    def __init__(self):
        self.names: dict[object, str] = {}
        self._met: set[int] = set()

    def look(self, name: str, value, depth: int) -> None:
        """Note the tensors in this value under names that begin with `name`."""
        if depth > DEEPEST or len(self._met) > MOST_LOOKED_AT:
            return
        of = value_is(value)
        if is_a(value, list, tuple):
            base = list if is_a(value, list) else tuple
            if base.__len__(value) <= MOST_ITEMS and self._new(value):
                for at, item in enumerate(base.__iter__(value)):
                    self.look(f"{name}[{at}]", item, depth + 1)
        elif of(MODULE):
            self._module(name, value)
        elif of(LAYER):
            self._layer(name, value, depth)
        elif is_tensor(value):
            self._note(name, value)

    def _new(self, value) -> bool:
        new = id(value) not in self._met
        self._met.add(id(value))
        return new

    def _module(self, name: str, module) -> None:
        """Note a module's parameters as `named_parameters` would name them."""
        waiting = [(name, module)]
        while waiting and len(self._met) <= MOST_LOOKED_AT:
            path, module = waiting.pop()
            if not self._new(module):
                continue
            inside = instance_dict(module) or {}
            for part, weight in _items(inside.get("_parameters")):
                if weight is not None:
                    self._note(f"{path}.{part}", weight)
            below = _items(inside.get("_modules"))
            below = [(path if part == "_orig_mod" else f"{path}.{part}", m) for part, m in below]
            waiting += [(part, m) for part, m in reversed(below) if m is not None]

    def _layer(self, name: str, layer, depth: int) -> None:
        """Note a layer's weights by their own paths, and those of the layers in it."""
        if depth > DEEPEST or not self._new(layer):
            return
        inside = instance_dict(layer) or {}
        for kind in ("_trainable_variables", "_non_trainable_variables"):
            for weight in _list(inside.get(kind)):
                own = instance_dict(weight) or {}
                path = own.get("_path")
                held = own.get("_value")
                told = path if type(path) is str else name
                self._note(told, weight if held is None else held)
        for part in _list(inside.get("_layers")):
            if value_is(part)(LAYER):
                self._layer(name, part, depth + 1)

    def _note(self, name: str, tensor) -> None:
        for key in _identities(tensor):
            self.names.setdefault(key, printable(name, LONGEST_NAME))


def _items(found) -> list:
    """Return the items of a dict of torch's with names that are text."""
    pairs = dict.items(found) if is_a(found, dict) else ()
    return [(part, value) for part, value in pairs if type(part) is str]


def _list(found) -> list:
    return list(list.__iter__(found)) if is_a(found, list) else []


def _identities(tensor):
    """Yield what stands for a tensor in the log: its number or id, and that of its handle."""
    yield identity(tensor)
    handle = (instance_dict(tensor) or {}).get("_handle")  # of a variable of TensorFlow
    if handle is not None and value_is(handle)(TENSORS[1]):
        yield handle._id
    yield id(tensor)
