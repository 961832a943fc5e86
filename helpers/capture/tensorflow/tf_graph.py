"""A TensorFlow graph (GraphDef, Graph, ConcreteFunction, Function) -> a graph of its nodes.

A node's key is its own name, and its inputs are the arrows to it, in order: an arrow without words
carries output 0, `:1` another output, `control` only an order. So TensorFlow's own node list,
`for node in graph_def.node: node.input, node.name`, can be written down again from the model. The
bodies that control flow calls (tensorflow/core/framework/function.proto) follow as groups of their
own, named after the caller and not after the counter that TensorFlow puts into their names.

Attributes whose names begin with an underscore are TensorFlow's notes to itself, and the device is
where a node ran; neither says what it computes, so neither is kept.
"""

import hashlib
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from math import prod

from helpers.capture.cpython.unwrapping import freed, unwrap
from helpers.capture.tensorflow.trace_ledger import as_tf_function, watched_of
from helpers.capture.text.error import instead, said
from helpers.internals import tensorflow_private
from helpers.model.graph import Edge, Graph, Node
from helpers.model.phrase import counted
from helpers.safety.arguments import is_a, kind_of, printable
from helpers.safety.restoring import theirs

NEEDED = (
    "a graph is drawn of a tf.function, one of its concrete functions, a tf.Graph or a GraphDef, "
    "or of a Python function and its arguments"
)
CONTROL = "control"  # the label of an arrow that carries no value
LONGEST_NAME = 300
MOST_SHOWN, MOST_BYTES = 8, 4_000  # elements of a constant, and bytes, whose values are read
LONGEST_SHOWN, LONGEST_VALUE = 32, 120  # characters: of a constant, of an attribute
MOST_SCOPES, LONGEST_OP, MOST_OUTPUTS = 12, 80, 2
INPUTS = ("Placeholder", "PlaceholderWithDefault", "_Arg", "_DeviceArg")
OUTPUTS = ("_Retval", "_DeviceRetval")
_COUNTER = re.compile(r"(__inference_)?(.*?)(_\d+)?", re.DOTALL)


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


def traced(function, args, kwargs):
    """Return the ConcreteFunction of a tf.function for arguments; ValueError if it has none.

    Whatever ends the trace is said in the sentence, SystemExit too; an interrupt passes.
    """
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
    named = is_a(graph, tensorflow_private.FuncGraph)
    try:
        graph_def = graph.as_graph_def(add_shapes=True)
    except Exception as error:
        raise ValueError(f"TensorFlow cannot write this graph down: {said(error)}") from None
    return (printable(plain_name(graph.name)) if named else ""), graph_def


