"""A tensor of torch -> what it knows of its past: `grad_fn`, its `next_functions`, and theirs.

The nodes are those of torch/csrc/autograd/function.h; a leaf has an AccumulateGrad.
"""

from helpers.capture.cpython.objects import LONGEST_NAME
from helpers.capture.text import tensors
from helpers.capture.text.value import brief, type_name
from helpers.model.graph import Edge, Graph, Node
from helpers.safety.arguments import printable, word

MOST_NODES = 5_000


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
        raise ValueError("this tensor has no grad_fn: none of its inputs asked for a gradient")
    keys, nodes, edges, cut = {start: "grad_fn 1"}, [], [], 0
    waiting = [start]
    for found in waiting:  # grows while it is walked
        nodes.append(_node(keys[found], found))
        for after, _ in found.next_functions:
            if after is None:
                continue
            if after not in keys:
                if len(keys) == MOST_NODES:
                    cut += 1
                    continue
                keys[after] = f"grad_fn {len(keys) + 1}"
                waiting.append(after)
            edges.append(Edge(keys[found], keys[after]))
    note = f"Only the nearest {MOST_NODES:,} are here; ask a tensor further back for the rest."
    title = "What the result knows of its past"
    graph = Graph(title, tuple(nodes), tuple(edges), note if cut else "")
    return graph.find(find) if find else graph


def _node(key: str, found) -> Node:
    name = printable(found.name().rpartition("::")[2], LONGEST_NAME)
    if type_name(found) != "AccumulateGrad":
        return Node(key, name, "backward")
    return Node(key, name, "leaf", tensors.words(found.variable))
