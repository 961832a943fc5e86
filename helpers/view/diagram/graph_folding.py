"""A graph too large for one picture -> a smaller one, with scopes folded to one box each.
A *scope* is a path with slashes, `Node.group`: a node with the group `encoder/block1` is in
the scopes `encoder` and `encoder/block1`.
"""

from collections import Counter

from ...model.graphs import Edge, Graph, Node
from ...model.phrase import format_names

MOST_NODES = 60  # boxes of one picture
MOST_FOUND = 20  # boxes that a search found and that never fold
MOST_KEPT = 30  # boxes that never fold, neighbours of those included
MOST_NAMED = 12  # folded scopes that the note names


def fold_graph(model: Graph, most: int = MOST_NODES) -> Graph:
    """Return the graph with scopes folded to one box each, so that it has at most `most` boxes.

    A small graph is returned as it is. The deepest scopes fold first, and of them the largest. A
    box that a search found never folds. If there are still too many boxes, the last ones are left
    out.
    """
    if len(model.nodes) <= most:
        return model

    unfolded = _find_unfolded(model)
    scopes_by_key = {node.key: _list_scopes(node, unfolded) for node in model.nodes}
    box_counts = Counter(scope for scopes in scopes_by_key.values() for scope in scopes)
    new_keys = _choose_folds(scopes_by_key, box_counts, most)
    nodes = _fold_nodes(model, new_keys, box_counts)

    # False is sorted before True, so a box that a search found is not among those left out.
    found_first = sorted(nodes, key=lambda key: key not in unfolded)
    drawn_keys = set(found_first[:most])
    shown = tuple(node for key, node in nodes.items() if key in drawn_keys)
    return Graph(
        title=model.title,
        nodes=shown,
        edges=_fold_edges(model, new_keys, drawn_keys),
        note=_describe_fold(model, shown, left_out_count=len(nodes) - most),
        found=tuple(key for key in model.found if key in drawn_keys),
        wide=model.wide,
    )


def _find_unfolded(model: Graph) -> set[str]:
    """Return the keys of the boxes that never fold: those that a search found.

    Their neighbours never fold either, unless there are too many of them.
    """
    found = set(model.found[:MOST_FOUND])
    with_neighbours = set()
    for edge in model.edges:
        if edge.source in found or edge.target in found:
            with_neighbours |= {edge.source, edge.target}

    if len(with_neighbours) <= MOST_KEPT:
        return found | with_neighbours
    return found


def _list_scopes(node: Node, unfolded: set[str]) -> list[str]:
    """Return the scopes into which a box may fold, the outermost first.

    A box in the scope `a/b` may fold into `a` and into `a/b`. A box whose key is in `unfolded` may
    fold into none.
    """
    if not node.group or node.key in unfolded:
        return []
    parts = node.group.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]


def _choose_folds(
    scopes_by_key: dict[str, list[str]], box_counts: Counter, most: int
) -> dict[str, str]:
    """Return key of a box -> `group a/b` if it is folded into the scope `a/b`, else its own key.

    `scopes_by_key` has the scopes into which each box may fold. `box_counts` has the number of
    boxes in each scope. Scopes fold until at most `most` boxes are left.
    """
    new_keys = {key: key for key in scopes_by_key}

    def rank_scope(scope: str) -> tuple[int, int, str]:
        """Return a key that sorts the deepest scopes first, and of them the largest."""
        depth = scope.count("/")
        return -depth, -box_counts[scope], scope

    for scope in sorted(box_counts, key=rank_scope):
        if len(set(new_keys.values())) <= most:
            break
        for key, scopes in scopes_by_key.items():
            if scope in scopes:
                new_keys[key] = f"group {scope}"
    return new_keys


def _fold_nodes(model: Graph, new_keys: dict[str, str], box_counts: Counter) -> dict[str, Node]:
    """Return key -> box: the boxes that are not folded, and a box for each folded scope."""
    nodes = {}
    for node in model.nodes:
        key = new_keys[node.key]
        if key == node.key:  # not folded
            nodes.setdefault(key, node)
        else:
            scope = key.removeprefix("group ")
            detail = f"{box_counts[scope]} boxes, folded"
            nodes.setdefault(key, Node(key, scope, "group", detail))
    return nodes


def _fold_edges(model: Graph, new_keys: dict[str, str], drawn_keys: set[str]) -> tuple[Edge, ...]:
    """Return the arrows between the boxes that are drawn, each once.

    `new_keys` is the result of `_choose_folds`. `drawn_keys` are the keys of the boxes that are
    drawn. An arrow between two boxes that are folded into one scope is left out.
    """
    edges = {}  # a dict without values: each edge once, in order
    for edge in model.edges:
        source = new_keys[edge.source]
        target = new_keys[edge.target]
        if source != target and source in drawn_keys and target in drawn_keys:
            edges[Edge(source, target, edge.label)] = None
    return tuple(edges)


def _describe_fold(model: Graph, shown: tuple[Node, ...], left_out_count: int) -> str:
    """Return the note of the folded graph: what is folded, what is left out, the model's note.

    `shown` are the boxes that are drawn.
    """
    sentences = [f"{len(model.nodes)} boxes are too many to read in one picture."]
    groups = sorted(node.label for node in shown if node.kind == "group")
    if groups:
        sentences.append(f"Folded: {format_names(groups, MOST_NAMED)}.")
    if left_out_count > 0:
        sentences.append(f"Left out: the last {left_out_count}.")
    sentences.append("The text below lists it arrow by arrow.")
    sentences.append(model.note)
    return " ".join(sentences).strip()
