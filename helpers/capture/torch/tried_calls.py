"""A first call of a function -> the calls close to it on which two guard sets may differ.

Each of these neighbours differs from the first call in one thing that a guard could look at: one
argument, one global, or a mode of torch.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from types import FunctionType

from ...model.phrase import clipped
from ...safety.arguments import is_exactly
from ..cpython.objects import names_used

LONGEST_VALUE = 40  # characters
#: the largest int that is changed; a float of a larger one would overflow
LARGEST_INT = 2**1000


@dataclass(frozen=True)
class TriedCall:
    """One call on which guard sets are asked."""

    #: what is changed, such as `n = 3`
    words: str
    #: the arguments by name
    arguments: dict
    #: makes a context manager, in which a global or a mode is changed while the call is asked about
    world: Callable[[], AbstractContextManager] = nullcontext


def list_neighbours(fn: FunctionType, first: dict) -> list[TriedCall]:
    """Return the first call again, and every call with one change.

    Parameters
    ----------
    fn : function
        The function that is called.
    first : dict
        The arguments of the first call, by name.
    """
    import torch

    return [
        TriedCall("the same again", dict(first)),
        *_change_arguments(first),
        *_share_tensors(first),
        *_change_globals(fn, first),
        TriedCall("under torch.no_grad()", dict(first), torch.no_grad),
    ]


def _change_arguments(first: dict) -> Iterator[TriedCall]:
    """Yield calls with one other argument."""
    for name, value in first.items():
        for words, changed in _change_value(value):
            yield TriedCall(f"{name} {words}", {**first, name: changed})


def _share_tensors(first: dict) -> Iterator[TriedCall]:
    """Yield calls in which two arguments that are alike are one tensor."""
    import torch

    for (name, value), (later_name, later_value) in combinations(first.items(), 2):
        are_tensors = type(value) is type(later_value) is torch.Tensor
        if not are_tensors or value is later_value:
            continue
        if (value.shape, value.dtype) == (later_value.shape, later_value.dtype):
            yield TriedCall(f"{later_name} is {name}", {**first, later_name: value})


def _change_globals(fn: FunctionType, first: dict) -> Iterator[TriedCall]:
    """Yield a call with another value of each number or text that the function reads globally."""
    for name in sorted(names_used(fn.__code__)):
        # One change of a global is enough to see whether there is a guard on it.
        change = next(_change_scalar(fn.__globals__.get(name)), None)
        if change is not None:
            words, changed = change
            world = partial(replacing_global, fn.__globals__, name, changed)
            yield TriedCall(f"global {name} {words}", dict(first), world)


def _change_value(value: object) -> Iterator[tuple[str, object]]:
    """Yield words and another value for one argument, if another one can be made."""
    import torch

    if is_exactly(value, list, tuple):
        yield from _change_sequence(value)
    elif type(value) not in (torch.Tensor, torch.nn.Parameter):
        yield from _change_scalar(value)
    elif value.layout is torch.strided:
        yield from _change_tensor(value.detach())


def _change_sequence(value: list | tuple) -> Iterator[tuple[str, list | tuple]]:
    """Yield words and another list or tuple: of another length, and of the other class."""
    kind = type(value)
    other_kind = tuple if kind is list else list
    last = value[-1:] or [0]
    yield "one longer", kind([*value, *last])
    if value:
        yield "one shorter", value[:-1]
    yield f"as a {other_kind.__name__}", other_kind(value)


def _change_tensor(tensor) -> Iterator[tuple[str, object]]:
    """Yield words and another tensor, made from one that requires no gradient."""
    import torch

    yield "with other numbers", tensor + 1
    yield "of float64", tensor.double()
    if tensor.dim():
        yield "one longer", torch.cat([tensor, tensor[:1]])
        yield "of length 1", tensor[:1].clone()
        yield "of another stride", tensor.repeat_interleave(2, 0)[::2]
    yield "with one more dimension", tensor.unsqueeze(0).clone()
    if tensor.is_floating_point():
        yield "that requires a gradient", tensor.clone().requires_grad_()
        yield "a Parameter", torch.nn.Parameter(tensor.clone())


def _change_scalar(value: object) -> Iterator[tuple[str, object]]:
    """Yield words such as `= 3`, and another number or text; nothing for other objects."""
    # By their text, because 1, 1.0 and True are equal and yet not the same to a guard.
    others_by_text = {repr(other): other for other in _list_other_scalars(value)}
    for text, other in others_by_text.items():
        if text != repr(value):
            yield f"= {clipped(text, LONGEST_VALUE)}", other


def _list_other_scalars(value: object) -> tuple:
    """Return numbers or texts that a guard on this one may treat in another way."""
    if type(value) is bool:
        return (not value,)
    if type(value) is int and abs(value) < LARGEST_INT:
        return (value + 1, 0, 1, -value, float(value))
    if type(value) is float and math.isfinite(value):
        return (value + 1, -value, math.nan, int(value))
    if type(value) is str:
        return (f"{value}s", "")
    return ()


@contextmanager
def replacing_global(global_values: dict, name: str, value: object) -> Iterator[None]:
    """Give a global another value in a block, and its own value again after the block."""
    previous_value = global_values[name]
    global_values[name] = value
    try:
        yield
    finally:
        global_values[name] = previous_value
