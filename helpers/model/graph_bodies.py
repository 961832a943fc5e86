"""A graph of which some nodes call bodies: functions with a graph of their own.

In a flat graph, a body has an entry: a node of the op `BODY` whose `group` is the path of the body.
All nodes of the body have this group, or one inside it. An arrow leads from the node that calls the
body, its caller, to the entry.
"""

from dataclasses import dataclass, replace

from .graphs import Graph, Node

BODY = "body"  # the op of a node that marks the start of a body


@dataclass(frozen=True, slots=True)
class Body:
    """One body of a graph.

    Attributes
    ----------
    caller : str
        The key of the node that calls the body.
    label : str
        The attribute of the caller that names the body, such as `then_branch`.
    nest : Nest
        The graph of the body, with the bodies inside it.
    """

    caller: str
    label: str
    nest: "Nest"


@dataclass(frozen=True, slots=True)
class Nest:
    """A graph without its bodies, and the bodies.

    Attributes
    ----------
    graph : Graph
        The graph, without the nodes of its bodies.
    bodies : tuple of Body
        The bodies, in the order in which they are called.
    """

    graph: Graph
    bodies: tuple[Body, ...] = ()

    def called_by(self, key: str) -> tuple[Body, ...]:
        """Return the bodies that the node with this key calls."""
        return tuple(body for body in self.bodies if body.caller == key)


def nest_bodies(graph: Graph) -> Nest:
    """Return a flat graph as a `Nest`, with each body taken out of it.

    The graph stays whole, without any `Body`, in two cases: some body does not have exactly one
    caller on its own level, or an arrow leads from one body into another.
    """
    # By the path of a body: its entry.
    entries = {node.group: node for node in graph.nodes if node.op == BODY and node.group}
    # By the key of a node: the path of the innermost body that contains it.
    scopes = _find_scopes(graph, entries)

    entry_keys = {entry.key for entry in entries.values()}
    callers = {}  # by the key of the body's entry
    for key in entry_keys:
        sources = graph.sources(key)
        if len(sources) != 1 or scopes[sources[0]] != scopes[key]:
            return Nest(graph)
        callers[key] = sources[0]

    inner_edges = [
        edge
        for edge in graph.edges
        if edge.source not in entry_keys and edge.target not in entry_keys
    ]
    if any(scopes[edge.source] != scopes[edge.target] for edge in inner_edges):
        return Nest(graph)
    return _build_nest(replace(graph, edges=tuple(inner_edges)), entries, scopes, callers, scope="")


def _find_scopes(graph: Graph, entries: dict[str, Node]) -> dict[str, str]:
    """Return for each key the path of the innermost body that contains the node, "" for none.

    The node that marks the start of a body is outside this body. `entries` are those nodes, by the
    path of the body.
    """
    scopes = {}
    for node in graph.nodes:
        scope = node.group
        while scope and (scope not in entries or entries[scope].key == node.key):
            scope = scope.rpartition("/")[0]
        scopes[node.key] = scope
    return scopes


def _build_nest(
    graph: Graph,
    entries: dict[str, Node],
    scopes: dict[str, str],
    callers: dict[str, str],
    scope: str,
) -> Nest:
    """Return the part of a graph that is in one scope, with the bodies that it calls.

    Parameters
    ----------
    graph : Graph
        The whole graph, without the edges that lead to or from a body's entry.
    entries : dict
        The node that marks the start of a body, by the path of the body.
    scopes : dict
        The path of the innermost body that contains a node, by the node's key.
    callers : dict
        The key of the node that calls a body, by the key of the body's entry.
    scope : str
        The path of the body to return, "" for the graph itself.
    """
    inner_entries = {path: entry for path, entry in entries.items() if scopes[entry.key] == scope}
    own_keys = {key for key, its_scope in scopes.items() if its_scope == scope}
    own_keys -= {entry.key for entry in inner_entries.values()}

    own_graph = replace(
        graph,
        nodes=tuple(node for node in graph.nodes if node.key in own_keys),
        edges=tuple(edge for edge in graph.edges if edge.source in own_keys),
        found=tuple(key for key in graph.found if key in own_keys),
    )
    bodies = []
    for path, entry in inner_entries.items():
        nest = _build_nest(graph, entries, scopes, callers, path)
        bodies.append(Body(callers[entry.key], entry.label, nest))
    return Nest(own_graph, tuple(bodies))