def _concrete(thing, args, kwargs):
    import tensorflow as tf

    if is_a(thing, tf.types.experimental.ConcreteFunction):
        return thing
    thing = watched.function if (watched := watched_of(thing)) else thing
    if not is_a(thing, tensorflow_private.Function):
        if not callable(thing) or is_a(thing, type) or not (args or kwargs):
            alone = " alone" * callable(thing) or instead(thing)
            raise TypeError(f"{NEEDED}, not {kind_of(thing)}{alone}")
        thing = as_tf_function(thing)
    if why := freed(unwrap(thing)[0]):
        raise ValueError(why)
    if args or kwargs:
        return traced(thing, args, kwargs)
    traces = tensorflow_private.all_traces(thing)
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
            name = printable(node.key)
            raise ValueError(f"two nodes have the name '{name}'; a GraphDef needs it once")
        self.nodes[node.key] = node

    def _add_nodes(self, graph_nodes, prefix: str, cut: str) -> None:
        """Add nodes and their inputs. `prefix` leads every key, `cut` is left out of labels."""
        for node in graph_nodes:
            label = node.name.removeprefix(cut)[:LONGEST_NAME]
            self._put(_node(node, prefix + node.name, label))
        for node in graph_nodes:
            for source, label in map(_source, node.input):
                self._join(prefix + source, prefix + node.name, label)
            self._call(node, prefix)

    def _join(self, source: str, target: str, label: str = "") -> None:
        if source not in self.nodes:
            gone = "named as an input, and not here"
            self.nodes[source] = Node(source, source[:LONGEST_NAME], "gone", gone)
        self.edges.append(Edge(source, target, label[:LONGEST_NAME]))

    def _call(self, node, prefix: str) -> None:
        for attribute, name in _functions_of(node):
            if name not in self._library:
                continue
            if name not in self._entries:
                entry = self._entries[name] = f"{prefix}{node.name}:{attribute}"
                detail = f"body of {node.name[:LONGEST_NAME]}"
                self._put(Node(entry, attribute, "call", detail, _scopes(f"{entry}/"), "body"))
                self._waiting.append((name, entry, node.name))
            self.edges.append(Edge(prefix + node.name, self._entries[name], attribute))

    def _add_body(self, name: str, entry: str, caller: str) -> None:
        body, prefix, group = self._library[name], f"{entry}/", _scopes(f"{entry}/")
        for argument in body.signature.input_arg:
            key = prefix + argument.name
            self._put(Node(key, argument.name, "input", "argument", group, "argument"))
            self.edges.append(Edge(entry, key))
        self._add_nodes(body.node_def, prefix, f"{caller}/")
        starts = (node.name for node in body.node_def if not node.input)
        self.edges += [Edge(entry, prefix + name) for name in starts]
        for result in body.signature.output_arg:
            key = f"{prefix}return:{result.name}"
            self._put(Node(key, result.name, "output", "result", group, "result"))
            if result.name in body.ret:  # asking for another would write it into the GraphDef
                source, label = _source(body.ret[result.name])
                self._join(prefix + source, key, label)


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


# ------------------------------------------------------------------ one node in words
# A NodeDef is tensorflow/core/framework/node_def.proto.


def _node(node, key: str, label: str) -> Node:
    """Return the node under this key; its group is the scopes of its key, the outermost ones."""
    op = printable(node.op, LONGEST_OP)
    detail = " ".join(part for part in (op, _output_words(node), _constant_words(node)) if part)
    names = sorted(name for name in node.attr if not name.startswith("_"))
    attributes = tuple((printable(n, LONGEST_VALUE), _attribute(node, n)) for n in names)
    return Node(key, label, _kind(node), detail, _scopes(key), op, attributes)


def _scopes(key: str) -> str:
    """Return the scopes that a key stands in, the outermost `MOST_SCOPES` of them."""
    return "/".join(key.rpartition("/")[0].split("/")[:MOST_SCOPES])


def _kind(node) -> str:
    """Return input, output, constant, call, pass (its input goes through), or op."""
    if node.op in INPUTS or node.op in OUTPUTS:
        return "input" if node.op in INPUTS else "output"
    known = {"Const": "constant", "Identity": "pass"}
    calls = any(v.HasField("func") or v.list.func for v in node.attr.values())
    return known.get(node.op) or ("call" if calls else "op")


def _output_words(node) -> str:
    """Return dtype and shape of the outputs, such as `float32 (None, 4)`; as much as is known."""
    types, total = _types(node)
    shapes = node.attr["_output_shapes"].list.shape if _has_shapes(node) else ()
    words = [
        f"{kind} {_shape_words(shapes[at])}" if at < len(shapes) else kind
        for at, kind in enumerate(types)
    ]
    return ", ".join(words) + (f" and {total - len(types)} more" if total > len(types) else "")


def _has_shapes(node) -> bool:
    return "_output_shapes" in node.attr


def _shape_words(shape) -> str:
    """Return a TensorShapeProto as Python writes a tuple; `(?)` where the rank is unknown."""
    if shape.unknown_rank:
        return "(?)"
    sizes = [str(dim.size) if dim.size >= 0 else "None" for dim in shape.dim]
    return f"({', '.join(sizes)}{',' * (len(sizes) == 1)})"


