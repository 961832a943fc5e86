"""Nodes and labelled arrows -> a graph, ready to be drawn or asserted on."""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Node:
    """One box. `kind` picks its shape and ink, `group` is what it folds into when there are many.

    A group may be a path (`model/dense`): then the innermost part folds first. `op` and
    `attributes` (name, value) say in full what an operation is, for those who compare two graphs.
    """

    key: str
    label: str
    kind: str = "object"
    detail: str = ""
    group: str = ""
    op: str = ""
    attributes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Edge:
    """One arrow from `source` to `target` (both node keys); `label` says what it stands for."""

    source: str
    target: str
    label: str = ""


@dataclass(frozen=True)
class Graph:
    """A directed graph. Nodes keep their order; every edge joins two keys that exist.

    `found` holds the keys that a search points out. `wide`: its arrows have words to be read, and
    should be longer than those.
    """

    title: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    note: str = ""
    found: tuple[str, ...] = ()
    wide: bool = False

    def __post_init__(self):
        keys = {node.key for node in self.nodes}
        if len(keys) != len(self.nodes):
            raise ValueError("two nodes share a key; give each node a key of its own")
        for edge in self.edges:
            for end in (edge.source, edge.target):
                if end not in keys:
                    raise ValueError(f"an edge names {end!r}, which is no node of this graph")

    def node(self, key: str) -> Node:
        """Return the node with this key; KeyError names the key when there is none."""
        for node in self.nodes:
            if node.key == key:
                return node
        raise KeyError(key)

    def targets(self, key: str) -> tuple[str, ...]:
        """Return the keys that arrows from `key` lead to, in order."""
        return tuple(edge.target for edge in self.edges if edge.source == key)

    def sources(self, key: str) -> tuple[str, ...]:
        """Return the keys that arrows to `key` come from, in order."""
        return tuple(edge.source for edge in self.edges if edge.target == key)

    def find(self, words: str) -> "Graph":
        """Return this graph with the nodes pointed out that have `words` in their name or op.

        Upper and lower case count as the same. LookupError if there is no such node.
        """
        asked = words.casefold()
        found = tuple(
            node.key
            for node in self.nodes
            if any(asked in part.casefold() for part in (node.key, node.label, node.op))
        )
        if not asked or not found:
            asked = repr(words if len(words) <= 60 else f"{words[:59]}…")
            raise LookupError(f"none of the {len(self.nodes)} nodes has {asked} in its name or op")
        return replace(self, found=found)
