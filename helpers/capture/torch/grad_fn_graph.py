"""A tensor -> the graph of its past: its `grad_fn`, what that leads to, down to the leaves.

Torch links the functions of its backward pass by `next_functions`
(torch/csrc/autograd/function.h).
"""

from ...model.graphs import Edge, Graph, Node
from ...model.phrase import clip_text
from ...safety.arguments import real_type_name, require_dict, require_str
from ..text import tensors
from ..text.value import short_repr
from .fx_graph import LONGEST_LABEL

MOST_NODES = 5_000


def build_grad_fn_graph(tensor, find: str = "", names=None) -> Graph:
    """Draw the backward graph that torch keeps for a tensor.

    `find`: highlight the nodes that have these words. `names`: a module, or name -> tensor, for the
    names of leaves.
    """
    find = require_str(find, "find")
    names_by_leaf = _read_names_of_leaves(names)
    first = _require_grad_fn(tensor)

    nodes: list[Node] = []
    edges: list[Edge] = []
    note = ""
    keys_by_function = {first: "grad_fn 1"}
    waiting = [first]
    for function in waiting:  # breadth-first: the list grows while it is walked
        key = keys_by_function[function]
        nodes.append(_build_box(function, key, names_by_leaf))
        for source, _ in function.next_functions:
            if source is None:  # an input that needs no gradient
                continue
            if source not in keys_by_function and len(keys_by_function) < MOST_NODES:
                keys_by_function[source] = f"grad_fn {len(keys_by_function) + 1}"
                waiting.append(source)
            if source in keys_by_function:
                edges.append(Edge(key, keys_by_function[source]))
            else:
                note = f"Only the nearest {MOST_NODES:,} are here."

    graph = Graph("What autograd recorded for the result", tuple(nodes), tuple(edges), note)
    return graph.find(find) if find else graph


def _require_grad_fn(tensor):
    """Return the `grad_fn` of a tensor; TypeError or ValueError if there is none."""
    if not tensors.is_torch_tensor(tensor):
        raise TypeError(f"show_grad_fn needs a tensor of torch, not {short_repr(tensor)}")
    if tensor.grad_fn is not None:
        return tensor.grad_fn

    reason = "no op recorded itself for it"
    if tensor.requires_grad:
        reason = "it is a leaf; pass a tensor computed from it"
    raise ValueError(f"this tensor has no grad_fn: {reason}")


def _build_box(function, key: str, names_by_leaf: dict[int, str]) -> Node:
    """Return one function of the backward pass as a box; `AccumulateGrad` stands for a leaf."""
    op = function.name().rpartition("::")[2]  # without the namespace of C++
    if real_type_name(function) != "AccumulateGrad":
        return Node(key, op, "backward", "", op=op)

    leaf = function.variable
    label = names_by_leaf.get(id(leaf), op)
    detail = f"{op} {tensors.format_dtype_and_sizes(leaf)}".removeprefix(f"{label} ")
    return Node(key, label, "leaf", detail, op=op)


def _read_names_of_leaves(names) -> dict[int, str]:
    """Return the id of each named tensor -> its name, from a module or a mapping; {} for None."""
    if names is None:
        return {}
    if hasattr(type(names), "named_parameters"):
        pairs = names.named_parameters()
    else:
        pairs = require_dict(names, "names", "name -> tensor, or an nn.Module,", MOST_NODES)
    # torch.compile puts a module of its own around the user's, which has this name
    return {
        id(leaf): clip_text(name.replace("_orig_mod.", ""), LONGEST_LABEL) for name, leaf in pairs
    }
