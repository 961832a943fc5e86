"""A TensorFlow graph (GraphDef, Graph, ConcreteFunction, Function) -> its nodes and edges. An edge
without a label carries output 0 of its source. The label "output 1" names another output. The label
"control" means that the target only waits for the source and reads no value.

A node such as an If or a While calls functions, the *bodies* of its branches and loops, which the
GraphDef has in its library (tensorflow/core/framework/function.proto). Each body becomes a group of
nodes of its own, behind one *entry* node: "While:body" for the attribute "body" of the node
"While".
"""

from collections import deque
from dataclasses import dataclass, replace

from ...model.graph_steps import Steps
from ...model.graphs import Edge, Graph, Node
from ...model.phrase import format_count
from ...safety.arguments import require_str
from .graph_nodes import build_node, list_functions
from .graph_source import read_graph_def
from .graph_steps import list_steps

CONTROL = "control"  # the label of an edge that carries no value
# An attribute of an op that names a function -> what that function is to the op.
ROLES = {
    "cond": "condition",
    "then_branch": "then branch",
    "else_branch": "else branch",
    "branches": "branch",
}


def build_graph(thing, *args, title: str = "", **kwargs) -> Graph:
    """Return the graph of a GraphDef, a Graph, a ConcreteFunction, or a Function.

    `args` and `kwargs` are arguments of a call of the function. They choose the trace whose graph
    is returned, and TensorFlow traces if there is none. A tf.function without arguments needs to
    have exactly one trace.
    """
    source = read_graph_def(thing, args, kwargs)
    builder = _GraphBuilder(source.graph_def)
    nodes = []
    # A group is a name scope: the nodes "cond/x" and "cond/y" are in the group "cond".
    scopes = {node.group for node in builder.nodes.values()}
    for node in builder.nodes.values():
        # A node whose own key is the name of a group, such as "cond", is drawn in that group.
        nodes.append(replace(node, group=node.key) if node.key in scopes else node)

    if not title:
        subject = f"The graph of {source.name}" if source.name else "A graph"
        title = f"{subject}: {format_count(len(source.graph_def.node), 'node')}"
    return Graph(title, tuple(nodes), tuple(builder.edges))


def find_in_graph(thing, args: tuple, kwargs: dict, find: str = "") -> Graph:
    """Return the graph of `thing`, in which the nodes with the text `find` are marked.

    `thing` is what `build_graph` accepts. An empty `find` marks nothing.
    """
    graph = build_graph(thing, *args, **kwargs)
    if not require_str(find, "find="):
        return graph
    return graph.find(find)


def build_steps(thing, /, *args, **kwargs) -> Steps:
    """Return the steps of the graph of what `build_graph` accepts."""
    return list_steps(build_graph(thing, *args, **kwargs))


@dataclass(frozen=True)
class _WaitingBody:
    """A function in the library of the GraphDef whose nodes are still to be added."""

    #: the name of the function in the library of the GraphDef
    function_name: str
    #: the key of the entry node, which stands for the function
    entry_key: str
    #: the name of the node that calls the function first
    caller_name: str


