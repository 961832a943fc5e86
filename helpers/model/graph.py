"""Nodes and labelled arrows -> a graph, ready to be drawn or asserted on."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Node:
    """One box. `kind` picks its shape and ink; `group` is what it folds into if there are many."""

    key: str
    label: str
    kind: str = "object"
    detail: str = ""
    group: str = ""


@dataclass(frozen=True)
class Edge:
    """One arrow from `source` to `target` (both node keys); `label` says what it stands for."""

    source: str
    target: str
    label: str = ""


@dataclass(frozen=True)
class Graph:
    """A directed graph. Nodes keep their order; every edge joins two keys that exist."""

    title: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    note: str = ""

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
