"""A torch.fx graph -> a picture's boxes and arrows: inputs, calls in the order they run, a result.

Each fx node becomes a box with a text such as `add = operator.add(x, 1)`. An arrow goes from a node
to each node that uses its value. Names and calls are fx's own (torch/fx/graph.py).
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import islice

from ...model.graphs import Edge, Graph, Node
from ...model.phrase import clip_text, format_count
from ...safety.arguments import real_isinstance, real_type_name, require_str
from ..cpython.frameworks_of_callables import refuse_other_framework
from ..cpython.objects import read_callable_name
from ..text import tensors
from ..text.value import short_repr

# fx's kind of a node that calls nothing -> its kind in the picture
KINDS = {"placeholder": "input", "get_attr": "input", "output": "output"}
MOST_ARGUMENTS = 16  # of a list that are written out
MOST_LAST = 12  # nodes of a graph that grows
LONGEST_LABEL = 300


def build_fx_graph(target, title: str = "", find: str = "") -> Graph:
    """Draw an FX graph; `target` is a `GraphModule` or a `Graph` of torch.fx.

    With `find`, the nodes that have these words are highlighted.
    """
    refuse_other_framework(target, (), "show_fx", "PyTorch")
    import torch.fx

    title = require_str(title, "title")
    find = require_str(find, "find")
    # `real_isinstance` does not believe a mock that claims to be of another class.
    fx_graph = target.graph if real_isinstance(target, torch.fx.GraphModule) else target
    if not real_isinstance(fx_graph, torch.fx.Graph):
        raise TypeError(f"show_fx needs a torch.fx GraphModule or Graph, not {short_repr(target)}")

    nodes = list(fx_graph.nodes)
    if not title:
        call_count = sum(node.op not in KINDS for node in nodes)
        title = f"An FX graph: {format_count(call_count, 'call')}"
    graph = Graph(
        clip_text(title, LONGEST_LABEL),
        _build_boxes(nodes),
        _build_arrows(nodes, readers=nodes),
    )
    return graph.find(find) if find else graph


def build_last_nodes(graph, title: str) -> Graph:
    """Return a picture of the newest nodes of a graph that grows, and of the nodes they use.

    `graph` is a `torch.fx.Graph`. A note says how many nodes are left out.
    """
    newest_first = islice(reversed(graph.nodes), MOST_LAST)
    last_nodes = [*newest_first][::-1]
    # a dict, which keeps the order and drops a node that is used twice
    used_nodes = dict.fromkeys(source for node in last_nodes for source in node.all_input_nodes)
    earlier_nodes = [node for node in used_nodes if node not in last_nodes]
    shown_nodes = [*earlier_nodes, *last_nodes]

    left_out = len(graph.nodes) - len(shown_nodes)
    note = f"Earlier steps show the {left_out:,} nodes before these." if left_out else ""
    arrows = _build_arrows(shown_nodes, readers=last_nodes)
    return Graph(title, _build_boxes(shown_nodes), arrows, note)


def _build_boxes(nodes: Iterable) -> tuple[Node, ...]:
    """Return a box for each node."""
    return tuple(build_node_box(node, node.name) for node in nodes)


def _build_arrows(nodes: Iterable, readers: Sequence) -> tuple[Edge, ...]:
    """Return an arrow from each of `nodes` to each node of `readers` that uses its value."""
    sources = set(nodes)
    return tuple(
        Edge(source.name, reader.name)
        for reader in readers
        for source in reader.all_input_nodes
        if source in sources
    )


def build_node_box(node, key: str) -> Node:
    """Return one fx node as a box, such as `add = operator.add(x, 1)`.

    `key` is the name by which arrows refer to the box.
    """
    # A placeholder is an input, which calls nothing. Neither does the output.
    has_name_only = node.op in ("placeholder", "output")
    label = node.name if has_name_only else f"{node.name} = {_format_call(node)}"
    calls_nothing = node.op in KINDS
    return Node(
        key,
        clip_text(label, LONGEST_LABEL),
        KINDS.get(node.op, "op"),
        _describe_node_value(node),
        op=node.op if calls_nothing else format_target(node.target),
    )


def _describe_node_value(node) -> str:
    """Return the dtype and sizes of a node's value, such as `float32 [3, 2]`; "" if not known.

    For a call of an nn.Module, the class of the module comes first: `Linear float32 [3, 2]`.
    """
    # Dynamo stores an example of the value under the first name, AOTAutograd under the second.
    value = node.meta.get("example_value", node.meta.get("val"))
    description = tensors.format_dtype_and_sizes(value) if tensors.is_torch_tensor(value) else ""
    if node.op == "call_module":
        with suppress(AttributeError):  # a graph without its module
            module = node.graph.owning_module.get_submodule(node.target)
            description = f"{real_type_name(module)} {description}".rstrip()
    return description


def format_target(target) -> str:
    """Return the name of what an fx node calls, without the address in its repr."""
    is_name = isinstance(target, str) or real_type_name(target) == "OpOverload"  # aten.add.Tensor
    return str(target) if is_name else read_callable_name(target)


def _format_call(node) -> str:
    """Return what a node calls, with its arguments.

    A method gives `.view(x, [2, 3])`, a module `self.layer(x)`, and an attribute `self.weight`.
    """
    target = format_target(node.target)
    if node.op == "get_attr":
        return f"self.{target}"

    arguments = [_format_node_argument(value) for value in node.args]
    arguments += [f"{name}={_format_node_argument(value)}" for name, value in node.kwargs.items()]
    prefixes = {"call_method": ".", "call_module": "self."}
    prefix = prefixes.get(node.op, "")
    return f"{prefix}{target}({', '.join(arguments)})"


def _format_node_argument(value) -> str:
    """Return one argument of a node: nodes by name, lists with their first items."""
    import torch.fx

    if isinstance(value, (torch.fx.Node, torch.dtype, torch.device, torch.SymInt)):
        return str(value)

    if isinstance(value, (tuple, list)):
        items = [_format_node_argument(item) for item in value[:MOST_ARGUMENTS]]
        if len(value) > len(items):
            items.append("…")
        return f"[{', '.join(items)}]"

    if isinstance(value, slice):
        parts = [value.start, value.stop]
        if value.step is not None:
            parts.append(value.step)
        return ":".join(map(_format_node_argument, parts))

    return short_repr(value)
