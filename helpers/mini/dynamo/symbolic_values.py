"""What lies on the symbolic stack instead of real objects, and the two ways to stop.

Mirrors torch/_dynamo/variables/: TensorVariable, ConstantVariable, ListVariable, LazyVariable.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from types import EllipsisType, NoneType

import torch

SCALARS = (int, float, bool, str, NoneType)
IMMUTABLE = (
    *SCALARS,
    range,
    slice,
    EllipsisType,
    torch.Size,
    torch.dtype,
    torch.device,
    torch.layout,
    torch.memory_format,
)
NULL = object()  # the mark beside the callable of a call
RESULT = object()  # what a call that runs for real will return


class Refuse(Exception):
    """The whole frame is to run as plain Python; the sentence says why."""


class Break(Exception):
    """The graph ends here: `fn(*args, **kwargs)` has to run for real, then a resume function.

    `fn` is a symbolic value; None means a jump on a tensor. `pushes` is what the instruction
    leaves on the stack: RESULT, with or without a NULL.
    """

    def __init__(self, why, fn=None, args=(), kwargs=None, pushes=(RESULT,)):
        """Say `why` in a clause, and which call of symbolic values runs for real."""
        super().__init__(why)
        self.fn = fn
        self.args_for_real = list(args)  # not `args`, which an exception has already
        self.kwargs = kwargs or {}
        self.pushes = pushes


@dataclass(eq=False)
class Tensor:
    """A tensor: its node in the graph, and a fake that has shape and dtype but no numbers."""

    node: object
    fake: object
    source: str = ""  # how generated code reaches it, if it came from outside


@dataclass(eq=False)
class Known:
    """An object that is known now; if it came from outside, guards check that."""

    value: object
    source: str = ""


@dataclass(eq=False)
class Items:
    """A tuple or list of symbolic values. `kind` is its type, tuple or list."""

    kind: type
    items: list
    source: str = ""


@dataclass(eq=False)
class Method:
    """A bound method, looked up by name on a symbolic value."""

    owner: object
    name: str


@dataclass(eq=False)
class LazyVariable:
    """A value from outside that nothing has looked at yet, so it has no guard."""

    value: object
    source: str


@dataclass(eq=False)
class IteratorVariable:
    """An iterator over symbolic values: the loop is unrolled."""

    items: Iterator


def is_immutable(value: object) -> bool:
    """Return whether a value can never change, by its exact type and what it holds."""
    if type(value) is tuple:  # a nan in it is found by identity, which no guard knows
        return all(is_immutable(item) and item == item for item in value)
    if type(value) is slice:
        return all(type(part) in SCALARS for part in (value.start, value.stop, value.step))
    return type(value) in IMMUTABLE
