"""Records of graphs: nodes, the arrows between them, and several graphs joined into one."""

from dataclasses import dataclass, replace

from .phrase import clip_text, find_named

# The `kind` of a node that `join_graphs` adds as a box with the name of one of the joined graphs.
JOINED = "group"


@dataclass(frozen=True, slots=True)
class Node:
    """One box of a graph.

    Attributes
    ----------
    key : str
        The name by which edges refer to the node; no two nodes of a graph have the same key.
    label : str
        The text in the box.
    kind : str
        What the node is. A view chooses the shape and the colour of the box by it.
    detail : str
        A second, smaller text.
    group : str
        The scopes that contain the node, as a path with slashes. A view may fold a scope into one
        box.
    op : str
        The name of the op in full.
    attributes : tuple of (str, str)
        Name and value of each attribute of the op.
    """

    key: str
    label: str
    kind: str = "object"
    detail: str = ""
    group: str = ""
    op: str = ""
    attributes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Edge:
    """One arrow of a graph.

    Attributes
    ----------
    source : str
        The key of the node at which the arrow begins.
    target : str
        The key of the node at which the arrow ends.
    label : str
        What the arrow means, "" for nothing in particular.
    """

    source: str
    target: str
    label: str = ""


@dataclass(frozen=True)
class Graph:
    """A directed graph. ValueError if two nodes have one key, or an edge has no node at an end.

    Attributes
    ----------
    title : str
        The title of the exhibit.
    nodes : tuple of Node
        The nodes, in the order in which a text lists them.
    edges : tuple of Edge
        The arrows.
    note : str
        What else a reader must know.
    found : tuple of str
        The keys of the nodes that a search points out.
    wide : bool
        Whether a picture leaves room for long arrows.
    """

    title: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    note: str = ""
    found: tuple[str, ...] = ()
    wide: bool = False

    def __post_init__(self):
        """Raise ValueError if two nodes have one key, or an edge names no node."""
        keys = {node.key for node in self.nodes}
        if len(keys) != len(self.nodes):
            raise ValueError("two nodes share a key; each node needs its own key")

        ends = {edge.source for edge in self.edges} | {edge.target for edge in self.edges}
        missing = ends - keys
        if missing:
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
        """Return a copy of this graph whose `found` has the nodes that match `words`.

        A node matches if each word is a part of its key, label or op. Upper and lower case are the
        same. LookupError if no node matches.
        """
        wanted_words = words.casefold().split()
        found = []
        for node in self.nodes:
            names = f"{node.key} {node.label} {node.op}".casefold()
            # Without any word, no node matches. `all` alone would be true for each node then.
            if wanted_words and all(word in names for word in wanted_words):
                found.append(node.key)

        if not found:
            quoted = repr(clip_text(words, 60))
            raise LookupError(f"none of the {len(self.nodes)} nodes has {quoted} in its name or op")
        return replace(self, found=tuple(found))


def join_graphs(title: str, graphs: dict[str, Graph], note: str = "") -> Graph:
    """Return several graphs as one. Each of them gets a new node above it, a box with its name.

    `graphs` maps a name to a graph. The key of a box is `name|`. The keys of the nodes of a graph
    get the key of its box in front, so that they stay different: `x` becomes `name|x`.
    """
    nodes = []
    edges = []
    for name, graph in graphs.items():
        box_key = f"{name}|"
        nodes.append(Node(box_key, name, JOINED))
        for node in graph.nodes:
            nodes.append(replace(node, key=box_key + node.key))
        for edge in graph.edges:
            edges.append(Edge(box_key + edge.source, box_key + edge.target, edge.label))

        # Arrows from the box to the first nodes of the graph, so that a picture has the box on top.
        target_keys = {edge.target for edge in graph.edges}
        for node in graph.nodes:
            if node.key not in target_keys:
                edges.append(Edge(box_key, box_key + node.key))
    return Graph(title, tuple(nodes), tuple(edges), note)


def split_graph(graph: Graph) -> dict[str, Graph]:
    """Return name -> graph for the graphs that `join_graphs` has joined.

    The keys of nodes keep the name in front, such as `name|x`. The boxes and their arrows are left
    out. A graph that is not joined is returned as {"": graph}.
    """
    parts = {}
    for box in graph.nodes:
        if box.kind != JOINED:
            continue
        # The keys of the graph's own nodes begin with the key of the box.
        nodes = [
            node for node in graph.nodes if node.key.startswith(box.key) and node.key != box.key
        ]
        edges = [
            edge
            for edge in graph.edges
            if edge.source.startswith(box.key) and edge.source != box.key
        ]
        parts[box.label] = Graph(box.label, tuple(nodes), tuple(edges))
    return parts or {"": graph}
