"""The five decisive parts of the mini-Dynamo, finished. A learner's own can take each one's place.

`PARTS` holds the finished ones; `dataclasses.replace(PARTS, guards=mine)` exchanges one, and
`compile(fn, parts=...)` runs with it.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import fx

from ..vm.steps import ARITHMETIC, COMPARISON
from .symbolic_values import Items, Known, Tensor

OPERATORS = {**ARITHMETIC, **COMPARISON}


def binary_op(trace, sign: str, left, right):
    """Return the symbolic result of `left sign right`: computed now if both are known."""
    fn = OPERATORS[sign]
    if isinstance(left, Known) and isinstance(right, Known):
        return Known(fn(left.value, right.value))
    return trace.record(fn, left, right)


class Recorder:
    """The FX graph while it grows. Mirrors torch/_dynamo/output_graph.py."""

    def __init__(self):
        self.graph = fx.Graph()
        self.inputs = {}  # source -> node, in the order in which they were first used

    def input(self, source: str):
        """Add an input for a tensor from outside, asked for once per source, and return it."""
        node = self.graph.placeholder(f"arg{len(self.inputs)}")
        self.inputs[source] = node
        return node

    def call(self, fn, args: tuple, kwargs: dict):
        """Add a node that calls `fn`, or the method of that name, and return it."""
        add_node = self.graph.call_method if isinstance(fn, str) else self.graph.call_function
        written_args = tuple(written(value) for value in args)
        written_kwargs = {name: written(value) for name, value in kwargs.items()}
        return add_node(fn, written_args, written_kwargs)


def written(value, what: str = "node"):
    """Return what represents a symbolic value in the graph: a node, a constant, or a list."""
    if isinstance(value, Tensor):
        return getattr(value, what)
    if isinstance(value, Items):
        return value.kind(written(item, what) for item in value.items)
    return value.value


def guards(source: str, value) -> list[str]:
    """Return expressions that are true as long as `source` is a value like this one."""
    if isinstance(value, torch.Tensor):
        # Tensors that are not on the CPU get a guard on their device from `Tracing`.
        kind = "Tensor" if type(value) is torch.Tensor else "nn.Parameter"
        return [
            f"type({source}) is torch.{kind}",
            f"{source}.dtype is {value.dtype}",
            f"{source}.shape == {tuple(value.shape)}",
            f"{source}.stride() == {value.stride()}",
            f"{source}.is_cpu is {value.is_cpu}",
            f"{source}.requires_grad is {value.requires_grad}",
        ]
    if value is None or isinstance(value, bool):
        return [f"{source} is {value}"]
    if isinstance(value, float):  # 0.0 == -0.0, and nan != nan
        return [f"type({source}) is float", f"{source}.hex() == {value.hex()!r}"]
    return [f"type({source}) is {type(value).__name__}", f"{source} == {value!r}"]


def lookup(entries: list, values: tuple):
    """Return (the first entry that fits or None, the first failing guard of each one before it)."""
    misses = []
    for entry in entries:
        failing = entry.first_failing(values)
        if failing is None:
            return entry, misses
        misses.append(failing.text)
    return None, misses


def receives(code, start: int, bound: list[str]) -> list[str]:
    """Return which of these names some way through the code from `start` reads before it stores.

    Liveness analysis: the names that are live before a step are those that it reads, and those
    that are live before a next step and that it does not store, until nothing changes. torch does
    the same (livevars_analysis, torch/_dynamo/bytecode_analysis.py).
    """
    live = [set() for _ in code.steps]
    changed = True
    while changed:
        changed = False
        for position in reversed(range(len(live))):
            live_after = set()
            for following in code.after(position):
                live_after |= live[following]
            live_before = (live_after - code.stores(position)) | code.reads(position)
            if live_before != live[position]:
                live[position] = live_before
                changed = True
    return [name for name in bound if name in live[start]]


@dataclass(frozen=True)
class Parts:
    """One choice for each of the five steps."""

    #: (trace, sign, left, right) -> the symbolic result of an operator.
    binary_op: Callable = binary_op
    #: The class of the growing graph.
    recorder: type = Recorder
    #: (source, value) -> the expressions that have to stay true.
    guards: Callable = guards
    #: (entries, values) -> the entry that fits, and the failing guards before it.
    lookup: Callable = lookup
    #: (code, start, bound) -> the names that the rest of a function receives.
    receives: Callable = receives


PARTS = Parts()
UNARY = {
    "UNARY_NEGATIVE": operator.neg,
    "UNARY_INVERT": operator.invert,
    "UNARY_POSITIVE": operator.pos,
}
