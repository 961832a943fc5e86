"""A TensorFlow graph (GraphDef, Graph, ConcreteFunction, Function) -> its nodes, and its steps.

An arrow without words carries output 0, `control` only an order. The bodies that control flow calls
(tensorflow/core/framework/function.proto) follow as groups of their own, named after the caller.
"""

import hashlib
import re
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from math import prod

from ...internals import tensorflow_private
from ...model.graphs import Edge, Graph, LaneNode, Node, ParallelStep, Steps
from ...model.phrase import clipped, counted, listed
from ...model.tables import Column
from ...safety.arguments import printable, real_isinstance, real_type_name, require_str
from ...safety.restoring import running_user_code
from ..cpython.objects import called
from ..cpython.unwrapping import refuse_other_framework
from ..text.error import error_message, instead
from .trace_ledger import KERAS, PYTHON, as_tf_function, watched_of
from .traces_in_block import parts_of

NEEDED = "a graph can be drawn of a tf.function, one of its concrete functions, a tf.Graph or a "
NEEDED += "GraphDef, or of a Python function and its arguments"
CONTROL = "control"  # the label of an arrow that carries no value
MOST_SHOWN, MOST_BYTES = 8, 4_000  # elements of a constant, and bytes, whose values are read
LONGEST_SHOWN, LONGEST_VALUE = 32, 120  # characters: of a constant, of an attribute
MOST_OUTPUTS = 2
KINDS = dict.fromkeys(("Placeholder", "PlaceholderWithDefault", "_Arg", "_DeviceArg"), "input")
KINDS |= {"_Retval": "output", "_DeviceRetval": "output", "Const": "constant", "Identity": "pass"}
NO_NAME = "function"
_COUNTER = re.compile(r"(__inference_)?(.*?)(_\d+)?", re.DOTALL)


def tf_graph(thing, *args, title: str = "", **kwargs) -> Graph:
    """Return the graph of a GraphDef, a Graph, a ConcreteFunction, or a Function.

    With arguments, a function is asked for the ConcreteFunction for them, which may trace. Without,
    it needs to have exactly one trace.
    """
    name, graph_def = _graph_def(thing, args, kwargs)
    draft, words = _Draft(graph_def), f"The graph of {name}" if name else "A graph"
    scopes = {node.group for node in draft.nodes.values()}  # a node of that name is part of it
    nodes = (replace(n, group=n.key) if n.key in scopes else n for n in draft.nodes.values())
    title = title or f"{words}: {counted(len(graph_def.node), 'node')}"
    return Graph(title, tuple(nodes), tuple(draft.edges))


def found_in_graph(thing, args: tuple, kwargs: dict, find: str = "") -> Graph:
    """Return the graph of what `show_graph` accepts, with the nodes that `find` finds."""
    graph = tf_graph(thing, *args, **kwargs)
    return graph.find(find) if require_str(find, "find=") else graph


def traced(function, args, kwargs):
    """Return the ConcreteFunction of a tf.function for arguments; ValueError if it has none."""
    try:
        with running_user_code():
            return function.get_concrete_function(*args, **kwargs)
    except Exception as error:
        why = f"TensorFlow cannot trace it for these arguments: {error_message(error)}"
        raise ValueError(why) from None


def _graph_def(thing, args, kwargs):
    """Return (name, GraphDef); the shapes come along where the graph is alive."""
    refuse_other_framework(thing, args, "show_graph", "TensorFlow")
    import tensorflow as tf

    kinds = tf.compat.v1.GraphDef, tf.Graph, tf.types.experimental.ConcreteFunction
    asked = thing
    if not real_isinstance(thing, *kinds):
        thing = _concrete(thing, args, kwargs)
    elif args or kwargs:
        raise TypeError(f"a {real_type_name(thing)} is a graph already and takes no arguments")
    if real_isinstance(thing, kinds[0]):
        return "", thing
    graph = thing if real_isinstance(thing, tf.Graph) else thing.graph
    named = real_isinstance(graph, tensorflow_private.FuncGraph)
    name = printable(plain_name(graph.name)) if named else ""
    if asked is not thing and name == NO_NAME:  # TensorFlow's, for what has no `__name__`
        name = called(asked)
    return name, graph.as_graph_def(add_shapes=True)


def _concrete(thing, args, kwargs):
    thing = watched.function if (watched := watched_of(thing)) else thing
    if real_isinstance(thing, *PYTHON) and thing.__module__ == KERAS and not (args or kwargs):
        inside = [one for one in parts_of(thing) if not real_isinstance(one, *PYTHON)]
        thing = next(filter(tensorflow_private.all_traces, inside), [*inside, thing][0])
    if not real_isinstance(thing, tensorflow_private.Function):
        if not callable(thing) or real_isinstance(thing, type) or not (args or kwargs):
            alone = " alone" * callable(thing) or instead(thing)
            raise TypeError(f"{NEEDED}, not {real_type_name(thing)}{alone}")
        thing = as_tf_function(thing)
    if args or kwargs:
        return traced(thing, args, kwargs)
    traces = tensorflow_private.all_traces(thing)
    if len(traces) == 1:
        return traces[0]
    raise ValueError(
        f"this tf.function has {len(traces) or 'no'} traces, so which graph is meant? "
        "Add the arguments of a call, or pass a concrete function"
    )


