"""A graph -> a place for every box: layers from left to right, few crossings, the same each time.

The layers are networkx's topological generations (of the condensation, so that cycles are allowed);
an arrow that skips a layer gets an empty place there, so that it passes between boxes.
"""

from dataclasses import dataclass

from helpers.model.graph import Graph

SWEEPS = 6
LATE = ("constant", "op", "call", "forward", "backward", "update")  # kinds that are no input


@dataclass(frozen=True)
class Layout:
    """`layers`: keys per column, top to bottom. `rows`: key -> height in rows. `paths`: per edge
    the keys passed through, ends included; a key that is no node's is a bend."""

    layers: tuple[tuple[object, ...], ...]
    rows: dict[object, float]
    paths: tuple[tuple[object, ...], ...]


def layered(graph: Graph, bend: float = 1, wrap=None) -> Layout:
    """Return the layout of a graph with at least one node; a bend takes `bend` of a box's room.

    `wrap`: what makes more layers of the layers, as a number per key.
    """
    layer = _layers(graph)
    layer = wrap(layer) if wrap else layer
    paths = tuple(_path(number, edge, layer) for number, edge in enumerate(graph.edges))
    columns = [[] for _ in range(1 + max(layer.values()))]
    for key in [*layer, *(key for path in paths for key in path[1:-1])]:
        columns[layer.get(key, key[1] if isinstance(key, tuple) else 0)].append(key)
    links = [pair for path in paths for pair in zip(path, path[1:], strict=False)]
    rows = _untangle(columns, links, dict.fromkeys(layer, 1), bend)
    return Layout(tuple(map(tuple, columns)), rows, paths)


def _layers(graph: Graph) -> dict[str, int]:
    import networkx  # half as much to import as all the rest of a chapter's first cell

    directed = networkx.DiGraph()
    directed.add_nodes_from(node.key for node in graph.nodes)
    directed.add_edges_from((edge.source, edge.target) for edge in graph.edges)
    loose = networkx.condensation(directed)
    depth = {}
    for number, generation in enumerate(networkx.topological_generations(loose)):
        for component in generation:
            depth |= dict.fromkeys(loose.nodes[component]["members"], number)
    return _late(graph, depth)


def _late(graph: Graph, depth) -> dict[str, int]:
    """Return the layers; what no input leads to stands in the layer just before its first reader.

    So a constant does not stand among the inputs, nor does an op that needs none. An input stands
    before its first reader as well; names are a column of their own, whoever reads them.
    """
    made, readers = {}, {node.key: [] for node in graph.nodes}
    for edge in graph.edges:
        made.setdefault(edge.target, []).append(edge.source)
        readers[edge.source].append(edge.target)
    free, late = set(), dict(depth)
    for node in sorted(graph.nodes, key=lambda node: depth[node.key]):
        if node.kind in LATE and free.issuperset(made.get(node.key, ())):
            free.add(node.key)
    free |= {node.key for node in graph.nodes if node.kind != "name" and node.key not in made}
    for key in sorted(free, key=depth.get, reverse=True):
        later = [late[reader] for reader in readers[key] if depth[reader] > depth[key]]
        late[key] = min(later) - 1 if later else depth[key]
    return {node.key: late[node.key] for node in graph.nodes}


def _path(number: int, edge, layer) -> tuple[object, ...]:
    first, last = layer[edge.source], layer[edge.target]
    bends = [(number, column) for column in range(first + 1, last)]
    return (edge.source, *bends, edge.target)


def _untangle(columns, links, rooms: dict, bend: float) -> dict[object, float]:
    rows = {key: float(row) for column in columns for row, key in enumerate(column)}
    before, after = _neighbours(links)
    for sweep in range(SWEEPS):
        forward = sweep % 2 == 0
        for column in columns if forward else reversed(columns):
            near = before if forward else after
            wanted = {key: _wanted(near.get(key), rows, rows[key]) for key in column}
            column.sort(key=lambda key, wanted=wanted: wanted[key])
            rows |= spread(column, wanted, rooms, bend)
    top = min(rows.values())
    return {key: row - top for key, row in rows.items()}


def _neighbours(links) -> tuple[dict, dict]:
    before, after = {}, {}
    for left, right in links:
        before.setdefault(right, []).append(left)
        after.setdefault(left, []).append(right)
    return before, after


def _wanted(near, rows, own: float) -> float:
    """Return the mean row of the neighbours on one side, the own row where there are none."""
    return sum(rows[key] for key in near) / len(near) if near else own


def spread(column, wanted, rooms: dict, bend: float) -> dict[object, float]:
    """Return rows with room for each key, in the column's order, as near to the wanted as can be.

    `rooms`: how many rows a box takes; what is none takes `bend` of one.
    """
    rows, free = {}, float("-inf")
    for key in column:
        half = rooms.get(key, bend) / 2
        rows[key] = max(wanted[key], free + half)
        free = rows[key] + half
    drift = sum(rows[key] - wanted[key] for key in column) / max(len(column), 1)
    return {key: row - drift for key, row in rows.items()}
