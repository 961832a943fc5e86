"""A torch.fx graph, or the past of a tensor -> a graph of its nodes.

Of fx (torch/fx/graph.py): inputs, calls in the order they run, one result, under fx's own names. Of
a tensor: its `grad_fn`, its `next_functions`, and theirs (torch/csrc/autograd/function.h).
"""

from contextlib import suppress
from itertools import islice

from ...model.graphs import Edge, Graph, Node
from ...model.phrase import clipped, counted
from ...safety.arguments import real_isinstance, require_str, table
from ..cpython.objects import called
from ..cpython.unwrapping import refuse_other_framework
from ..text import tensors
from ..text.value import short_repr, type_name

KINDS = {"placeholder": "input", "get_attr": "input", "output": "output"}
MOST_NODES, MOST_ARGUMENTS, MOST_LAST = 5_000, 16, 12
LONGEST_LABEL = 300


def fx_graph(thing, title: str = "", find: str = "") -> Graph:
    """Draw an FX graph."""
    refuse_other_framework(thing, (), "show_fx", "PyTorch")
    import torch.fx

    title, find = require_str(title, "title"), require_str(find, "find")
    graph = thing.graph if real_isinstance(thing, torch.fx.GraphModule) else thing
    if not real_isinstance(graph, torch.fx.Graph):
        raise TypeError(f"show_fx needs a torch.fx GraphModule or Graph, not {short_repr(thing)}")
    nodes = list(graph.nodes)
    calls = sum(node.op not in KINDS for node in nodes)
    words = clipped(title, LONGEST_LABEL) or f"An FX graph: {counted(calls, 'call')}"
    graph = Graph(words, *_draw(nodes, nodes))
    return graph.find(find) if find else graph


def last_nodes(graph, title: str) -> Graph:
    """Return the last nodes of a graph that grows, and what they use; the note counts others."""
    tail = [*islice(reversed(graph.nodes), MOST_LAST)][::-1]
    used = dict.fromkeys(n for node in tail for n in node.all_input_nodes)
    shown = [*(node for node in used if node not in tail), *tail]
    before = len(graph.nodes) - len(shown)
    note = f"Earlier steps show the {before:,} nodes before these." * bool(before)
    return Graph(title, *_draw(shown, tail), note)


def _draw(nodes, readers) -> tuple[tuple[Node, ...], tuple[Edge, ...]]:
    """Return the boxes of nodes, and the arrows among them to `readers`."""
    here = set(nodes)
    ends = [(used, node) for node in readers for used in node.all_input_nodes if used in here]
    arrows = tuple(Edge(used.name, node.name) for used, node in ends)
    return tuple(drawn_node(node, node.name) for node in nodes), arrows


def drawn_node(node, key: str) -> Node:
    """Return one node as a box."""
    value = node.meta.get("example_value", node.meta.get("val"))
    plain = node.op in ("placeholder", "output")
    label = node.name if plain else f"{node.name} = {_call_words(node)}"
    words = tensors.words(value) if tensors.is_tensor(value) else ""
    if node.op == "call_module":
        with suppress(AttributeError):  # a graph without its module
            kind = type_name(node.graph.owning_module.get_submodule(node.target))
            words = f"{kind} {words}".rstrip()
    kind, op = KINDS.get(node.op, "op"), node.op if node.op in KINDS else target_name(node.target)
    return Node(key, clipped(label, LONGEST_LABEL), kind, words, op=op)


def target_name(target) -> str:
    """Return the name of what an fx node calls, without its module's place or address."""
    is_name = isinstance(target, str) or type_name(target) == "OpOverload"  # aten.add.Tensor
    return str(target) if is_name else called(target)


def _call_words(node) -> str:
    target = target_name(node.target)
    if node.op == "get_attr":
        return f"self.{target}"
    words = [_argument_words(a) for a in node.args]
    words += [f"{name}={_argument_words(a)}" for name, a in node.kwargs.items()]
    before = {"call_method": ".", "call_module": "self."}.get(node.op, "")
    return f"{before}{target}({', '.join(words)})"


def _argument_words(value) -> str:
    import torch.fx

    if isinstance(value, (torch.fx.Node, torch.dtype, torch.device, torch.SymInt)):
        return str(value)
    if isinstance(value, (tuple, list)):
        items = [_argument_words(item) for item in value[:MOST_ARGUMENTS]]
        return f"[{', '.join(items + ['…'] * (len(value) > len(items)))}]"
    if isinstance(value, slice):
        ends = [value.start, value.stop] + [value.step] * (value.step is not None)
        return ":".join(map(_argument_words, ends))
    return short_repr(value)


def _names_of_leaves(names) -> dict[int, str]:
    if names is None or hasattr(type(names), "named_parameters"):
        pairs = names.named_parameters() if names is not None else ()
    else:
        pairs = table(names, "names", "name -> tensor, or an nn.Module,", MOST_NODES)
    return {id(leaf): clipped(n.replace("_orig_mod.", ""), LONGEST_LABEL) for n, leaf in pairs}


def grad_fn_graph(tensor, find: str = "", names=None) -> Graph:
    """Draw the backward graph that torch keeps for a tensor."""
    find, named = require_str(find, "find"), _names_of_leaves(names)
    if not tensors.is_tensor(tensor):
        raise TypeError(f"show_grad_fn needs a tensor of torch, not {short_repr(tensor)}")
    start = tensor.grad_fn
    if start is None:
        leaf = "it is a leaf; pass a tensor computed from it"
        why = leaf if tensor.requires_grad else "no op recorded itself for it"
        raise ValueError(f"this tensor has no grad_fn: {why}")
    keys, nodes, edges, note, waiting = {start: "grad_fn 1"}, [], [], "", [start]
    for found in waiting:  # grows while it is walked
        label = op = found.name().rpartition("::")[2]
        kind, detail = "backward", ""
        if type_name(found) == "AccumulateGrad":
            kind, label = "leaf", named.get(id(found.variable), op)
            detail = f"{op} {tensors.words(found.variable)}".removeprefix(f"{label} ")
        nodes.append(Node(keys[found], label, kind, detail, op=op))
        for after in (after for after, _ in found.next_functions if after is not None):
            if after not in keys and len(keys) < MOST_NODES:
                keys[after] = f"grad_fn {len(keys) + 1}"
                waiting.append(after)
            if after in keys:
                edges.append(Edge(keys[found], keys[after]))
            else:
                note = f"Only the nearest {MOST_NODES:,} are here."
    graph = Graph("What autograd recorded for the result", tuple(nodes), tuple(edges), note)
    return graph.find(find) if find else graph