PARTS = {  # an attribute of an op that names a function -> what that function is of the op
    "cond": "condition",
    "then_branch": "then branch",
    "else_branch": "else branch",
    "branches": "branch",
}


class _Draft:
    """A graph being made: the main nodes first, then each body in the order of its callers."""

    def __init__(self, graph_def):
        self.nodes, self.edges, self._waiting = {}, [], deque()
        self._library = {body.signature.name: body for body in graph_def.library.function}
        self._entries = {}
        self._add_nodes(graph_def.node, "", "")
        while self._waiting:
            self._add_body(*self._waiting.popleft())

    def _add_nodes(self, graph_nodes, prefix: str, cut: str) -> None:
        """Add nodes and their inputs. `prefix` leads every key, `cut` is left out of labels."""
        for node in graph_nodes:
            key = prefix + node.name
            self.nodes[key] = Node(key, node.name.removeprefix(cut), *_node_words(node, key))
        for node in graph_nodes:
            for written in node.input:
                self._join(prefix, written, prefix + node.name)
            for attribute, name in _functions_of(node):
                if name in self._library:
                    self._call(prefix, node.name, attribute, name)

    def _join(self, prefix: str, written: str, target: str) -> None:
        # `x`, `x:1`, `^x`, and inside a body `x:output:1`
        name, _, output = written.removeprefix("^").partition(":")
        output = output.rpartition(":")[2]
        label = f"output {output}" if output not in ("", "0") else ""
        label, source = CONTROL if written.startswith("^") else label, prefix + name
        if source not in self.nodes:
            self.nodes[source] = Node(source, name, "gone", "named as an input, but not here")
        self.edges.append(Edge(source, target, label))

    def _call(self, prefix: str, caller: str, attribute: str, name: str) -> None:
        if name not in self._entries:
            entry = self._entries[name] = f"{prefix}{caller}:{attribute}"
            part = PARTS.get(attribute.partition("[")[0], "body")
            words = attribute, "call", f"{part} of {caller}", entry, "body"
            self.nodes[entry] = Node(entry, *words)
            self._waiting.append((name, entry, caller))
        self.edges.append(Edge(prefix + caller, self._entries[name], attribute))

    def _add_body(self, name: str, entry: str, caller: str) -> None:
        body, prefix = self._library[name], f"{entry}/"
        for argument in body.signature.input_arg:
            key = prefix + argument.name
            self.nodes[key] = Node(key, argument.name, "input", "argument", entry, "argument")
            self.edges.append(Edge(entry, key))
        self._add_nodes(body.node_def, prefix, f"{caller}/")
        starts = (node.name for node in body.node_def if not node.input)
        self.edges += [Edge(entry, prefix + name) for name in starts]
        for result in body.signature.output_arg:
            key = f"{prefix}return:{result.name}"
            self.nodes[key] = Node(key, result.name, "output", "result", entry, "result")
            if result.name in body.ret:  # asking for another would write it into the GraphDef
                self._join(prefix, body.ret[result.name], key)


def _functions_of(node) -> Iterator[tuple[str, str]]:
    for attribute in sorted(node.attr):
        value = node.attr[attribute]
        if value.HasField("func"):
            yield attribute, value.func.name
        for at, function in enumerate(value.list.func):
            yield f"{attribute}[{at}]", function.name


def _node_words(node, key: str) -> tuple:
    """Return what a Node says behind its label; its group is the scopes of its key."""
    types, parts = _types(node), [node.op]
    shapes = node.attr["_output_shapes"].list.shape if "_output_shapes" in node.attr else ()
    outputs = [
        f"{kind} {_shape_words(shapes[at])}" if at < len(shapes) else kind
        for at, kind in enumerate(types[:MOST_OUTPUTS])
    ]
    if types:
        parts.append(listed(outputs + types[MOST_OUTPUTS:], MOST_OUTPUTS))
    if node.op == "Const" and "value" in node.attr:
        tensor = node.attr["value"].tensor
        if (values := _values(tensor)) is not None:
            parts.append(f"= {clipped(values, LONGEST_SHOWN)}")
        elif not shapes:
            parts.append(_shape_words(tensor.tensor_shape))
    names = sorted(name for name in node.attr if not name.startswith("_"))
    attributes = tuple((n, _attribute(node.attr[n])) for n in names)
    kind = KINDS.get(node.op) or ("call" if any(_functions_of(node)) else "op")
    return kind, " ".join(parts), key.rpartition("/")[0], node.op, attributes


def _shape_words(shape) -> str:
    """Return a TensorShapeProto as Python writes a tuple; `(?)` where the rank is unknown."""
    sizes = tuple(dim.size if dim.size >= 0 else None for dim in shape.dim)
    return "(?)" if shape.unknown_rank else str(sizes)


