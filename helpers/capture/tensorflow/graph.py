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

from helpers.capture.cpython.unwrapping import freed, unwrap
from helpers.capture.tensorflow.graph_diff import CONTROL, compare
from helpers.capture.tensorflow.graph_steps import steps
from helpers.capture.tensorflow.node_def import node_of, plain_name, scopes_of
from helpers.capture.tensorflow.tracing import keys
from helpers.capture.tensorflow.tracing.ledger import as_tf_function, watched_of
from helpers.capture.text.error import instead, said
from helpers.model.graph import Edge, Graph, Node
from helpers.model.graph_diff import GraphDiff
from helpers.model.phrase import counted
from helpers.model.steps import Steps
from helpers.safety.arguments import is_a, kind_of, own, printable, word
from helpers.safety.interpreter_state import theirs

NEEDED = (
    "a graph is drawn of a tf.function, one of its concrete functions, a tf.Graph or a GraphDef, "
    "or of a Python function and its arguments"
)
LONGEST_NAME, LONGEST_KEY, DEEPEST = 300, 1_000, 20  # DEEPEST: bodies within bodies


def tf_graph(thing, *args, title: str = "", **kwargs) -> Graph:
    """Return the graph of a GraphDef, a Graph, a ConcreteFunction, or a Function.

    With arguments, a Function or a Python function is asked for the ConcreteFunction for them,
    which may trace: ValueError says what TensorFlow says if it cannot. Without, the Function needs
    to have exactly one trace: ValueError says how many it has. TypeError for anything else.
    """
    name, graph_def = _graph_def(thing, args, kwargs)
    draft = _Draft(graph_def)
    count = len(graph_def.node)
    words = f"{f'The graph of {name}' if name else 'A graph'}: {counted(count, 'node')}"
    return Graph(title or words, draft.grouped(), tuple(draft.edges), draft.note())


def tf_steps(thing, *args, **kwargs) -> Steps:
    """Return the steps of what `tf_graph` returns for the same arguments."""
    return steps(tf_graph(thing, *args, **kwargs))


def tf_diff(before, after, title: str = "") -> GraphDiff:
    """Return the diff of two graphs; each a Graph of the model, or what `tf_graph` takes."""
    title = printable(word(title, "title"), 200)
    both = [side if is_a(side, Graph) else tf_graph(side) for side in (before, after)]
    return compare(*both, title)


def traced(function, args, kwargs):
    """Return the ConcreteFunction of a tf.function for arguments; ValueError if it has none.

    Whatever ends the trace is said in the sentence, SystemExit too; an interrupt passes.
    """
    keys.sized(args, kwargs)
    try:
        with theirs():
            return function.get_concrete_function(*args, **kwargs)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise ValueError(f"TensorFlow cannot trace it for these arguments: {said(error)}") from None


def _graph_def(thing, args, kwargs):
    """Return (name, GraphDef); the shapes come along where the graph is alive."""
    import tensorflow as tf

    given_whole = is_a(thing, tf.compat.v1.GraphDef, tf.Graph)
    given_whole = given_whole or is_a(thing, tf.types.experimental.ConcreteFunction)
    if given_whole and (args or kwargs):
        raise TypeError(f"a {kind_of(thing)} is a graph already; arguments mean nothing to it")
    if is_a(thing, tf.compat.v1.GraphDef):
        return "", thing
    graph = thing if is_a(thing, tf.Graph) else _concrete(thing, args, kwargs).graph
    if not is_a(graph, tf.Graph):
        raise ValueError("this concrete function has no graph any more")
    name = _name_of(graph)
    try:  # the base class's own method: a subclass may have another
        graph_def = tf.Graph.as_graph_def(graph, add_shapes=True)
    except Exception as error:
        raise ValueError(f"TensorFlow cannot write this graph down: {said(error)}") from None
    return (printable(plain_name(name)) if is_a(name, str) else ""), graph_def


def _name_of(graph):
    """Return what a FuncGraph keeps as its name; a class that computes one is not asked."""
    from tensorflow.python.framework.func_graph import FuncGraph

    kept = is_a(graph, FuncGraph) and own(type(graph), "name") is None
    return object.__getattribute__(graph, "name") if kept else ""


