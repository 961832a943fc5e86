"""Arguments of several runs -> copies; two results -> whether they are the same, if that is known.

Plain data and dense tensors are copied and compared item by item. No `__deepcopy__` and no
`__eq__` of somebody else's runs: such a thing is shared by the runs, and is the same if it is the
very same object.
"""

import copy

from helpers.capture.text import tensors
from helpers.safety import imported
from helpers.safety.arguments import is_a, kind_of

DEEPEST, MOST_ITEMS, MOST_ELEMENTS = 20, 100_000, 50_000_000
_FIXED = (int, float, complex, bool, str, bytes, type(None), type(...), range, slice)
_PLAIN = (list, tuple, dict, set, frozenset)
SAME, OTHER, UNKNOWN = "same", "other", "unknown"


def copied(values: tuple) -> tuple[tuple, list[str]]:
    """Return copies of arguments, and the types of what all runs share."""
    work = _Copying()
    return tuple(work.copy(value, 0) for value in values), list(dict.fromkeys(work.shared))


def compared(one, other, depth: int = 0) -> str:
    """Return SAME, OTHER, or UNKNOWN where only the objects' own code could tell.

    Tensors are the same by dtype, shape and nearly by value; no number equals itself by being nan
    elsewhere.
    """
    if type(one) is not type(other):
        return OTHER
    if tensors.is_tensor(one):
        return _tensors(one, other)
    kind = type(one)
    if one is other and not _is_one_of(kind, (float, complex)):
        return SAME
    if _is_one_of(kind, _FIXED):
        return SAME if one == other or (one != one and other != other) else OTHER
    if depth > DEEPEST:
        return UNKNOWN
    if kind is list or issubclass(kind, tuple):
        base = list if kind is list else tuple
        if base.__len__(one) != base.__len__(other):
            return OTHER
        pairs = zip(base.__iter__(one), base.__iter__(other), strict=True)
        return _worst(compared(*pair, depth + 1) for pair in pairs)
    if kind is dict:
        return _dicts(one, other, depth)
    if _is_one_of(kind, (set, frozenset)) and all(_is_one_of(type(i), _FIXED) for i in one | other):
        return SAME if one == other else OTHER
    return UNKNOWN


def _dicts(one, other, depth) -> str:
    if not all(_is_one_of(type(key), _FIXED) for part in (one, other) for key in part):
        return UNKNOWN
    if one.keys() != other.keys():
        return OTHER
    return _worst(compared(one[key], other[key], depth + 1) for key in one)


def _worst(found) -> str:
    worst = SAME
    for verdict in found:
        if verdict == OTHER:
            return OTHER
        worst = UNKNOWN if verdict == UNKNOWN else worst
    return worst


def _tensors(one, other) -> str:
    import torch

    if one is other:
        return SAME
    if tensors.words(one) != tensors.words(other):
        return OTHER
    readable = tensors.has_its_elements(one) and tensors.has_its_elements(other)
    if not readable or one.numel() > MOST_ELEMENTS:
        return UNKNOWN
    try:
        return SAME if torch.allclose(one, other, equal_nan=True) else OTHER
    except Exception:  # a dtype that cannot be subtracted
        return UNKNOWN


def _is_one_of(kind: type, kinds) -> bool:
    return any(kind is known for known in kinds)  # `in` would ask a metaclass


class _Copying:
    """Copies of one call's arguments: what occurs twice is one object in the copy as well."""

    def __init__(self):
        self.shared: list[str] = []
        self._made: dict[int, object] = {}
        self._held: list[object] = []

    def copy(self, value, depth: int):
        """Return a copy, or the value itself where it is not copied."""
        kind = type(value)
        if _is_one_of(kind, _FIXED):
            return value
        if id(value) in self._made:
            return self._made[id(value)]
        self._held.append(value)  # so that its id stays its own
        if _is_one_of(kind, _PLAIN) and depth < DEEPEST and len(value) < MOST_ITEMS:
            return self._container(value, kind, depth)
        made = self._made[id(value)] = self._thing(value)
        return made

    def _container(self, value, kind, depth):
        if kind is list:
            made = self._made[id(value)] = []
            made.extend(self.copy(item, depth + 1) for item in value)
        elif kind is dict:
            made = self._made[id(value)] = {}
            made.update({key: self.copy(item, depth + 1) for key, item in value.items()})
        elif kind is tuple:
            made = self._made[id(value)] = tuple(self.copy(item, depth + 1) for item in value)
        else:
            made = self._made[id(value)] = kind(value)
        return made

    def _thing(self, value):
        try:
            if tensors.is_tensor(value):
                if tensors.has_its_elements(value) and value.numel() <= MOST_ELEMENTS:
                    return _tensor(value)
            elif _is_module(value):
                return copy.deepcopy(value)
        except Exception:  # torch cannot copy it
            pass
        self.shared.append(kind_of(value))
        return value


def _tensor(value):
    """Return a leaf of the same values that asks for a gradient if the tensor does."""
    import torch

    made = value.detach().clone().requires_grad_(value.requires_grad)
    return torch.nn.Parameter(made, value.requires_grad) if kind_of(value) == "Parameter" else made


def _is_module(value) -> bool:
    """Return whether it is a module of torch's own classes, with none of somebody else's in it."""
    torch = imported.module("torch")
    if torch is None or not is_a(value, torch.nn.Module):
        return False
    return all(type(m).__module__.startswith("torch.nn") for m in torch.nn.Module.modules(value))
