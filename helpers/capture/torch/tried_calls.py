"""A first call of a function -> calls that differ from it in one thing that a guard could check.

The thing is one argument, one global, or a mode of torch. Two guard sets, which say whether
compiled code may be used for a call, are compared on these calls.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import combinations, islice
from types import FunctionType

from ...model.phrase import clip_text
from ...safety.arguments import is_exactly
from ..cpython.objects import list_global_names

LONGEST_VALUE = 40  # characters
# Larger ints are not varied, because a float of them would overflow.
LARGEST_INT = 2**1000


@dataclass(frozen=True)
class TriedCall:
    """One call about which guard sets are asked."""

    #: what is changed, such as `n = 3`
    change: str
    #: the arguments by name
    arguments: dict
    #: returns a context manager, in which a global or a mode is changed for this call
    make_context: Callable[[], AbstractContextManager] = nullcontext


def list_neighbours(fn: FunctionType, first: dict) -> list[TriedCall]:
    """Return the first call again, and calls with one change each.

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
        *_vary_arguments(first),
        *_share_tensors(first),
        *_vary_globals(fn, first),
        TriedCall("under torch.no_grad()", dict(first), torch.no_grad),
    ]


def _vary_arguments(first: dict) -> Iterator[TriedCall]:
    """Yield calls in which one argument has another value; `first` are the first call's by name."""
    for name, value in first.items():
        for change, changed_value in _vary_value(value):
            yield TriedCall(f"{name} {change}", {**first, name: changed_value})


def _share_tensors(first: dict) -> Iterator[TriedCall]:
    """Yield calls in which the same tensor is passed for two arguments.

    Only tensors of the same shape and dtype are replaced by each other. Torch has a guard against
    such sharing.
    """
    import torch

    for (name, value), (later_name, later_value) in combinations(first.items(), 2):
        are_tensors = type(value) is type(later_value) is torch.Tensor
        if not are_tensors or value is later_value:
            continue
        if (value.shape, value.dtype) == (later_value.shape, later_value.dtype):
            yield TriedCall(f"{later_name} is {name}", {**first, later_name: value})


def _vary_globals(fn: FunctionType, first: dict) -> Iterator[TriedCall]:
    """Yield a call with another value for each number or text among the globals of `fn`.

    Only globals that the function names are changed.
    """
    for name in sorted(list_global_names(fn.__code__)):
        changes = _vary_scalar(fn.__globals__.get(name))
        # One change of a global is enough to see whether there is a guard on it. There is none for
        # a global that is no number and no text.
        for change, changed_value in islice(changes, 1):
            make_context = partial(replacing_global, fn.__globals__, name, changed_value)
            yield TriedCall(f"global {name} {change}", dict(first), make_context)


def _vary_value(value: object) -> Iterator[tuple[str, object]]:
    """Yield other values that a guard may treat differently, each with a text on the change.

    A pair is, for example, `("= 3", 3)` or `("of float64", tensor)`. For an object that is no
    sequence, tensor, number or text there is none.
    """
    import torch

    if is_exactly(value, list, tuple):
        yield from _vary_sequence(value)
    elif type(value) not in (torch.Tensor, torch.nn.Parameter):
        yield from _vary_scalar(value)
    elif value.layout is torch.strided:
        yield from _vary_tensor(value.detach())


def _vary_sequence(value: list | tuple) -> Iterator[tuple[str, list | tuple]]:
    """Yield pairs such as `("one longer", [1, 2, 2])`: other lengths, and the other class."""
    cls = type(value)
    other_cls = tuple if cls is list else list
    added_items = value[-1:] or [0]  # the last item again; 0 for an empty sequence
    yield "one longer", cls([*value, *added_items])
    if value:
        yield "one shorter", value[:-1]
    yield f"as a {other_cls.__name__}", other_cls(value)


def _vary_tensor(tensor) -> Iterator[tuple[str, object]]:
    """Yield pairs such as `("of float64", tensor.double())`; `tensor` requires no gradient."""
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


def _vary_scalar(value: object) -> Iterator[tuple[str, object]]:
    """Yield pairs such as `("= 3", 3)` with another number or text."""
    # The key is the repr. As keys, 1, 1.0 and True would be equal, but for a guard they are not.
    others_by_text = {repr(other): other for other in _list_other_scalars(value)}
    for text, other in others_by_text.items():
        if text != repr(value):
            yield f"= {clip_text(text, LONGEST_VALUE)}", other


def _list_other_scalars(value: object) -> tuple:
    """Return numbers or texts that a guard may treat in another way than `value`.

    The tuple is empty for an object that is no number and no text.
    """
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
