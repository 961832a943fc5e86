"""What tracing found -> Python source: call the graph, then return, branch, or break.

Mirrors torch/_dynamo/codegen.py, which writes bytecode instead.
"""

import torch
from torch import fx

from helpers.mini.dynamo.builder import own_name
from helpers.mini.dynamo.constant_guards import is_short
from helpers.mini.dynamo.symbolic_values import (
    Break,
    Items,
    Known,
    Method,
    Refuse,
    Tensor,
    Unread,
    is_one_of,
)
from helpers.safety.arguments import kind_of

REPEATABLE = (int, float, bool, str, type(None))


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
        if isinstance(value, Unread):
            return value.source
        if isinstance(value, Tensor):
            return value.source or self._result(value.node)
        if isinstance(value, Method):
            return f"{self._owner(value)}.{value.name}"
        if isinstance(value, Items):
            return value.source or self._sequence(value)
        if isinstance(value, Known):
            return value.source or self._constant(value.value)
        raise Refuse("a graph break inside a loop")

    def _owner(self, method) -> str:
        words = self.words(method.owner)
        return f"({words})" if words[:1].isdigit() or words[:1] == "-" else words

    def _result(self, node) -> str:
        if node not in self._results:
            self._results[node] = self.trace.free_name(node.name)
        return self._results[node]

    def _sequence(self, value) -> str:
        if value.node is not None:
            return self._result(value.node)
        if id(value) not in self._made:
            words = self.literal(value)
            name = self.trace.free_name(f"a_{value.kind.__name__}")
            self.lines.append(f"{name} = {words}")
            self._made[id(value)] = name, value
        return self._made[id(value)][0]

    def literal(self, value: Items) -> str:
        """Return a tuple or list display."""
        items = ", ".join(map(self.words, value.items))
        if value.kind is list:
            return f"[{items}]"
        if value.kind is not tuple:
            raise Refuse(f"a {value.kind.__name__} would have to be made")
        return f"({items}{',' * (len(value.items) == 1)})"

    def _constant(self, value) -> str:
        zero = type(value) is float and value == 0
        if is_one_of(type(value), REPEATABLE) and is_short(value) and not zero:
            return repr(value)
        return self.trace.name(value, f"the_{own_name(value) or 'constant'}")

    def finish(self, backend):
        """Hand the graph to the backend; return (graph module, the line that calls it) or nothing.

        The graph returns what the rest of the source needs; a graph without calls is left out.
        """
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
        except Exception as error:
            raise BackendFailed from error
        if not callable(run):
            words = f"a backend must return something to call, not {kind_of(run)}"
            raise BackendFailed from TypeError(words)
        called = f"{self.trace.name(run, 'graph')}({', '.join(used)})"
        names = ", ".join(self._results.values())
        comma = "," * (len(self._results) == 1)
        return module, [f"{names}{comma} = {called}" if names else called]


def called_for_real(output: Output, why: Break) -> str:
    """Return the expression of the call that could not be part of the graph."""
    args = [output.words(a) for a in why.args_for_real]
    args += [f"{name}={output.words(value)}" for name, value in why.kwargs.items()]
    return f"{output.words(why.fn)}({', '.join(args)})"
