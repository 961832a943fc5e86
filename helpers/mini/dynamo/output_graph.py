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
    LazyVariable,
    Method,
    Refuse,
    Tensor,
    is_immutable,
)

FAKES_LOGGER = logging.getLogger("torch._subclasses.fake_tensor")


class Tracing(VariableBuilder):
    """The outcome so far: guards and names as the builder keeps them, and the graph."""

    def record(self, fn, *args, **kwargs):
        """Put a call into the graph and return its symbolic result, a Tensor.

        `fn` is a function, or the name of a method of the first argument. Break is raised if an
        argument has no place in a graph, or the result is not one tensor.
        """
        args = [self._recordable(value) for value in args]
        kwargs = {name: self._recordable(value) for name, value in kwargs.items()}
        if None in args or None in kwargs.values():
            raise Break("an argument is not something that a graph can contain")
        result = self._on_fakes(fn, args, kwargs)
        if not isinstance(result, torch.Tensor):
            raise Break("the result is not one tensor")
        node = self.recorder.call(fn, tuple(args), kwargs)
        node.meta["example_value"] = result
        return Tensor(node, result)

    def _recordable(self, value):
        """Return a symbolic value that a graph can contain, else None."""
        value = self.resolve(value)
        if isinstance(value, Items):
            items = [self._recordable(item) for item in value.items]
            if None in items or value.kind not in (tuple, list):
                return None
            return Items(value.kind, items, value.source)
        if isinstance(value, Known):
            if not is_immutable(value.value):
                return None
            # Not a nan: the source that FX writes of it makes another one.
            return value if value.value == value.value else None
        if isinstance(value, Tensor):
            return value
        return None

    def _on_fakes(self, fn, args, kwargs):
        """Return what a call returns for the fakes of its arguments.

        Break is raised if the call needs real numbers, raises an error, or changes an argument.
        """
        fake_args = [written(value, "fake") for value in args]
        fake_kwargs = {name: written(value, "fake") for name, value in kwargs.items()}
        all_fakes = [*fake_args, *fake_kwargs.values()]
        tensors = [fake for fake in all_fakes if isinstance(fake, torch.Tensor)]
        # torch counts up a tensor's version whenever something changes it in place.
        versions = [tensor._version for tensor in tensors]

        shown_name = getattr(fn, "__name__", fn)
        call = fn
        if isinstance(fn, str):  # the name of a method
            owner, *fake_args = fake_args
            call = getattr(owner, fn)
        try:
            # The logger is silent, because the error comes again when the call runs for real.
            with self.mode, patched(FAKES_LOGGER, disabled=True):
                result = call(*fake_args, **fake_kwargs)
        except Exception as error:
            kind = type(error).__name__
            raise Break(f"{shown_name} needs real numbers, or raises ({kind})") from None
        if [tensor._version for tensor in tensors] != versions:
            raise Break(f"{shown_name} works in place")
        return result


class BackendFailed(Exception):
    """What the backend raised is the cause of this; the caller of the function hears it."""


class Output:
    """The lines of one generated function, and which results of the graph they use."""

    def __init__(self, trace):
        """Begin without lines. `trace` is the Tracing whose names and graph they use."""
        self.trace = trace
        self.lines = []
        self._results = {}  # the node that the graph has to return -> its name in the source
        self._sequences_by_id = {}  # of a list or tuple: its name, and itself, to keep it alive

    def expression(self, value) -> str:
        """Return the expression by which generated code gets the object of a symbolic value.

        A list or tuple that was made in the function is made once, in a line above.
        """
        if isinstance(value, Method):
            return f"{self.expression(value.owner)}.{value.name}"
        if not isinstance(value, (LazyVariable, Tensor, Items, Known)):  # an iterator
            raise Refuse("a graph break inside a loop")
        if value.source:
            return value.source
        if isinstance(value, Known):
            return self._constant(value.value)
        if isinstance(value, Items):
            return self._sequence(value)
        # A tensor that the graph makes: the graph has to return it, under a name of its own.
        if value.node not in self._results:
            self._results[value.node] = self.trace.free_name(value.node.name)
        return self._results[value.node]

    def _constant(self, value) -> str:
        """Return the source of an object: a literal if it is short, else a name for it."""
        if is_short(value):
            return repr(value)
        hint = own_name(value) or "constant"
        return self.trace.name(value, f"the_{hint}")

    def _sequence(self, value) -> str:
        """Return the name of a list or tuple, for which a line is added at the first use."""
        if id(value) not in self._sequences_by_id:
            display = self.literal(value)
            name = self.trace.free_name(f"a_{value.kind.__name__}")
            self.lines.append(f"{name} = {display}")
            self._sequences_by_id[id(value)] = (name, value)
        name, _ = self._sequences_by_id[id(value)]
        return name

    def literal(self, value: Items) -> str:
        """Return the source of a tuple or list, such as `(x, 2)`."""
        items = ", ".join(map(self.expression, value.items))
        if value.kind is list:
            return f"[{items}]"
        if len(value.items) == 1:
            return f"({items},)"
        return f"({items})"

    def finish(self, backend):
        """Hand the graph to the backend; return the graph module, and the line that calls it.

        The line is in a list. A graph without calls goes to no backend: the result is (None, []).
        """
        graph = self.trace.recorder.graph
        calls = [node for node in graph.nodes if node.op not in ("placeholder", "output")]
        if not calls:
            return None, []

        inputs = self._drop_unused_inputs()
        graph.output(tuple(self._results))
        module = fx.GraphModule(torch.nn.Module(), graph)
        examples = [node.meta["example_value"] for node in inputs.values()]
        run = _ask_backend(backend, module, examples)

        graph_name = self.trace.name(run, "graph")
        call = f"{graph_name}({', '.join(inputs)})"
        names = ", ".join(self._results.values())
        if not names:  # nobody uses a result, but a call may still raise
            return module, [call]
        if len(self._results) == 1:
            return module, [f"{names}, = {call}"]
        return module, [f"{names} = {call}"]

    def _drop_unused_inputs(self) -> dict:
        """Take inputs without users out of the graph; return the others by their sources."""
        recorder = self.trace.recorder
        used = {source: node for source, node in recorder.inputs.items() if node.users}
        for node in recorder.inputs.values():
            if not node.users:
                recorder.graph.erase_node(node)
        return used


def _ask_backend(backend, module, examples):
    """Return what the backend makes of a graph module, a callable; else BackendFailed."""
    try:
        run = backend(module, examples)
        if not callable(run):
            kind = real_type_name(run)
            raise TypeError(f"a backend must return a callable, not {kind}")
    except Exception as error:
        raise BackendFailed from error
    return run
