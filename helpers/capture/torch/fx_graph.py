"""A torch.fx graph -> a graph of its nodes: inputs, calls in the order they run, one result.

An arrow leads from a node to the node that uses it. Names are fx's own (`add_1`, `abs_2`), which
are the same twice; a call's words are the function's or method's name and its plain arguments.
A tensor that stands in `node.meta` (`example_value` or `val`) is told by its dtype and shape; sizes
that are symbols are shown as such. Mirrors torch/fx/graph.py.

Fields are read as `torch.fx.Graph` and `torch.fx.Node` have them; no subclass is asked.
"""

from itertools import islice
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType

from helpers.capture.cpython.objects import class_mapping, instance_dict
from helpers.capture.text import tensors
from helpers.capture.text.value import brief, type_name
from helpers.model.graph import Edge, Graph, Node
from helpers.model.phrase import counted
from helpers.safety.arguments import is_a, is_exactly, printable, word

KINDS = {"placeholder": "input", "get_attr": "input", "output": "output"}
MOST_NODES, MOST_ARROWS, MOST_ARGUMENTS, DEEPEST = 5_000, 20_000, 16, 4
MOST_LAST = 12
LONGEST_NAME, LONGEST_LABEL = 80, 300
_class_name = type.__dict__["__name__"].__get__


def fx_graph(thing, title: str = "", find: str = "") -> Graph:
    """Return the graph of a `torch.fx.GraphModule` or `torch.fx.Graph`; TypeError for others.

    `find` points out nodes, LookupError if there is none. The note says how many nodes and arrows
    are left out, if any are.
    """
    title = printable(word(title, "title"), LONGEST_LABEL)
    find = word(find, "find")
    nodes = fx_nodes(thing)
    calls = sum(field(node, "op") not in KINDS for node in nodes)
    words = f"An FX graph: {counted(calls, 'call')}"
    shown = nodes[:MOST_NODES]
    keys = _keys(shown)
    arrows, others = _arrows(shown, keys)
    notes = [
        f"{others:,} arrows come from nodes that are not here." * bool(others),
        f"The last {len(nodes) - MOST_NODES:,} of {len(nodes):,} nodes are left out; give a part "
        "of the graph to see them." * (len(nodes) > MOST_NODES),
        f"The last {len(arrows) - MOST_ARROWS:,} of {len(arrows):,} arrows are left out."
        * (len(arrows) > MOST_ARROWS),
    ]
    drawn = tuple(drawn_node(node, keys[node]) for node in shown)
    note = " ".join(filter(None, notes))
    graph = Graph(title or words, drawn, tuple(arrows[:MOST_ARROWS]), note)
    return graph.find(find) if find else graph


def last_nodes(graph, title: str) -> Graph:
    """Return the last `MOST_LAST` nodes of a graph that grows, and what they use.

    The note says how many are before them.
    """
    import torch.fx

    every = torch.fx.Graph.nodes.__get__(graph)
    tail = [*islice(reversed(every), MOST_LAST)][::-1]
    used = {n: None for node in tail for n in field(node, "all_input_nodes") or ()}
    shown = [*(node for node in used if node not in set(tail)), *tail]
    keys = _keys(shown)
    arrows, _ = _arrows(tail, keys)
    before = len(every) - len(shown)
    note = f"The {before:,} nodes before these stand at the steps that made them." * bool(before)
    drawn = tuple(drawn_node(node, keys[node]) for node in shown)
    return Graph(title, drawn, tuple(arrows), note)


def fx_nodes(thing) -> list:
    """Return the nodes of a graph, or of a module's graph, in order."""
    import torch.fx

    graph = thing
    if is_a(thing, torch.fx.GraphModule):
        graph = (instance_dict(thing) or {}).get("_graph")
        if not is_a(graph, torch.fx.Graph):
            raise TypeError(f"show_fx needs a GraphModule with its graph, {brief(thing)} has none")
    if not is_a(graph, torch.fx.Graph):
        raise TypeError(f"show_fx needs a torch.fx GraphModule or Graph, not {brief(thing)}")
    try:
        found = torch.fx.Graph.nodes.__get__(graph)
        return list(islice(found, len(found) + 1))
    except Exception as error:
        raise TypeError(
            f"show_fx cannot go through this graph: its nodes end in {type_name(error)}"
        ) from None


