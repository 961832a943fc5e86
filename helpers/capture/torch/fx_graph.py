"""A torch.fx graph, or the past of a tensor -> a graph of its nodes.

Of fx: inputs, calls in the order they run, one result. An arrow leads from a node to the node that
uses it. Names are fx's own (`add_1`, `abs_2`), which are the same twice; a call's words are the
function's or method's name and its plain arguments. A tensor that stands in `node.meta`
(`example_value` or `val`) is told by its dtype and shape; sizes that are symbols are shown as such.
Mirrors torch/fx/graph.py.

Of a tensor: its `grad_fn`, its `next_functions`, and theirs. The nodes are those of
torch/csrc/autograd/function.h; a leaf has an AccumulateGrad.
"""

from itertools import islice

from helpers.capture.cpython.objects import called
from helpers.capture.text import tensors
from helpers.capture.text.value import brief, type_name
from helpers.model.graph import Edge, Graph, Node
from helpers.model.phrase import counted
from helpers.safety.arguments import is_a, is_exactly, printable, word

KINDS = {"placeholder": "input", "get_attr": "input", "output": "output"}
MOST_NODES, MOST_ARGUMENTS, DEEPEST, MOST_LAST = 5_000, 16, 4, 12
LONGEST_NAME, LONGEST_LABEL = 80, 300


def fx_graph(thing, title: str = "", find: str = "") -> Graph:
    """Return the graph of a `torch.fx.GraphModule` or `torch.fx.Graph`; TypeError for others.

    `find` points out nodes, LookupError if there is none. The note says how many nodes and arrows
    are left out, if any are.
    """
    title, find = printable(word(title, "title"), LONGEST_LABEL), word(find, "find")
    nodes = fx_nodes(thing)
    calls = sum(node.op not in KINDS for node in nodes)
    drawn, arrows, others = _drawn(nodes[:MOST_NODES], nodes[:MOST_NODES])
    notes = [
        f"{others:,} arrows come from nodes that are not here." * bool(others),
        f"The last {len(nodes) - MOST_NODES:,} of {len(nodes):,} nodes are left out; give a part "
        "of the graph to see them." * (len(nodes) > MOST_NODES),
    ]
    words = title or f"An FX graph: {counted(calls, 'call')}"
    graph = Graph(words, drawn, arrows, " ".join(filter(None, notes)))
    return graph.find(find) if find else graph


def last_nodes(graph, title: str) -> Graph:
    """Return the last `MOST_LAST` nodes of a graph that grows, and what they use.

    The note says how many are before them.
    """
    tail = [*islice(reversed(graph.nodes), MOST_LAST)][::-1]
    used = dict.fromkeys(n for node in tail for n in node.all_input_nodes)
    shown = [*(node for node in used if node not in set(tail)), *tail]
    drawn, arrows, _ = _drawn(shown, tail)
    before = len(graph.nodes) - len(shown)
    note = f"The {before:,} nodes before these stand at the steps that made them." * bool(before)
    return Graph(title, drawn, arrows, note)


def fx_nodes(thing) -> list:
    """Return the nodes of a graph, or of a module's graph, in order."""
    import torch.fx

    graph = getattr(thing, "graph", None) if is_a(thing, torch.fx.GraphModule) else thing
    if not is_a(graph, torch.fx.Graph):
        raise TypeError(f"show_fx needs a torch.fx GraphModule or Graph, not {brief(thing)}")
    return list(graph.nodes)


def _drawn(nodes, readers) -> tuple[tuple[Node, ...], tuple[Edge, ...], int]:
    """Return the boxes of nodes, the arrows to `readers`, and how many come from elsewhere."""
    keys, taken = {}, set()
    for node in nodes:
        key = name_of(node)
        while key in taken:  # nothing but fx itself keeps a name from being double
            key += "′"
        taken.add(key)
        keys[node] = key
    ends = [(used, node) for node in readers for used in node.all_input_nodes]
    arrows = tuple(Edge(keys[used], keys[node]) for used, node in ends if used in keys)
    boxes = tuple(drawn_node(node, key) for node, key in keys.items())
    return boxes, arrows, len(ends) - len(arrows)


