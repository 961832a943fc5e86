"""The result of tracing a function: a graph of its calls, and Python source that runs the graph.
A symbolic value is a Tensor (a graph node, with a *fake* tensor that has a shape but no numbers), a
Known (a constant or another real object) or a SequenceVariable (a list or tuple of symbolic
values). Its `source` is the expression by which generated code reaches it, "" if the function has
made it. GraphBreak ends the graph before a call. SkipFrame gives up tracing the function.

Each call runs on fakes before it is recorded. Mirrors torch/_dynamo/output_graph.py, and
torch/_dynamo/codegen.py, which writes bytecode where this writes Python.
"""

import logging

import torch
from torch import fx

from ...safety.arguments import real_type_name
from ...safety.restoring import patched
from .builder import VariableBuilder, can_be_literal, name_of_callable
from .parts import written
from .symbolic_values import (
    GraphBreak,
    Known,
    LazyVariable,
    MethodVariable,
    SequenceVariable,
    SkipFrame,
    Tensor,
    is_immutable,
)

FAKES_LOGGER = logging.getLogger("torch._subclasses.fake_tensor")


class Tracing(VariableBuilder):
    """What one trace has so far: the graph, and the guards and names of the VariableBuilder."""

    def record(self, fn, *args, **kwargs):
        """Add a call to the graph and return its symbolic result, a Tensor.

        `fn` is a function, or a str: the name of a method of the first argument. The arguments are
        symbolic values. GraphBreak is raised if an argument cannot be in a graph, or the result is
        not one tensor.
        """
        args = [self._as_graph_argument(value) for value in args]
        kwargs = {name: self._as_graph_argument(value) for name, value in kwargs.items()}
        if None in args or None in kwargs.values():
            raise GraphBreak("an argument is not something that a graph can contain")
        result = self._run_on_fakes(fn, args, kwargs)
        if not isinstance(result, torch.Tensor):
            raise GraphBreak("the result is not one tensor")
        node = self.recorder.call(fn, tuple(args), kwargs)
        node.meta["example_value"] = result
        return Tensor(node, result)

    def _as_graph_argument(self, value):
        """Return a symbolic value as an argument of a graph node, or None if no node can have it.

        A graph node can have tensors, constants, and lists or tuples of both.
        """
        value = self.resolve(value)
        if isinstance(value, SequenceVariable):
            items = [self._as_graph_argument(item) for item in value.items]
            if None in items or value.kind not in (tuple, list):
                return None
            return SequenceVariable(value.kind, items, value.source)
        if isinstance(value, Known):
            if not is_immutable(value.value):
                return None
            # FX writes constants as source, and a nan has no literal. A nan is not equal to itself.
            is_nan = value.value != value.value
            return None if is_nan else value
        if isinstance(value, Tensor):
            return value
        return None

    def _run_on_fakes(self, fn, args, kwargs):
        """Call `fn` with the fake tensors of its arguments; return the fake result.

        `fn` is a function, or a str: the name of a method of the first argument. This finds the
        shape and dtype of the result. GraphBreak is raised if the call needs real numbers, raises
        an error, or changes an argument in place.
        """
        fake_args = [written(value, "fake") for value in args]
        fake_kwargs = {name: written(value, "fake") for name, value in kwargs.items()}
        all_fakes = [*fake_args, *fake_kwargs.values()]
        tensors = [fake for fake in all_fakes if isinstance(fake, torch.Tensor)]
        # torch increments a tensor's `_version` whenever something changes it in place.
        versions = [tensor._version for tensor in tensors]

        shown_name = getattr(fn, "__name__", fn)
        call = fn
        if isinstance(fn, str):  # the name of a method
            owner, *fake_args = fake_args
            call = getattr(owner, fn)
        try:
            # The log is off: an error here comes again, with its message, when Python runs the
            # call.
            with self.mode, patched(FAKES_LOGGER, disabled=True):
                result = call(*fake_args, **fake_kwargs)
        except Exception as error:
            kind = type(error).__name__
            raise GraphBreak(f"{shown_name} needs real numbers, or raises ({kind})") from None
        if [tensor._version for tensor in tensors] != versions:
            raise GraphBreak(f"{shown_name} works in place")
        return result


