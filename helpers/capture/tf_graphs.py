"""A TensorFlow graph (GraphDef, Graph, ConcreteFunction, Function) -> a graph of its nodes.

A node's key is its own name, and its inputs are the arrows to it, in order: an arrow without words
carries output 0, `:1` another output, `control` only an order. So TensorFlow's own node list,
`for node in graph_def.node: node.input, node.name`, can be written down again from the model. The
bodies that control flow calls (tensorflow/core/framework/function.proto) follow as groups of their
own, named after the caller and not after the counter that TensorFlow puts into their names.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import replace

from helpers.capture.tf_nodes import node_of, plain_name
from helpers.capture.words import type_name
from helpers.model.graph import Edge, Graph, Node
from helpers.model.graph_compare import compare
from helpers.model.graph_diff import GraphDiff
from helpers.model.graph_steps import Steps, steps

CONTROL = "control"


def tf_graph(thing, *args, title: str = "", **kwargs) -> Graph:
    """Return the graph of a GraphDef, a Graph, a ConcreteFunction, or a Function.

    With arguments, a Function or a Python function is asked for the ConcreteFunction for them,
    which may trace. Without, the Function needs to have exactly one trace: ValueError says how
    many it has. TypeError for anything else.
    """
    name, graph_def = _graph_def(thing, args, kwargs)
    draft = _Draft(graph_def)
    count = len(graph_def.node)
    words = f"{f'The graph of {name}' if name else 'A graph'}: {count} node{'s' * (count != 1)}"
    return Graph(title or words, draft.grouped(), tuple(draft.edges), draft.note())


def tf_steps(thing, *args, **kwargs) -> Steps:
    """Return the steps of what `tf_graph` returns for the same arguments."""
    return steps(tf_graph(thing, *args, **kwargs))


def tf_diff(before, after, title: str = "") -> GraphDiff:
    """Return the diff of two graphs; each a Graph of the model, or what `tf_graph` takes."""
    both = [side if isinstance(side, Graph) else tf_graph(side) for side in (before, after)]
    return compare(*both, title)


def _graph_def(thing, args, kwargs):
    """Return (name, GraphDef); the shapes come along where the graph is alive."""
    import tensorflow as tf

    if isinstance(thing, tf.compat.v1.GraphDef):
        return "", thing
    if isinstance(thing, tf.Graph):
        return plain_name(getattr(thing, "name", "")), thing.as_graph_def(add_shapes=True)
    concrete = _concrete(thing, args, kwargs)
    return plain_name(concrete.graph.name), concrete.graph.as_graph_def(add_shapes=True)


def _concrete(thing, args, kwargs):
    import tensorflow as tf
    from tensorflow.python.eager.polymorphic_function.polymorphic_function import Function

    if isinstance(thing, tf.types.experimental.ConcreteFunction):
        return thing
    if not isinstance(thing, Function):
        if not callable(thing) or isinstance(thing, type) or not (args or kwargs):
            raise TypeError(
                "show_graph needs a tf.function, one of its concrete functions, a tf.Graph or a "
                "GraphDef, or a Python function and its arguments, "
                f"not {type_name(thing)}{' alone' * callable(thing)}"
            )
        thing = tf.function(thing)
    if args or kwargs:
        return thing.get_concrete_function(*args, **kwargs)
    traces = thing._list_all_concrete_functions()
    if len(traces) == 1:
        return traces[0]
    raise ValueError(
        f"this tf.function has {len(traces) or 'no'} traces, so which graph is meant? "
        "Add the arguments of a call, or pass a concrete function"
    )


class _Draft:
    """A graph being made: the main nodes first, then each body in the order of its callers."""

    def __init__(self, graph_def):
        self.nodes, self.edges, self._waiting = {}, [], deque()
        self._library = {body.signature.name: body for body in graph_def.library.function}
        self._entries = {}
        self._add_nodes(graph_def.node, "", "")
        while self._waiting:
            self._add_body(*self._waiting.popleft())

    def note(self) -> str:
        """Say which bodies no node calls."""
        unused = len(self._library) - len(self._entries)
        return f"{unused} of its functions have no caller here." if unused else ""

    def grouped(self) -> tuple[Node, ...]:
        """Return the nodes; one that has a scope of its own name is part of it."""
        scopes = {node.group for node in self.nodes.values()}
        return tuple(
            replace(node, group=node.key) if node.key in scopes else node
            for node in self.nodes.values()
        )

    def _put(self, node: Node) -> None:
        if node.key in self.nodes:
            raise ValueError(f"two nodes have the name {node.key!r}; a GraphDef needs it once")
        self.nodes[node.key] = node

    def _add_nodes(self, graph_nodes, prefix: str, cut: str) -> None:
        """Add nodes and their inputs. `prefix` leads every key, `cut` is left out of labels."""
        for node in graph_nodes:
            self._put(node_of(node, prefix, cut))
        for node in graph_nodes:
            for source, label in map(_source, node.input):
                self._join(prefix + source, prefix + node.name, label)
            self._call(node, prefix)

    def _join(self, source: str, target: str, label: str = "") -> None:
        if source not in self.nodes:
            self.nodes[source] = Node(source, source, "gone", "named as an input, and not here")
        self.edges.append(Edge(source, target, label))

    def _call(self, node, prefix: str) -> None:
        for attribute, name in _functions_of(node):
            if name not in self._library:
                continue
            if name not in self._entries:
                entry = f"{prefix}{node.name}:{attribute}"
                self._entries[name] = entry
                self._put(Node(entry, attribute, "call", f"body of {node.name}", entry, "body"))
                self._waiting.append((name, entry, node.name))
            self.edges.append(Edge(prefix + node.name, self._entries[name], attribute))

    def _add_body(self, name: str, entry: str, caller: str) -> None:
        body, prefix = self._library[name], f"{entry}/"
        for argument in body.signature.input_arg:
            key = prefix + argument.name
            self._put(Node(key, argument.name, "input", "argument", entry, "argument"))
            self.edges.append(Edge(entry, key))
        self._add_nodes(body.node_def, prefix, f"{caller}/")
        starts = (node.name for node in body.node_def if not node.input)
        self.edges += [Edge(entry, prefix + name) for name in starts]
        for result in body.signature.output_arg:
            key = f"{prefix}return:{result.name}"
            self._put(Node(key, result.name, "output", "result", entry, "result"))
            source, label = _source(body.ret[result.name])
            self._join(prefix + source, key, label)


def _source(written: str) -> tuple[str, str]:
    """Return (name, label) of an input: `x`, `x:1`, `^x`, and inside a body `x:output:1`."""
    if written.startswith("^"):
        return written[1:], CONTROL
    name, _, output = written.partition(":")
    inside_a_body = ":" in output
    if output in ("", "0") or (inside_a_body and output.endswith(":0")):
        return name, ""
    return name, f":{output.rpartition(':')[2]}" if inside_a_body else f":{output}"


def _functions_of(node) -> Iterator[tuple[str, str]]:
    """Yield (attribute, function name) for every function that this node may call."""
    for attribute in sorted(node.attr):
        value = node.attr[attribute]
        if value.HasField("func"):
            yield attribute, value.func.name
        for at, function in enumerate(value.list.func):
            yield f"{attribute}[{at}]", function.name