def drawn_node(node, key: str) -> Node:
    """Return one node as a box."""
    name = name_of(node)
    label = name if node.op in ("placeholder", "output") else f"{name} = {_called(node)}"
    kind, op = KINDS.get(node.op, "op"), node.op if node.op in KINDS else target_name(node.target)
    return Node(key, printable(label, LONGEST_LABEL), kind, _value(node), op=op)


def name_of(node) -> str:
    """Return a node's name."""
    return printable(node.name, LONGEST_NAME)


def target_name(target) -> str:
    """Return the name of what an fx node calls, without its module's place or address."""
    if is_a(target, str):
        return printable(target, LONGEST_NAME)
    if type_name(target) == "OpOverload":
        return printable(str(target), LONGEST_NAME)  # aten.add.Tensor
    return called(target)


def _called(node) -> str:
    target = target_name(node.target)
    if node.op == "get_attr":
        return f"self.{target}"
    words = [_argument(a) for a in node.args[:MOST_ARGUMENTS]]
    named = islice(node.kwargs.items(), MOST_ARGUMENTS)
    words += [f"{printable(name, LONGEST_NAME)}={_argument(a)}" for name, a in named]
    words += ["…"] * (len(node.args) > MOST_ARGUMENTS or len(node.kwargs) > MOST_ARGUMENTS)
    return f"{'.' * (node.op == 'call_method')}{target}({', '.join(words)})"


def _argument(value, depth: int = DEEPEST) -> str:
    import torch.fx

    if is_a(value, torch.fx.Node):
        return name_of(value)
    if is_exactly(value, torch.dtype, torch.device, torch.SymInt):
        return str(value)
    if is_a(value, tuple, list):  # fx keeps lists as a class of its own
        if not depth:
            return "[…]"
        items = [_argument(item, depth - 1) for item in value[:MOST_ARGUMENTS]]
        return f"[{', '.join(items + ['…'] * (len(value) > MOST_ARGUMENTS))}]"
    if type(value) is slice:
        ends = (value.start, value.stop) + (() if value.step is None else (value.step,))
        return ":".join(_argument(part, depth - 1) for part in ends)
    return brief(value)


def _value(node) -> str:
    """Return the dtype and the shape of the tensor that a node stands for, where fx knows it."""
    value = node.meta.get("example_value", node.meta.get("val"))
    return tensors.words(value) if tensors.is_tensor(value) else ""


def grad_fn_graph(tensor, find: str = "") -> Graph:
    """Return what a tensor of torch knows of its past, nearest first; `find` points out nodes.

    TypeError if it is no tensor of torch, ValueError if it has no `grad_fn`, LookupError if nothing
    is found. The note says if there are more than `MOST_NODES` nodes.
    """
    find = word(find, "find")
    if not tensors.is_tensor(tensor):
        raise TypeError(f"show_grad_fn needs a tensor of torch, not {brief(tensor)}")
    start = tensors.field(tensor, "grad_fn")
    if start is None:
        asks = tensors.field(tensor, "requires_grad")
        why = "it is a leaf; show what is made from it" if asks else "no op recorded itself in it"
        raise ValueError(f"this tensor has no grad_fn: {why}")
    keys, nodes, edges, cut = {start: "grad_fn 1"}, [], [], False
    waiting = [start]
    for found in waiting:  # grows while it is walked
        nodes.append(_backward(keys[found], found))
        for after, _ in found.next_functions:
            if after is not None and after not in keys and len(keys) < MOST_NODES:
                keys[after] = f"grad_fn {len(keys) + 1}"
                waiting.append(after)
            if after in keys:
                edges.append(Edge(keys[found], keys[after]))
            cut = cut or (after is not None and after not in keys)
    note = f"Only the nearest {MOST_NODES:,} are here; ask a tensor further back for the rest."
    title = "What the result knows of its past"
    graph = Graph(title, tuple(nodes), tuple(edges), note if cut else "")
    return graph.find(find) if find else graph


def _backward(key: str, found) -> Node:
    name = printable(found.name().rpartition("::")[2], LONGEST_NAME)
    if type_name(found) != "AccumulateGrad":
        return Node(key, name, "backward")
    return Node(key, name, "leaf", tensors.words(found.variable))