class _GraphBuilder:
    """Builds the nodes and edges of a GraphDef: first the main nodes, then each body.

    The key of a node is its name, and in a body the key of the entry and the name, as in
    "While:body/add". It is unique in the whole graph.
    """

    def __init__(self, graph_def):
        """Build all nodes and edges of `graph_def`, a tensorflow.compat.v1.GraphDef."""
        self.nodes: dict[str, Node] = {}
        self.edges: list[Edge] = []
        # The name of a function -> its FunctionDef, its entry node, and the bodies still to add.
        self._library = {body.signature.name: body for body in graph_def.library.function}
        self._entry_keys_by_function: dict[str, str] = {}
        self._waiting: deque[_WaitingBody] = deque()

        self._add_nodes(graph_def.node, prefix="", caller_scope="")
        while self._waiting:
            self._add_body(self._waiting.popleft())

    def _add_nodes(self, node_defs, prefix: str, caller_scope: str) -> None:
        """Add nodes, the edges of their inputs, and the edges to the functions that they call.

        `prefix` begins each key: "" or that of a body, such as "While:body/". TensorFlow begins the
        names in a body with `caller_scope`, such as "While/", which is left out of the labels.
        """
        for node_def in node_defs:
            key = prefix + node_def.name
            label = node_def.name.removeprefix(caller_scope)
            self.nodes[key] = build_node(node_def, key, label)
        # The edges come after all nodes, because a node in a loop may read a later node.
        for node_def in node_defs:
            for input_name in node_def.input:
                self._add_input(prefix, input_name, prefix + node_def.name)
            for attribute, function_name in list_functions(node_def):
                if function_name in self._library:
                    self._add_call(prefix, node_def.name, attribute, function_name)

    def _add_input(self, prefix: str, input_name: str, target: str) -> None:
        """Add the edge of one input to the node with the key `target`.

        TensorFlow writes an input as "x" (output 0), as "x:1" (output 1), or as "^x" if the target
        only waits for x. In the body of a function it also writes "x:output:1".
        """
        name, _, output = input_name.removeprefix("^").partition(":")
        _, _, output_number = output.rpartition(":")
        label = ""
        if input_name.startswith("^"):
            label = CONTROL
        elif output_number not in ("", "0"):
            label = f"output {output_number}"

        source = prefix + name
        if source not in self.nodes:  # a GraphDef can be a part of a graph
            self.nodes[source] = Node(source, name, "gone", "named as an input, but not here")
        self.edges.append(Edge(source, target, label))

    def _add_call(self, prefix: str, caller: str, attribute: str, function_name: str) -> None:
        """Add the edge from a node to the entry of the function that one of its attributes names.

        `caller` is the name of the node, and `attribute` that of the attribute, such as "body" or
        "branches[1]". If several nodes call one function, the function has one entry, and its body
        is added once, later.
        """
        if function_name not in self._entry_keys_by_function:
            entry_key = f"{prefix}{caller}:{attribute}"
            self._entry_keys_by_function[function_name] = entry_key
            attribute_name, _, _ = attribute.partition("[")
            role = ROLES.get(attribute_name, "body")
            self.nodes[entry_key] = Node(
                entry_key, attribute, "call", f"{role} of {caller}", group=entry_key, op="body"
            )
            self._waiting.append(_WaitingBody(function_name, entry_key, caller))
        entry_key = self._entry_keys_by_function[function_name]
        self.edges.append(Edge(prefix + caller, entry_key, attribute))

    def _add_body(self, waiting: _WaitingBody) -> None:
        """Add the nodes of a function: its arguments, its own nodes, and its results.

        The arguments, and nodes that read nothing, get an edge from the entry of the function.
        """
        body = self._library[waiting.function_name]
        entry_key = waiting.entry_key
        prefix = f"{entry_key}/"
        for argument in body.signature.input_arg:
            key = prefix + argument.name
            self.nodes[key] = Node(
                key, argument.name, "input", "argument", group=entry_key, op="argument"
            )
            self.edges.append(Edge(entry_key, key))

        self._add_nodes(body.node_def, prefix, caller_scope=f"{waiting.caller_name}/")
        for node_def in body.node_def:
            if not node_def.input:
                self.edges.append(Edge(entry_key, prefix + node_def.name))

        for result in body.signature.output_arg:
            key = f"{prefix}return:{result.name}"
            self.nodes[key] = Node(
                key, result.name, "output", "result", group=entry_key, op="result"
            )
            # `ret` maps a result to an input such as "add:z:0". It is a map of a protocol buffer:
            # reading a key that it does not have would add the key to the user's GraphDef.
            if result.name in body.ret:
                self._add_input(prefix, body.ret[result.name], key)
