"""A graph with the bodies that its nodes call -> each body as a graph inside of its caller."""

from dataclasses import dataclass, replace

from helpers.model.graph import Graph, Node

BODY = "body"  # the op of a node that stands for the beginning of a body


@dataclass(frozen=True)
class Body:
    """One body that `caller` calls, under the name of the attribute that holds it."""

    caller: str
    label: str
    nest: "Nest"


@dataclass(frozen=True)
class Nest:
    """A graph without its bodies, and those bodies in the order in which they are called."""

    graph: Graph
    bodies: tuple[Body, ...] = ()

    def called_by(self, key: str) -> tuple[Body, ...]:
        """Return the bodies that the node with this key calls."""
        return tuple(body for body in self.bodies if body.caller == key)


def nested(graph: Graph) -> Nest:
    """Return the graph with each body taken out of it, where each has one caller, on its level.

    Where one has more callers, or an arrow leads into a body from elsewhere, all stays flat.
    """
    entries = {node.group: node for node in graph.nodes if node.op == BODY and node.group}
    homes = {node.key: _home(node, entries) for node in graph.nodes}
    keys = {entry.key for entry in entries.values()}
    callers = {key: graph.sources(key) for key in keys}
    if not all(len(c) == 1 and homes[c[0]] == homes[key] for key, c in callers.items()):
        return Nest(graph)
    kept = tuple(edge for edge in graph.edges if not keys & {edge.source, edge.target})
    if any(homes[edge.source] != homes[edge.target] for edge in kept):
        return Nest(graph)
    return _nest(replace(graph, edges=kept), entries, homes, callers, "")


def _home(node: Node, entries: dict[str, Node]) -> str:
    """Return the innermost body that a node stands in; the beginning of a body stands outside."""
    scope = node.group
    while scope:
        if scope in entries and entries[scope].key != node.key:
            return scope
        scope = scope.rpartition("/")[0]
    return ""


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