def _constant_words(node) -> str:
    """Return `= 7.0` of a small constant, the shape of a large one, nothing of another op."""
    if node.op != "Const" or "value" not in node.attr:
        return ""
    tensor = node.attr["value"].tensor
    if (values := _values(tensor)) is None:
        return "" if _has_shapes(node) else _shape_words(tensor.tensor_shape)
    return f"= {values if len(values) <= LONGEST_SHOWN else values[: LONGEST_SHOWN - 1] + '…'}"


def _values(tensor) -> str | None:
    """Return the values of a small tensor as Python writes them; None if large or unreadable."""
    import tensorflow as tf

    sizes = [dim.size for dim in tensor.tensor_shape.dim]
    if not all(0 <= size <= MOST_SHOWN for size in sizes) or prod(sizes) > MOST_SHOWN:
        return None
    try:
        small = tensor.ByteSize() <= MOST_BYTES
        return repr(tf.make_ndarray(tensor).tolist()) if small else None
    except Exception:  # a dtype without values, or a proto that is cut short: many types of error
        return None


def _types(node) -> tuple[list[str], int]:
    """Return the dtypes of the first outputs, and how many there are; none if the op is unknown.

    They are read from the op's registered signature.
    """
    signature = tensorflow_private.op_def_registry.get(node.op)
    first, total = [], 0
    for out in signature.output_arg if signature else ():
        kinds, count = _type(node, out)
        first += kinds[: MOST_OUTPUTS - len(first)]
        total += count
    return [_dtype_name(kind) for kind in first], total


def _type(node, out) -> tuple[list[int], int]:
    """Return the first dtypes of one output of the signature, and how many tensors it is."""
    if out.type_list_attr:
        kinds = _attr(node, out.type_list_attr).list.type
        return kinds[:MOST_OUTPUTS], len(kinds)
    kind = _attr(node, out.type_attr).type if out.type_attr else out.type
    count = max(0, _attr(node, out.number_attr).i) if out.number_attr else 1
    return ([kind] * min(count, MOST_OUTPUTS), count) if kind else ([], 0)


def _attr(node, name: str):
    """Return an attribute; an empty one if there is none. `node.attr[…]` would write it down."""
    import tensorflow as tf

    return node.attr[name] if name in node.attr else tf.compat.v1.AttrValue()


def _dtype_name(number: int) -> str:
    import tensorflow as tf

    try:
        return tf.as_dtype(number).name
    except (TypeError, KeyError):
        return f"dtype {number}"


def plain_name(name: str) -> str:
    """Return a function's name without the prefix and the counter that TensorFlow adds."""
    return _COUNTER.fullmatch(name)[2] or name


def _attribute(node, name: str) -> str:
    """Return the value of an attribute in words; of a large one, a digest."""
    value = node.attr[name]
    values = _values(value.tensor) if value.HasField("tensor") else None
    if values is not None and len(values) <= LONGEST_VALUE:
        shape = _shape_words(value.tensor.tensor_shape)
        return f"{_dtype_name(value.tensor.dtype)} {shape} {values}"
    kind = value.WhichOneof("value")
    written = value.SerializeToString(deterministic=True)
    if kind in _SIMPLE and (len(written) <= LONGEST_VALUE or kind == "func"):
        return _SIMPLE[kind](getattr(value, kind))
    if len(written) <= LONGEST_VALUE and not value.list.func:
        return " ".join(str(value).split())
    return f"{len(written)} bytes, {hashlib.sha256(written).hexdigest()[:12]}"


_SIMPLE = {
    "b": str,
    "i": str,
    "f": str,
    "s": lambda words: words.decode(errors="backslashreplace"),
    "type": _dtype_name,
    "shape": _shape_words,
    "func": lambda function: printable(plain_name(function.name), LONGEST_VALUE),
}
