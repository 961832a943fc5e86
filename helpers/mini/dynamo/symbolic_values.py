"""The symbolic values: what the mini-Dynamo's interpreter has on its stack instead of objects.
There are two exceptions by which it stops: GraphBreak ends the graph, SkipFrame gives up the frame.

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
# CPython pushes a NULL beside the callable of a call. This object stands for it.
NULL = object()
# Stands on the symbolic stack for the result of a call that runs only after the graph has run.
RESULT = object()


class SkipFrame(Exception):
    """The function cannot be traced, so the call runs as plain Python. The message says why."""


class GraphBreak(Exception):
    """A graph break: the graph ends before one instruction, which Python runs on real objects.

    The instruction is the call `fn(*args, **kwargs)` of symbolic values, or, if `fn` is None, a
    jump that depends on the value of a tensor. A resume function runs the rest of the frame.
    `pushes` has what the call leaves on the stack: RESULT, with or without a NULL.
    """

    def __init__(self, why, fn=None, args=(), kwargs=None, pushes=(RESULT,)):
        """Keep the reason `why`, and the call that Python has to run.

        The function that finds the reason often does not know the call. A caller that knows it
        catches the GraphBreak, and raises another one with the call.
        """
        super().__init__(why)
        self.fn = fn
        self.call_args = list(args)  # the name `args` is an attribute of every exception
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
class SequenceVariable:
    """A tuple or list of symbolic values. `kind` is its type, tuple or list."""

    kind: type
    items: list
    source: str = ""


@dataclass(eq=False)
class MethodVariable:
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
    if type(value) is tuple:
        # A tuple with a nan is refused by `item == item`: a guard could never find it equal.
        return all(is_immutable(item) and item == item for item in value)
    if type(value) is slice:
        return all(type(part) in SCALARS for part in (value.start, value.stop, value.step))
    return type(value) in IMMUTABLE
