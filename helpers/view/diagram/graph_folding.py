"""A graph too large for one picture -> a smaller graph: scopes folded to one box each.

A group is a path of scopes, `model/dense/activation`. The deepest scopes fold first, and of equally
deep ones the largest, until the picture is small enough. A scope of very many scopes folds to runs
of neighbours instead of one box. What a search found stays out, with its own neighbours.
"""

from collections import Counter
from dataclasses import replace

from helpers.model.graph import Edge, Graph, Node
from helpers.model.phrase import listed

MOST_NODES = 60
MOST_FOUND, MOST_KEPT = 20, 30  # found boxes, and those with their neighbours, that never fold
FEWEST_RUNS, MOST_RUNS = 8, 16  # with room for fewer, a scope folds to one box; more are too wide
MOST_SAID = 12


def fold(model: Graph, most: int = MOST_NODES) -> Graph:
    """Return the graph with scopes folded to one box each, until `most` boxes or fewer.

    What was folded is said in the note; what has no group and still is too much is left out last.
    """
    if len(model.nodes) <= most:
        return model
    kept = _kept(model)
    home = {n.key: "" if n.key in kept else n.group for n in model.nodes}
    return _drawn(model, home, _Folds(Counter(home.values()), most), kept, most)


def _kept(model: Graph) -> dict[str, None]:
    """Return the first found keys, then their neighbours, as an ordered set."""
    kept = dict.fromkeys(model.found[:MOST_FOUND])
    near = [e.source for e in model.edges if e.target in kept]
    near += [e.target for e in model.edges if e.source in kept]
    for key in near:
        if len(kept) < MOST_KEPT:
            kept.setdefault(key)
    return kept


class _Folds:
    """Which scopes fold. `inside`: boxes in each scope, all depths counted."""

    def __init__(self, sizes: Counter, most: int):
        self.inside, self._boxes = Counter(), Counter(sizes)  # boxes: drawn at present, per scope
        for scope, size in sizes.items():
            for outer in (scope, *_outer(scope)) if scope else ():
                self.inside[outer] += size
        self._folded, self._runs = set(), {}
        self._left, self._most = sizes.total(), most
        self._fold()

    def box(self, scope: str) -> str:
        """Return the box that this scope is drawn as; nothing if its nodes are drawn one by one."""
        folded = ""
        for outer in (scope, *_outer(scope)):
            if outer in self._runs:
                return self._runs[outer]
            folded = outer if outer in self._folded else folded
        return folded

    def _fold(self) -> None:
        for depth in sorted({scope.count("/") for scope in self.inside}, reverse=True):
            level = [scope for scope in self.inside if scope.count("/") == depth]
            for scope in sorted(level, key=lambda s: (-self._boxes[s], s)):
                if self._left <= self._most or self._fold_to_runs(scope):
                    return
                self._fold_to_one(scope)

    def _fold_to_one(self, scope: str) -> None:
        if self._boxes[scope] > 1:
            self._folded.add(scope)
            self._left -= self._boxes[scope] - 1
            self._boxes[scope] = 1
        self._boxes[scope.rpartition("/")[0]] += self._boxes[scope] if "/" in scope else 0

    def _fold_to_runs(self, scope: str) -> bool:
        """Fold the scopes in `scope` to as many runs as there is room for; False if too few."""
        if self._left - self._boxes[scope] + FEWEST_RUNS > self._most:
            return False
        within = [s for s in self.inside if s.rpartition("/")[0] == scope]
        room = min(self._most - (self._left - len(within)), MOST_RUNS)
        if not FEWEST_RUNS <= room < len(within):
            return False
        length = -(-len(within) // room)
        for start in range(0, len(within), length):
            run = within[start : start + length]
            name = f"{run[0]} … {run[-1].rpartition('/')[2]}" if len(run) > 1 else run[0]
            self._runs |= dict.fromkeys(run, name)
            self.inside[name] = sum(self.inside[s] for s in run)
        return True


def _outer(scope: str) -> list[str]:
    parts = scope.split("/")
    return ["/".join(parts[:n]) for n in range(len(parts) - 1, 0, -1)]


def _drawn(model: Graph, home, folds: _Folds, kept, most: int) -> Graph:
    box_of = {scope: folds.box(scope) for scope in set(home.values())}
    names = {key: f"group {box_of[scope]}" if box_of[scope] else key for key, scope in home.items()}
    nodes = {}
    for node in model.nodes:
        box = box_of[home[node.key]]
        group = Node(names[node.key], box, "group", f"{folds.inside[box]} boxes, folded")
        nodes.setdefault(names[node.key], group if box else node)
    chosen = set(sorted(nodes, key=lambda key: key not in kept)[:most])
    shown = tuple(node for key, node in nodes.items() if key in chosen)
    ends = {(names[e.source], names[e.target], e.label): None for e in model.edges}
    edges = [Edge(*end) for end in ends if chosen.issuperset(end[:2]) and end[0] != end[1]]
    said = [f"{len(model.nodes)} boxes are too many to read in one picture."]
    if folded := sorted(node.label for node in shown if node.kind == "group"):
        said.append(f"Folded: {listed(folded, MOST_SAID)}.")
    if len(nodes) > most:
        said.append(f"Left out: the last {len(nodes) - most}.")
    if len(model.found) > MOST_FOUND:
        said.append(f"The first {MOST_FOUND} of {len(model.found)} found are kept out of the fold.")
    said += ["The text below goes through it arrow by arrow.", model.note]
    found = tuple(key for key in model.found if key in chosen)
    note = " ".join(said).strip()
    return replace(model, nodes=shown, edges=tuple(edges), note=note, found=found)