class BackendFailed(Exception):
    """The backend raised an error, which is the `__cause__` of this one."""


class Output:
    """The lines of one generated function, and which results of the graph they use."""

    def __init__(self, trace):
        """Begin without lines. `trace` is the Tracing whose names and graph the lines use."""
        self.trace = trace
        self.lines = []  # lines of source that make lists and tuples
        self._results = {}  # node whose tensor the graph returns -> its name in the source
        # id of a SequenceVariable -> (its name in the source, itself). It is kept alive here, so no
        # other object gets its id.
        self._sequences_by_id = {}

    def expression(self, value) -> str:
        """Return the source expression whose value is the real object of a symbolic value.

        A list or tuple that the function has made gets a line of its own in `lines`, and the
        expression is its name.
        """
        if isinstance(value, MethodVariable):
            return f"{self.expression(value.owner)}.{value.name}"
        if not isinstance(value, (LazyVariable, Tensor, SequenceVariable, Known)):
            # It is an IteratorVariable, which is on the stack only inside a loop.
            raise SkipFrame("a graph break inside a loop")
        if value.source:  # it came from outside the function
            return value.source
        if isinstance(value, Known):
            return self._constant(value.value)
        if isinstance(value, SequenceVariable):
            return self._sequence(value)
        # A tensor that the graph computes. The graph then has to return it, and it gets a name.
        if value.node not in self._results:
            self._results[value.node] = self.trace.free_name(value.node.name)
        return self._results[value.node]

    def _constant(self, value) -> str:
        """Return the source of a real object: a literal such as `2`, or a global name for it."""
        if can_be_literal(value):
            return repr(value)
        hint = name_of_callable(value) or "constant"
        return self.trace.name(value, f"the_{hint}")

    def _sequence(self, value) -> str:
        """Return the name of a list or tuple; its first use adds a line `a_list = [x, 2]`."""
        if id(value) not in self._sequences_by_id:
            display = self.literal(value)
            name = self.trace.free_name(f"a_{value.kind.__name__}")
            self.lines.append(f"{name} = {display}")
            self._sequences_by_id[id(value)] = (name, value)
        name, _ = self._sequences_by_id[id(value)]
        return name

    def literal(self, value: SequenceVariable) -> str:
        """Return the source of a tuple or list, such as `(x, 2)`."""
        items = ", ".join(map(self.expression, value.items))
        if value.kind is list:
            return f"[{items}]"
        if len(value.items) == 1:
            return f"({items},)"
        return f"({items})"

    def finish(self, backend):
        """Give the graph to the backend; return the graph module and the line that calls it.

        The result is (module, [line]), with a line such as "mul, = graph(x)". A graph without calls
        is not given to the backend: the result is (None, []).
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
        if not names:  # no result is used, but the calls run anyway, because one may raise
            return module, [call]
        if len(self._results) == 1:  # the graph returns a tuple, also of one tensor
            return module, [f"{names}, = {call}"]
        return module, [f"{names} = {call}"]

    def _drop_unused_inputs(self) -> dict:
        """Erase the inputs that no call uses; return source -> node for the other inputs."""
        recorder = self.trace.recorder
        used = {source: node for source, node in recorder.inputs.items() if node.users}
        for node in recorder.inputs.values():
            if not node.users:
                recorder.graph.erase_node(node)
        return used


def _ask_backend(backend, module, examples):
    """Return the callable that the backend makes of a graph module.

    `examples` has a fake tensor for each input. BackendFailed is raised from the backend's error.
    """
    try:
        run = backend(module, examples)
        if not callable(run):
            kind = real_type_name(run)
            raise TypeError(f"a backend must return a callable, not {kind}")
    except Exception as error:
        raise BackendFailed from error
    return run
