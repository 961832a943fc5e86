"""Five steps of the mini-Dynamo that a learner may write: operator, graph, guards, cache, liveness.
They work on symbolic values: a Known (a constant), a Tensor (a graph node without numbers) or a
SequenceVariable (a list or tuple of symbolic values). A guard is an expression that must be true
for compiled code to be used again.

`PARTS` has the finished steps; `dataclasses.replace(PARTS, guards=mine)` exchanges one, and
`compile(fn, parts=...)` runs with it.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import fx

from ..vm.steps import ARITHMETIC, COMPARISON
from .symbolic_values import Known, SequenceVariable, Tensor

OPERATORS = {**ARITHMETIC, **COMPARISON}


def binary_op(trace, sign: str, left, right):
    """Return the symbolic result of `left sign right`, where `sign` is such as "+" or "<=".

    `left` and `right` are symbolic values. Two constants are computed now (constant folding). With
    a tensor, `trace.record` adds a node to the graph, and the result is a symbolic Tensor.
    """
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
        """Add a node to the graph and return it.

        `fn` is a function, or a str: the name of a method of the first argument. `args` and
        `kwargs` have symbolic values.
        """
        add_node = self.graph.call_method if isinstance(fn, str) else self.graph.call_function
        written_args = tuple(written(value) for value in args)
        written_kwargs = {name: written(value) for name, value in kwargs.items()}
        return add_node(fn, written_args, written_kwargs)


def written(value, tensor_field: str = "node"):
    """Return an argument as a graph node takes it: a node, a constant, or a list or tuple of them.

    `tensor_field` says what stands for a symbolic Tensor: its "node", or its "fake".
    """
    if isinstance(value, Tensor):
        return getattr(value, tensor_field)
    if isinstance(value, SequenceVariable):
        return value.kind(written(item, tensor_field) for item in value.items)
    return value.value


def guards(source: str, value) -> list[str]:
    """Return Python expressions that are true while `source` has a value like this one.

    `source` is an expression such as "x". guards("x", 2) -> ["type(x) is int", "x == 2"].
    """
    if isinstance(value, torch.Tensor):
        # `VariableBuilder._wrap_tensor` adds a guard on the device of a tensor that is not on the
        # CPU.
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
    if isinstance(value, float):
        # `hex` and not `==`: 0.0 == -0.0 is true, though their results may differ.
        return [f"type({source}) is float", f"{source}.hex() == {value.hex()!r}"]
    return [f"type({source}) is {type(value).__name__}", f"{source} == {value!r}"]


def lookup(entries: list, values: tuple):
    """Return the first cache entry whose guards all hold for a call, and why earlier ones did not.

    `values` are the values of the parameters. The result is (entry, misses). `entry` is None if no
    entry fits. `misses` has one text for each entry before it: its first failing guard.
    """
    misses = []
    for entry in entries:
        failing = entry.first_failing(values)
        if failing is None:
            return entry, misses
        misses.append(failing.text)
    return None, misses


def receives(code, start: int, bound: list[str]) -> list[str]:
    """Return the names in `bound` that are live at the step `start`.

    A name is live if some path from there reads it before it stores it. `code` is a
    `resume_execution.Code`. Liveness analysis, as in torch (livevars_analysis,
    torch/_dynamo/bytecode_analysis.py): live before a step is what the step reads, and what is
    live after it and not stored by it. This is repeated until nothing changes, because of loops.
    """
    live = [set() for _ in code.steps]  # position of a step -> the names that are live before it
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
    """The five functions (one is a class) with which `compile` runs."""

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
