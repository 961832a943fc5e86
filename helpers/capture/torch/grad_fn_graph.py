"""A tensor -> the graph of the backward pass that autograd keeps for it.

The graph begins with the tensor's `grad_fn`, such as MulBackward0. Each such function refers to
further ones by `next_functions` (torch/csrc/autograd/function.h). The last ones are AccumulateGrad,
each of which stands for a leaf: a tensor that no op computed, such as a parameter.
"""

from ...model.graphs import Edge, Graph, Node
from ...model.phrase import clip_text
from ...safety.arguments import real_type_name, require_dict, require_str
from ..text import tensors
from ..text.value import short_repr
from .fx_graph import LONGEST_LABEL

MOST_NODES = 5_000


def build_grad_fn_graph(tensor, find: str = "", names=None) -> Graph:
    """Return the backward graph that torch keeps for a tensor.

    Parameters
    ----------
    tensor : torch.Tensor
        The tensor, which must have a `grad_fn`.
    find : str
        If not "", nodes that contain this text are highlighted.
    names : torch.nn.Module or dict of str to tensor, optional
        Where the names of the leaves come from.
    """
    find = require_str(find, "find")
    names_by_leaf_id = _read_names_of_leaves(names)
    first = _require_grad_fn(tensor)

    nodes: list[Node] = []
    edges: list[Edge] = []
    note = ""
    keys_by_function = {first: "grad_fn 1"}  # autograd function -> key of its box
    waiting = [first]
    for function in waiting:  # a breadth-first search: the list grows during the loop
        key = keys_by_function[function]
        nodes.append(_build_box(function, key, names_by_leaf_id))
        for next_function, _ in function.next_functions:
            if next_function is None:  # for an input that needs no gradient
                continue
            is_new = next_function not in keys_by_function
            if is_new and len(keys_by_function) < MOST_NODES:
                keys_by_function[next_function] = f"grad_fn {len(keys_by_function) + 1}"
                waiting.append(next_function)
            if next_function in keys_by_function:
                edges.append(Edge(key, keys_by_function[next_function]))
            else:  # the limit is reached
                note = f"Only the nearest {MOST_NODES:,} are here."

    graph = Graph("What autograd recorded for the result", tuple(nodes), tuple(edges), note)
    return graph.find(find) if find else graph


def _require_grad_fn(tensor):
    """Return the `grad_fn` of a tensor.

    TypeError if it is no tensor; ValueError, with the reason, if it has no `grad_fn`.
    """
    if not tensors.is_torch_tensor(tensor):
        raise TypeError(f"show_grad_fn needs a tensor of torch, not {short_repr(tensor)}")
    if tensor.grad_fn is not None:
        return tensor.grad_fn

    reason = "no op recorded itself for it"
    if tensor.requires_grad:
        reason = "it is a leaf; pass a tensor computed from it"
    raise ValueError(f"this tensor has no grad_fn: {reason}")


def _build_box(function, key: str, names_by_leaf_id: dict[int, str]) -> Node:
    """Return one function of the backward pass as a box.

    The box of an `AccumulateGrad` has the name of its leaf, if `names_by_leaf_id` has one.
    """
    op = function.name().rpartition("::")[2]  # without the namespace of C++
    if real_type_name(function) != "AccumulateGrad":
        return Node(key, op, "backward", "", op=op)

    leaf = function.variable
    label = names_by_leaf_id.get(id(leaf), op)
    # Without a name, the label is the op already.
    detail = f"{op} {tensors.format_dtype_and_sizes(leaf)}".removeprefix(f"{label} ")
    return Node(key, label, "leaf", detail, op=op)


def _read_names_of_leaves(names) -> dict[int, str]:
    """Return the id of a tensor -> its name, from a module or from a mapping of names to tensors.

    Return {} for None.
    """
    if names is None:
        return {}
    if hasattr(type(names), "named_parameters"):
        pairs = names.named_parameters()
    else:
        pairs = require_dict(names, "names", "name -> tensor, or an nn.Module,", MOST_NODES)
    # In a compiled module, the user's module is an attribute `_orig_mod`. Its name is left out.
    return {
        id(leaf): clip_text(name.replace("_orig_mod.", ""), LONGEST_LABEL) for name, leaf in pairs
    }
