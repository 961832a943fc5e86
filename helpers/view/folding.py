"""A graph too large for one picture -> a smaller graph: scopes folded to one box each.

A group is a path of scopes, `model/dense/activation`. The deepest scopes fold first, and of equally
deep ones the largest, until the picture is small enough. What a search found stays out of the fold,
with its neighbours.
"""

from collections import Counter
from dataclasses import replace

from helpers.model.graph import Edge, Graph, Node

MOST_NODES = 60
MOST_FOUND, MOST_KEPT = 20, 30  # found boxes, and those with their neighbours, that never fold
MOST_SAID = 12


def fold(model: Graph, most: int = MOST_NODES) -> Graph:
    """Return the graph with scopes folded to one box each, until `most` boxes or fewer.

    What was folded is said in the note; what has no group and still is too much is left out last.
    """
    if len(model.nodes) <= most:
        return model
    kept = _kept(model)
    home = {n.key: "" if n.key in kept else n.group for n in model.nodes}
    folded = _scopes_to_fold(Counter(home.values()), len(model.nodes), most)
    return _drawn(model, home, folded, kept, most)


def _kept(model: Graph) -> dict[str, None]:
    """Return the first found keys, then their neighbours, as an ordered set."""
    kept = dict.fromkeys(model.found[:MOST_FOUND])
    near = [e.source for e in model.edges if e.target in kept]
    near += [e.target for e in model.edges if e.source in kept]
    for key in near:
        if len(kept) < MOST_KEPT:
            kept.setdefault(key)
    return kept


def _scopes_to_fold(sizes: Counter, left: int, most: int) -> dict[str, int]:
    """Return the scopes to fold, each with the number of boxes inside, all depths counted."""
    boxes, inside = Counter(), Counter()
    for scope, size in sizes.items():
        boxes[scope] += size
        for outer in (scope, *_outer(scope)) if scope else ():
            inside[outer] += size
    folded = {}
    for depth in sorted({scope.count("/") for scope in inside}, reverse=True):
        level = [scope for scope in inside if scope.count("/") == depth]
        for scope in sorted(level, key=lambda s: (-boxes[s], s)):
            if left <= most:
                return folded
            parent = scope.rpartition("/")[0]
            gain = max(boxes[scope] - 1, 0)
            if gain:
                folded[scope], left = inside[scope], left - gain
                boxes[scope] = 1
            if parent:
                boxes[parent] += boxes[scope]
    return folded


def _outer(scope: str) -> list[str]:
    parts = scope.split("/")
    return ["/".join(parts[:n]) for n in range(len(parts) - 1, 0, -1)]


def _drawn(model: Graph, home, folded, kept, most: int) -> Graph:
    box_of = {scope: _outermost(scope, folded) for scope in set(home.values())}
    names = {
        n.key: f"group {box_of[home[n.key]]}" if box_of[home[n.key]] else n.key for n in model.nodes
    }
    nodes = {}
    for node in model.nodes:
        scope = box_of[home[node.key]]
        group = Node(names[node.key], scope, "group", f"{folded.get(scope)} boxes, folded")
        nodes.setdefault(names[node.key], group if scope else node)
    order = [*(key for key in nodes if key in kept), *(key for key in nodes if key not in kept)]
    chosen = set(order[:most])
    shown = tuple(node for key, node in nodes.items() if key in chosen)
    ends = {(names[e.source], names[e.target], e.label): None for e in model.edges}
    edges = [Edge(*end) for end in ends if chosen.issuperset(end[:2]) and end[0] != end[1]]
    drawn = {group for group in box_of.values() if group and f"group {group}" in chosen}
    said = _said(model, sorted(drawn), len(nodes) - most, most)
    found = tuple(key for key in model.found if key in chosen)
    return replace(model, nodes=shown, edges=tuple(edges), note=said, found=found)


def _outermost(scope: str, folded) -> str:
    """Return the outermost folded scope that holds `scope`; nothing if it is in none."""
    inside = [outer for outer in (scope, *_outer(scope)) if outer in folded]
    return inside[-1] if inside else ""


def _said(model: Graph, folded: list[str], missing: int, most: int) -> str:
    said = [f"{len(model.nodes)} boxes are too many to read in one picture."]
    if folded:
        rest = f" and {len(folded) - MOST_SAID} more" if len(folded) > MOST_SAID else ""
        said.append(f"Folded: {', '.join(folded[:MOST_SAID])}{rest}.")
    if missing > 0:
        said.append(f"Left out: the last {missing}.")
    if len(model.found) > MOST_FOUND:
        said.append(f"The first {MOST_FOUND} of {len(model.found)} found are kept out of the fold.")
    return " ".join([*said, "The text below goes through it arrow by arrow.", model.note]).strip()
