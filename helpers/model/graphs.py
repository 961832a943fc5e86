"""Records of graphs: nodes and arrows, bodies inside of a graph, steps, the difference of two."""

from collections import namedtuple
from dataclasses import dataclass, replace

from .phrase import clipped, find_named
from .tables import Listing

# One box. `kind`: its shape and ink; `group`: a path, to fold into; `op`: in full;
# `attributes`: (name, words) of each.
_NODE = "key label kind detail group op attributes"
Node = namedtuple("Node", _NODE, defaults=("object", "", "", "", ()))
# One arrow from `source` to `target` (both node keys); `label` says what it means.
Edge = namedtuple("Edge", "source target label", defaults=("",))


@dataclass(frozen=True)
class Graph:
    """A directed graph; `found`: the keys that a search points out; `wide`: with long arrows."""

    title: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    note: str = ""
    found: tuple[str, ...] = ()
    wide: bool = False

    def __post_init__(self):
        keys = {node.key for node in self.nodes}
        if len(keys) != len(self.nodes):
            raise ValueError("two nodes share a key; each node needs its own key")
        if missing := {end for e in self.edges for end in (e.source, e.target)} - keys:
            raise ValueError(f"an edge names {missing.pop()!r}, which is not a node of this graph")

    def node(self, key: str) -> Node:
        """Return the node with this key; KeyError names the key when there is none."""
        return find_named(self.nodes, key, "key")

    def targets(self, key: str) -> tuple[str, ...]:
        """Return the keys that arrows from `key` lead to, in order."""
        return tuple(edge.target for edge in self.edges if edge.source == key)

    def sources(self, key: str) -> tuple[str, ...]:
        """Return the keys that arrows to `key` come from, in order."""
        return tuple(edge.source for edge in self.edges if edge.target == key)

    def find(self, words: str) -> "Graph":
        """Return this graph; `found`: nodes with all `words` in name or op; LookupError: none."""
        asked = words.casefold().split()
        parts = {n.key: " ".join((n.key, n.label, n.op)).casefold() for n in self.nodes}
        found = [key for key, names in parts.items() if all(word in names for word in asked)]
        if not asked or not found:
            asked = repr(clipped(words, 60))
            raise LookupError(f"none of the {len(self.nodes)} nodes has {asked} in its name or op")
        return replace(self, found=tuple(found))


BODY = "body"  # the op of a node that marks the start of a body
# One body, a `nest`, that `caller` calls, under the name of the attribute that holds it.
Body = namedtuple("Body", "caller label nest")


class Nest(namedtuple("Nest", "graph bodies", defaults=((),))):
    """A graph without its bodies, and those bodies in the order in which they are called."""

    def called_by(self, key: str) -> tuple[Body, ...]:
        """Return the bodies that the node with this key calls."""
        return tuple(body for body in self.bodies if body.caller == key)


def nested(graph: Graph) -> Nest:
    """Return the graph with each body taken out of it, if each has one caller, on its level."""
    entries = {node.group: node for node in graph.nodes if node.op == BODY and node.group}
    homes = {}  # node -> the innermost body that contains it; a body's beginning is outside
    for node in graph.nodes:
        scope = node.group
        while scope and (scope not in entries or entries[scope].key == node.key):
            scope = scope.rpartition("/")[0]
        homes[node.key] = scope
    keys = {entry.key for entry in entries.values()}
    callers = {key: graph.sources(key) for key in keys}
    if not all(len(c) == 1 and homes[c[0]] == homes[key] for key, c in callers.items()):
        return Nest(graph)
    kept = tuple(edge for edge in graph.edges if not keys & {edge.source, edge.target})
    if any(homes[edge.source] != homes[edge.target] for edge in kept):
        return Nest(graph)
    return _nest(replace(graph, edges=kept), entries, homes, callers, "")


def _nest(graph: Graph, entries, homes, callers, scope: str) -> Nest:
    here = {key for key, home in homes.items() if home == scope}
    inside = [(group, entry) for group, entry in entries.items() if entry.key in here]
    here -= {entry.key for _, entry in inside}
    own = replace(
        graph,
        nodes=tuple(node for node in graph.nodes if node.key in here),
        edges=tuple(edge for edge in graph.edges if edge.source in here),
        found=tuple(key for key in graph.found if key in here),
    )
    bodies = (
        Body(callers[entry.key][0], entry.label, _nest(graph, entries, homes, callers, group))
        for group, entry in inside
    )
    return Nest(own, tuple(bodies))


# The nodes whose inputs are all there after the step before: as many as `width`.
ParallelStep = namedtuple("ParallelStep", "step width nodes")
# One node of a step. `works`: it is an operation, no input and no constant.
LaneNode = namedtuple("LaneNode", "key works")


@dataclass(frozen=True)
class Steps(Listing):
    """What can run side by side: a longest `path`, most ops at once, first nodes of each step."""

    path: tuple[str, ...] = ()
    widest: int = 0
    lanes: tuple[tuple[LaneNode, ...], ...] = ()


MEANINGS = {
    "folded": "computed from constants only, and a constant now",
    "removed": "no path from it to a result",
    "merged": "twins: the same op, attributes and inputs; one is left and serves both",
    "cancelled": "part of a removed chain of one op; its reader now reads the chain's input",
    "bypassed": "gone; its reader now reads its input",
    "added": "only in the second graph",
    "changed": "different; these two graphs do not show why",
    "kept": "the same in both",
}
# A `word` of `MEANINGS`, the keys `before` in the first graph and `after` in the second.
Finding = namedtuple("Finding", "word before after how", defaults=("",))


@dataclass(frozen=True)
class GraphDiff:
    """Two graphs and the findings: every key of `before` is in exactly one of them."""

    title: str
    before: Graph
    after: Graph
    findings: tuple[Finding, ...]
    note: str = ""

    def found(self, word: str) -> tuple[Finding, ...]:
        """Return the findings of this word, in order."""
        return tuple(finding for finding in self.findings if finding.word == word)

    def word(self, key: str) -> str:
        """Return what happened to this node of the first graph; KeyError if it has no such node."""
        return {key: finding.word for finding in self.findings for key in finding.before}[key]

    def count(self, word: str) -> int:
        """Return how many nodes have this word; of the second graph only where added."""
        return sum(len(f.after if word == "added" else f.before) for f in self.found(word))
