"""Arguments of several runs -> copies; two results -> whether they are the same, if that is known.

Plain data and dense tensors are copied and compared item by item. What else there is, is shared by
the runs, and is the same if it is the very same object. Random numbers can be made to come again.
"""

import copy
import random
from collections.abc import Callable

import numpy as np

from helpers.capture.text import tensors
from helpers.safety import restoring
from helpers.safety.arguments import is_a, is_exactly, kind_of

DEEPEST, MOST_ELEMENTS = 20, 50_000_000
_FIXED = (int, float, complex, bool, str, bytes, type(None), type(...), range, slice)
SAME, OTHER, UNKNOWN = "same", "other", "unknown"


def copied(values: tuple) -> tuple[tuple, list[str]]:
    """Return copies of arguments, and the types of what all runs share."""
    shared: list[str] = []
    made = _copy(values, {}, shared)
    return made, list(dict.fromkeys(shared))


def _copy(value, made: dict, shared: list[str]):
    """Return a copy, or the value itself where it is not copied; one object stays one."""
    if is_exactly(value, *_FIXED):
        return value
    if id(value) in made:
        return made[id(value)][0]
    if is_exactly(value, list, dict):
        twin = type(value)()
        made[id(value)] = twin, value  # the value, so that its id stays its own
        if type(value) is list:
            twin += [_copy(item, made, shared) for item in value]
        else:
            twin.update({key: _copy(item, made, shared) for key, item in value.items()})
        return twin
    if type(value) is tuple:
        twin = tuple(_copy(item, made, shared) for item in value)
    elif is_exactly(value, set, frozenset):
        twin = value.copy()
    else:
        twin = _copy_of_torch(value)
        if twin is None:
            shared.append(kind_of(value))
            twin = value
    made[id(value)] = twin, value
    return twin


def _copy_of_torch(value):
    """Return a tensor of the same values, or a copy of a module of torch's; None of others."""
    try:
        if tensors.is_tensor(value):
            return _tensor(value) if _is_readable(value) else None
        return copy.deepcopy(value) if _is_module(value) else None
    except Exception:  # torch cannot copy it
        return None


def _is_readable(tensor) -> bool:
    return tensors.has_its_elements(tensor) and tensor.numel() <= MOST_ELEMENTS


def _tensor(value):
    """Return a leaf of the same values that asks for a gradient if the tensor does."""
    import torch

    made = value.detach().clone().requires_grad_(value.requires_grad)
    return torch.nn.Parameter(made, value.requires_grad) if kind_of(value) == "Parameter" else made


def _is_module(value) -> bool:
    """Return whether it is a module of torch's own classes, with none of somebody else's in it."""
    torch = restoring.module("torch")
    if torch is None or not is_a(value, torch.nn.Module):
        return False
    return all(type(m).__module__.startswith("torch.nn") for m in torch.nn.Module.modules(value))


def compared(one, other, depth: int = 0) -> str:
    """Return SAME, OTHER, or UNKNOWN where only the objects' own code could tell.

    Tensors are the same by dtype, shape and nearly by value; no number equals itself by being nan
    elsewhere.
    """
    if type(one) is not type(other):
        return OTHER
    if tensors.is_tensor(one):
        return _tensors(one, other)
    if is_exactly(one, *_FIXED):
        return SAME if one == other or (one != one and other != other) else OTHER
    if one is other:
        return SAME
    if depth > DEEPEST:
        return UNKNOWN
    if is_a(one, list, tuple):
        pairs = zip(one, other, strict=False)
        return OTHER if len(one) != len(other) else _worst(compared(*p, depth + 1) for p in pairs)
    plain = is_exactly(one, dict, set, frozenset)
    if not plain or not all(is_exactly(key, *_FIXED) for part in (one, other) for key in part):
        return UNKNOWN
    if type(one) is not dict:
        return SAME if one == other else OTHER
    if one.keys() != other.keys():
        return OTHER
    return _worst(compared(one[key], other[key], depth + 1) for key in one)


def _worst(found) -> str:
    verdicts = set(found)
    return next((one for one in (OTHER, UNKNOWN) if one in verdicts), SAME)


def _tensors(one, other) -> str:
    import torch

    if one is other:
        return SAME
    if tensors.words(one) != tensors.words(other):
        return OTHER
    if not _is_readable(one) or not _is_readable(other):
        return UNKNOWN
    try:
        return SAME if torch.allclose(one, other, equal_nan=True) else OTHER
    except Exception:  # a dtype that cannot be subtracted
        return UNKNOWN


def same_random_numbers() -> Callable[[], None]:
    """Return what sets Python's, NumPy's and torch's own generators back to where they are now.

    Two runs of a program that draws, such as one with dropout, can be compared only so.
    """
    import torch

    before = random.getstate(), np.random.get_state(), torch.get_rng_state()

    def set_back() -> None:
        random.setstate(before[0])
        np.random.set_state(before[1])
        torch.set_rng_state(before[2])

    return set_back