def _concrete(thing, args, kwargs):
    import tensorflow as tf
    from tensorflow.python.eager.polymorphic_function.polymorphic_function import Function

    if is_a(thing, tf.types.experimental.ConcreteFunction):
        return thing
    thing = watched.function if (watched := watched_of(thing)) else thing
    if not is_a(thing, Function):
        if not callable(thing) or is_a(thing, type) or not (args or kwargs):
            alone = " alone" * callable(thing) or instead(thing)
            raise TypeError(f"{NEEDED}, not {kind_of(thing)}{alone}")
        thing = as_tf_function(thing)
    if why := freed(unwrap(thing)[0]):
        raise ValueError(why)
    if args or kwargs:
        return traced(thing, args, kwargs)
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
        self._entries, self._deeper, self._cut = {}, set(), {}
        self._add_nodes(graph_def.node, "", "", 0)
        while self._waiting:
            self._add_body(*self._waiting.popleft())

    def note(self) -> str:
        """Say which bodies no node calls, and what was cut."""
        deeper = len(self._deeper - self._entries.keys())
        unused = len(self._library) - len(self._entries) - deeper
        said = [f"{unused} of its functions have no caller here."] if unused and not deeper else []
        if deeper:
            said.append(
                f"Bodies are followed {DEEPEST} deep; {deeper + unused} of its functions are left "
                "out. Give show_graph one of them as a graph of its own to see it."
            )
        if self._cut:
            said.append(f"{len(self._cut)} very long names are cut, and numbered.")
        return " ".join(said)

    def grouped(self) -> tuple[Node, ...]:
        """Return the nodes; one that has a scope of its own name is part of it."""
        scopes = {node.group for node in self.nodes.values()}
        return tuple(
            replace(node, group=node.key) if node.key in scopes else node
            for node in self.nodes.values()
        )

    def _key(self, name: str) -> str:
        """Return the key for a name: itself, unless it is so long that nobody could read it."""
        if len(name) <= LONGEST_KEY:
            return name
        number = self._cut.setdefault(name, len(self._cut) + 1)
        return f"{name[:LONGEST_NAME]}… #{number}"

    def _put(self, node: Node) -> None:
        if node.key in self.nodes:
            name = printable(node.key)
            raise ValueError(f"two nodes have the name '{name}'; a GraphDef needs it once")
        self.nodes[node.key] = node

    def _add_nodes(self, graph_nodes, prefix: str, cut: str, depth: int) -> None:
        """Add nodes and their inputs. `prefix` leads every key, `cut` is left out of labels."""
        for node in graph_nodes:
            label = node.name.removeprefix(cut)[:LONGEST_NAME]
            self._put(node_of(node, self._key(prefix + node.name), label))
        for node in graph_nodes:
            for source, label in map(_source, node.input):
                self._join(self._key(prefix + source), self._key(prefix + node.name), label)
            self._call(node, prefix, depth)

    def _join(self, source: str, target: str, label: str = "") -> None:
        if source not in self.nodes:
            gone = "named as an input, and not here"
            self.nodes[source] = Node(source, source[:LONGEST_NAME], "gone", gone)
        self.edges.append(Edge(source, target, label[:LONGEST_NAME]))

    def _call(self, node, prefix: str, depth: int) -> None:
        for attribute, name in _functions_of(node):
            if name not in self._library:
                continue
            if name not in self._entries:
                if depth >= DEEPEST:
                    self._deeper.add(name)
                    continue
                entry = self._key(f"{prefix}{node.name}:{attribute}")
                self._entries[name] = entry
                detail = f"body of {node.name[:LONGEST_NAME]}"
                label = attribute[:LONGEST_NAME]
                self._put(Node(entry, label, "call", detail, scopes_of(f"{entry}/"), "body"))
                self._waiting.append((name, entry, node.name, depth + 1))
            caller = self._key(prefix + node.name)
            self.edges.append(Edge(caller, self._entries[name], attribute[:LONGEST_NAME]))

    def _add_body(self, name: str, entry: str, caller: str, depth: int) -> None:
        body, prefix, group = self._library[name], f"{entry}/", scopes_of(f"{entry}/")
        for argument in body.signature.input_arg:
            key, label = self._key(prefix + argument.name), argument.name[:LONGEST_NAME]
            self._put(Node(key, label, "input", "argument", group, "argument"))
            self.edges.append(Edge(entry, key))
        self._add_nodes(body.node_def, prefix, f"{caller}/", depth)
        starts = (node.name for node in body.node_def if not node.input)
        self.edges += [Edge(entry, self._key(prefix + name)) for name in starts]
        for result in body.signature.output_arg:
            key, label = self._key(f"{prefix}return:{result.name}"), result.name[:LONGEST_NAME]
            self._put(Node(key, label, "output", "result", group, "result"))
            if result.name not in body.ret:
                continue  # `body.ret[…]` would write the missing entry into the caller's GraphDef
            source, label = _source(body.ret[result.name])
            self._join(self._key(prefix + source), key, label)


def _source(written: str) -> tuple[str, str]:
    """Return (name, label) of an input: `x`, `x:1`, `^x`, and inside a body `x:output:1`."""
    if written.startswith("^"):
        return written[1:], CONTROL
    name, _, output = written.partition(":")
    if output in ("", "0") or output.endswith(":0"):
        return name, ""
    return name, f"output {output.rpartition(':')[2]}"


def _functions_of(node) -> Iterator[tuple[str, str]]:
    """Yield (attribute, function name) for every function that this node may call."""
    for attribute in sorted(node.attr):
        value = node.attr[attribute]
        if value.HasField("func"):
            yield attribute, value.func.name
        for at, function in enumerate(value.list.func):
            yield f"{attribute}[{at}]", function.name
