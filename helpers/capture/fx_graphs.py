"""A torch.fx graph -> a graph of its nodes: inputs, calls in the order they run, one result.

An arrow leads from a node to the node that uses it. Names are fx's own (`add_1`, `abs_2`), which
are the same twice; a call's words are the function's or method's name and its plain arguments.
A tensor that stands in `node.meta` (`example_value` or `val`) is told by its dtype and shape; sizes
that are symbols are shown as such. Mirrors torch/fx/graph.py.
"""

from helpers.capture.brief import brief
from helpers.capture.words import type_name
from helpers.model.graph import Edge, Graph, Node

KINDS = {"placeholder": "input", "get_attr": "input", "output": "output"}


def fx_graph(thing, title: str = "") -> Graph:
    """Return the graph of a `torch.fx.GraphModule` or `torch.fx.Graph`; TypeError for others."""
    import torch.fx

    graph = thing.graph if isinstance(thing, torch.fx.GraphModule) else thing
    if not isinstance(graph, torch.fx.Graph):
        raise TypeError(f"show_fx needs a torch.fx GraphModule or Graph, not {type_name(thing)}")
    nodes = list(graph.nodes)
    calls = sum(node.op not in KINDS for node in nodes)
    words = f"An FX graph: {calls} call{'s' * (calls != 1)}"
    edges = tuple(Edge(used.name, node.name) for node in nodes for used in node.all_input_nodes)
    return Graph(title or words, tuple(_node(node) for node in nodes), edges)


def _node(node) -> Node:
    label = node.name if node.op in ("placeholder", "output") else f"{node.name} = {_called(node)}"
    return Node(node.name, label, KINDS.get(node.op, "op"), _value(node), op=_operation(node))


def _operation(node) -> str:
    return node.op if node.op in KINDS else target_name(node.target)


def target_name(target) -> str:
    """Return the name of what an fx node calls, without its module's place or address."""
    if isinstance(target, str):
        return target
    if type_name(target) == "OpOverload":
        return str(target)  # aten.add.Tensor
    return getattr(target, "__name__", type_name(target))


def _called(node) -> str:
    method = "." if node.op == "call_method" else ""
    if node.op == "get_attr":
        return f"self.{node.target}"
    words = [_argument(a) for a in node.args]
    words += [f"{name}={_argument(a)}" for name, a in node.kwargs.items()]
    return f"{method}{target_name(node.target)}({', '.join(words)})"


def _argument(value) -> str:
    import torch.fx

    if isinstance(value, torch.fx.Node):
        return value.name
    if isinstance(value, (torch.dtype, torch.device, torch.SymInt)):
        return str(value)
    if isinstance(value, (tuple, list)):  # fx keeps lists as a class of its own
        return f"[{', '.join(map(_argument, value))}]"
    if type(value) is slice:
        return ":".join(map(_argument, (value.start, value.stop)))
    return brief(value)


def _value(node) -> str:
    """Return the dtype and the shape of the tensor that a node stands for, where fx knows it."""
    value = node.meta.get("example_value", node.meta.get("val"))
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is None or dtype is None:
        return ""
    sizes = ", ".join(str(size) for size in shape)
    return f"{str(dtype).removeprefix('torch.')} [{sizes}]"
