"""Turn one flat graph into nested graphs, where some nodes call functions with their own graphs.

Such a function is called a *body*, for example the branch of a conditional. In a flat graph, the
nodes of a body are among all other nodes. The *path* of a body is a text such as `cond/then`. All
nodes of the body have this path as their `group`, or a longer path inside it. One of them is the
*entry*: a node with the op `BODY`, whose `group` is the path. An arrow leads to the entry from the
*caller*, which is the node that calls the body.
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
    """A graph from which the bodies are taken out, and the bodies.

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
    caller in the scope that contains the body, or an arrow leads from one body into another.
    """
    # Path of a body -> the entry of the body.
    entries = {node.group: node for node in graph.nodes if node.op == BODY and node.group}
    # Key of a node -> the path of the innermost body that contains the node, "" for none.
    scopes = _find_scopes(graph, entries)

    entry_keys = {entry.key for entry in entries.values()}
    callers = {}  # key of an entry -> key of the node that calls the body
    for key in entry_keys:
        sources = graph.sources(key)
        # An entry is in the scope that contains its body, and so must the caller be.
        if len(sources) != 1 or scopes[sources[0]] != scopes[key]:
            return Nest(graph)
        callers[key] = sources[0]

    # The arrows from callers to entries are now in `callers`.
    inner_edges = [
        edge
        for edge in graph.edges
        if edge.source not in entry_keys and edge.target not in entry_keys
    ]
    if any(scopes[edge.source] != scopes[edge.target] for edge in inner_edges):
        return Nest(graph)
    return _build_nest(replace(graph, edges=tuple(inner_edges)), entries, scopes, callers, scope="")


def _find_scopes(graph: Graph, entries: dict[str, Node]) -> dict[str, str]:
    """Return key of a node -> path of the innermost body that contains the node, "" for none.

    The entry of a body counts as outside of the body. `entries` maps the path of a body to its
    entry.
    """
    scopes = {}
    for node in graph.nodes:
        path = node.group
        # Go outwards until the path is that of a body, and the node is not the entry of that body.
        while path and (path not in entries or entries[path].key == node.key):
            path = path.rpartition("/")[0]
        scopes[node.key] = path
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
        Path of a body -> the entry of the body.
    scopes : dict
        Key of a node -> path of the innermost body that contains the node.
    callers : dict
        Key of an entry -> key of the node that calls the body.
    scope : str
        The path of the body to return, "" for the graph itself.
    """
    # The bodies that are directly in this scope. Their entries are not shown as nodes.
    inner_entries = {path: entry for path, entry in entries.items() if scopes[entry.key] == scope}
    own_keys = {key for key, scope_of_node in scopes.items() if scope_of_node == scope}
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
