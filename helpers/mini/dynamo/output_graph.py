"""One frame's worth of tracing: the graph of the calls, and the Python source that runs it.

Each call runs on fakes before it is recorded. Mirrors torch/_dynamo/output_graph.py, and
torch/_dynamo/codegen.py, which writes bytecode where this writes Python.
"""

import logging

import torch
from torch import fx

from ...safety.arguments import real_type_name
from ...safety.restoring import patched
from .builder import VariableBuilder, is_short, own_name
from .parts import written
from .symbolic_values import (
    Break,
    Items,
    Known,
    Method,
    Refuse,
    Tensor,
    Unread,
    is_immutable,
)

FAKES_LOGGER = logging.getLogger("torch._subclasses.fake_tensor")


class Tracing(VariableBuilder):
    """The outcome so far: guards and names as the builder keeps them, and the graph."""

    def record(self, fn, *args, **kwargs):
        """Put a call into the graph and return its symbolic result; Break if that cannot be."""
        args = [self._recordable(a) for a in args]
        kwargs = {k: self._recordable(v) for k, v in kwargs.items()}
        if None in args or None in kwargs.values():
            raise Break("an argument is not something that a graph can contain")
        result = self._on_fakes(fn, args, kwargs)
        if not isinstance(result, torch.Tensor):
            raise Break("the result is not one tensor")
        node = self.recorder.call(fn, tuple(args), kwargs)
        node.meta["example_value"] = result
        return Tensor(node, result)

    def _recordable(self, value):
        value = self.resolve(value)
        if isinstance(value, Items):
            items = [self._recordable(item) for item in value.items]
            fits = None not in items and value.kind in (tuple, list)
            return Items(value.kind, items, value.source) if fits else None
        if isinstance(value, Known):
            fits = is_immutable(value.value) and value.value == value.value
            return value if fits else None  # FX does not write a nan so that it is the same one
        return value if isinstance(value, Tensor) else None

    def _on_fakes(self, fn, args, kwargs):
        fakes = [written(a, "fake") for a in args]
        named = {k: written(v, "fake") for k, v in kwargs.items()}
        tensors = [f for f in (*fakes, *named.values()) if isinstance(f, torch.Tensor)]
        before = [tensor._version for tensor in tensors]
        shown, call = getattr(fn, "__name__", fn), fn
        if isinstance(fn, str):
            call, fakes = getattr(fakes[0], fn), fakes[1:]
        try:
            with self.mode, patched(FAKES_LOGGER, disabled=True):  # it is raised again for real
                result = call(*fakes, **named)
        except Exception as error:
            raise Break(f"{shown} needs real numbers, or raises ({type(error).__name__})") from None
        if [tensor._version for tensor in tensors] != before:
            raise Break(f"{shown} works in place")
        return result


class BackendFailed(Exception):
    """What the backend raised is the cause of this; the caller of the function hears it."""


class Output:
    """The lines of one generated function."""

    def __init__(self, trace):
        self.trace, self.lines = trace, []
        self._results = {}  # the node that the graph has to return -> its name in the source
        self._made = {}

    def words(self, value) -> str:
        """Return an expression for a symbolic value; lists and tuples are made once, above it."""
        if isinstance(value, Method):
            return f"{self.words(value.owner)}.{value.name}"
        if not isinstance(value, (Unread, Tensor, Items, Known)):
            raise Refuse("a graph break inside a loop")
        if value.source:
            return value.source
        if isinstance(value, Known):
            known, hint = value.value, own_name(value.value) or "constant"
            return repr(known) if is_short(known) else self.trace.name(known, f"the_{hint}")
        if isinstance(value, Items):
            return self._sequence(value)
        if value.node not in self._results:
            self._results[value.node] = self.trace.free_name(value.node.name)
        return self._results[value.node]

    def _sequence(self, value) -> str:
        if id(value) not in self._made:
            words = self.literal(value)
            name = self.trace.free_name(f"a_{value.kind.__name__}")
            self.lines.append(f"{name} = {words}")
            self._made[id(value)] = name, value
        return self._made[id(value)][0]

    def literal(self, value: Items) -> str:
        """Return a tuple or list display."""
        items = ", ".join(map(self.words, value.items))
        return f"[{items}]" if value.kind is list else f"({items}{',' * (len(value.items) == 1)})"

    def finish(self, backend):
        """Hand the graph to the backend; return (graph module or None, the line that calls it)."""
        graph, inputs = self.trace.recorder.graph, self.trace.recorder.inputs
        calls = [node for node in graph.nodes if node.op not in ("placeholder", "output")]
        if not calls:
            return None, []
        used = {source: node for source, node in inputs.items() if node.users}
        for node in inputs.values():
            if not node.users:
                graph.erase_node(node)
        graph.output(tuple(self._results))
        module = fx.GraphModule(torch.nn.Module(), graph)
        examples = [node.meta["example_value"] for node in used.values()]
        try:
            run = backend(module, examples)
            if not callable(run):
                given = real_type_name(run)
                raise TypeError(f"a backend must return a callable, not {given}")
        except Exception as error:
            raise BackendFailed from error
        called = f"{self.trace.name(run, 'graph')}({', '.join(used)})"
        names = ", ".join(self._results.values())
        comma = "," * (len(self._results) == 1)
        return module, [f"{names}{comma} = {called}" if names else called]