def _values(tensor) -> str | None:
    import tensorflow as tf

    sizes = [dim.size for dim in tensor.tensor_shape.dim]
    if not all(0 <= size <= MOST_SHOWN for size in sizes) or prod(sizes) > MOST_SHOWN:
        return None
    with suppress(Exception):  # a dtype without values, or a proto that is cut short
        if tensor.ByteSize() <= MOST_BYTES:
            return repr(tf.make_ndarray(tensor).tolist())
    return None


def _types(node) -> list[str]:
    """Return the dtypes of the outputs, by the op's registered signature; [] of an unknown op."""
    import tensorflow as tf

    def attribute(name: str):  # `node.attr[…]` would write down one that is not there
        return node.attr[name] if name in node.attr else tf.compat.v1.AttrValue()

    kinds = []
    for out in getattr(tensorflow_private.op_def_registry.get(node.op), "output_arg", ()):
        if out.type_list_attr:
            kinds += attribute(out.type_list_attr).list.type
        else:
            kind = attribute(out.type_attr).type if out.type_attr else out.type
            kinds += [kind] * (attribute(out.number_attr).i if out.number_attr else 1)
    return [_dtype_name(kind) for kind in kinds if kind]


def _dtype_name(number: int) -> str:
    import tensorflow as tf

    with suppress(TypeError, KeyError):
        return tf.as_dtype(number).name
    return f"dtype {number}"


def plain_name(name: str) -> str:
    """Return a function's name without the prefix and the counter that TensorFlow adds."""
    return _COUNTER.fullmatch(name)[2] or name


def _attribute(value) -> str:
    if value.HasField("func"):
        return plain_name(value.func.name)
    if value.HasField("type"):
        return _dtype_name(value.type)
    words, tensor = " ".join(str(value).split()), value.tensor
    if value.HasField("tensor") and (values := _values(tensor)):
        words = f"{_dtype_name(tensor.dtype)} {_shape_words(tensor.tensor_shape)} {values}"
    if len(words) <= LONGEST_VALUE:
        return words
    return f"{len(words)} characters, {hashlib.sha256(words.encode()).hexdigest()[:12]}"


MOST_STEPS, MOST_NAMED, LONGEST = 60, 8, 100
QUIET = ("input", "constant")
COLUMNS = (Column("step", "step"), Column("width", "nodes in this step"), Column("nodes", "nodes"))


def tf_steps(thing, /, *args, **kwargs) -> Steps:
    """Show a TensorFlow graph in steps. The nodes of one step could run in parallel."""
    return steps(tf_graph(thing, *args, **kwargs))


def steps(graph: Graph) -> Steps:
    """Return the steps of a graph: step 0 needs nothing, step n needs a node of step n - 1.

    What stands in a cycle, and what waits for it, has no step; the note counts it.
    """
    import networkx

    arrows = directed(graph)
    level, works = find_levels(arrows), {n.key: n.kind not in QUIET for n in graph.nodes}
    by_step: list[list[str]] = [[] for _ in range(1 + max(level.values(), default=-1))]
    for key, step in level.items():
        by_step[step].append(key)
    widest = max((sum(works[key] for key in keys) for keys in by_step), default=0)
    rows, lanes = [], []
    for number, keys in enumerate(by_step[:MOST_STEPS]):
        rows.append(ParallelStep(number, len(keys), listed(keys, MOST_NAMED, LONGEST)))
        first = keys[:MOST_NAMED]
        lanes.append(tuple(LaneNode(clipped(key, LONGEST), works[key]) for key in first))
    path, notes = tuple(networkx.dag_longest_path(arrows.subgraph(level))), []
    if len(by_step) > MOST_STEPS:
        notes.append(f"The first {MOST_STEPS} of {len(by_step)} steps.")
    if path:
        ends = path if len(path) <= MOST_NAMED else (*path[:3], "…", *path[-3:])
        words = " → ".join(clipped(key, LONGEST) for key in ends)
        notes.append(f"The longest path has {len(path)} nodes: {words}.")
    if missing := len(graph.nodes) - len(level):
        notes.append(f"{missing} nodes have no step because they wait for a cycle.")
    title = f"{graph.title}, in steps"
    return Steps(title, COLUMNS, tuple(rows), " ".join(notes), path, widest, tuple(lanes))


def directed(graph: Graph):
    """Return the nodes' keys and the arrows as networkx has them, in the graph's order."""
    import networkx

    arrows = networkx.DiGraph()
    arrows.add_nodes_from(node.key for node in graph.nodes)
    arrows.add_edges_from((edge.source, edge.target) for edge in graph.edges)
    return arrows


def find_levels(arrows) -> dict[str, int]:
    """Return each key's step, in the graph's order; what waits for a cycle has none."""
    import networkx

    level = {}
    with suppress(networkx.NetworkXUnfeasible):  # raised at the end, where there is a cycle
        for step, keys in enumerate(networkx.topological_generations(arrows)):
            level.update(dict.fromkeys(keys, step))
    return {key: level[key] for key in arrows if key in level}