def field(node, name: str):
    """Return a field of a node as `torch.fx.Node` has it, None where there is none."""
    import torch.fx

    try:
        return getattr(torch.fx.Node, name).__get__(node)
    except Exception:  # never set, or taken away
        return None


def drawn_node(node, key: str) -> Node:
    """Return one node as a box."""
    op, name = _op(node), name_of(node)
    label = name if op in ("placeholder", "output") else f"{name} = {_called(node)}"
    return Node(
        key, printable(label, LONGEST_LABEL), KINDS.get(op, "op"), _value(node), op=_operation(node)
    )


def name_of(node) -> str:
    """Return a node's name."""
    name = field(node, "name")
    return printable(name, LONGEST_NAME) if is_a(name, str) else brief(name)


def target_name(target) -> str:
    """Return the name of what an fx node calls, without its module's place or address."""
    kind = type(target)
    if is_a(target, str):
        return printable(target, LONGEST_NAME)
    if is_exactly(target, FunctionType, BuiltinFunctionType, MethodDescriptorType):
        return printable(target.__name__, LONGEST_NAME)
    if issubclass(kind, type):
        return printable(_class_name(target), LONGEST_NAME)
    if _is_torch_s(kind):
        named = str(target) if type_name(target) == "OpOverload" else None  # aten.add.Tensor
        named = named or getattr(target, "__name__", type_name(target))
        return printable(named, LONGEST_NAME)
    return type_name(target)


def _is_torch_s(kind: type) -> bool:
    home = class_mapping(kind).get("__module__")
    return type(home) is str and (home == "torch" or home.startswith("torch."))


def _keys(nodes) -> dict:
    """Return a key for each node: its name, which nothing but fx itself keeps from being double."""
    keys, taken = {}, set()
    for node in nodes:
        key = name_of(node)
        while key in taken:
            key += "′"
        taken.add(key)
        keys[node] = key
    return keys


def _arrows(nodes, keys) -> tuple[list[Edge], int]:
    """Return the arrows between these nodes, and how many come from elsewhere."""
    ends = [(used, node) for node in nodes for used in field(node, "all_input_nodes") or ()]
    arrows = [Edge(keys[used], keys[node]) for used, node in ends if used in keys]
    return arrows, len(ends) - len(arrows)


def _op(node) -> str:
    op = field(node, "op")
    return op if type(op) is str else brief(op)


def _operation(node) -> str:
    op = _op(node)
    return op if op in KINDS else target_name(field(node, "target"))


def _called(node) -> str:
    op, target = _op(node), target_name(field(node, "target"))
    if op == "get_attr":
        return f"self.{target}"
    args, kwargs = field(node, "args") or (), field(node, "kwargs") or {}
    words = [_argument(a) for a in args[:MOST_ARGUMENTS]]
    named = islice(kwargs.items(), MOST_ARGUMENTS)
    words += [f"{printable(name, LONGEST_NAME)}={_argument(a)}" for name, a in named]
    words += ["…"] * (len(args) > MOST_ARGUMENTS or len(kwargs) > MOST_ARGUMENTS)
    return f"{'.' * (op == 'call_method')}{target}({', '.join(words)})"


def _argument(value, depth: int = DEEPEST) -> str:
    import torch.fx

    kind = type(value)
    if is_a(value, torch.fx.Node):
        return name_of(value)
    if is_exactly(value, torch.dtype, torch.device, torch.SymInt):
        return str(value)
    if issubclass(kind, (tuple, list)):  # fx keeps lists as a class of its own
        return _items(value, depth)
    if kind is slice:
        ends = (value.start, value.stop) + (() if value.step is None else (value.step,))
        return ":".join(_argument(part, depth - 1) for part in ends)
    return brief(value)


def _items(value, depth: int) -> str:
    base = tuple if is_a(value, tuple) else list
    if not depth:
        return "[…]"
    items = [_argument(item, depth - 1) for item in islice(base.__iter__(value), MOST_ARGUMENTS)]
    return f"[{', '.join(items + ['…'] * (base.__len__(value) > MOST_ARGUMENTS))}]"


def _value(node) -> str:
    """Return the dtype and the shape of the tensor that a node stands for, where fx knows it."""
    meta = field(node, "meta")
    if not is_a(meta, dict):
        return ""
    value = dict.get(meta, "example_value", dict.get(meta, "val"))
    return tensors.words(value) if tensors.is_tensor(value) else ""
