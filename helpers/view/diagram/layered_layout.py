"""A graph -> layers of boxes with few crossings, and where in its layer each box is."""

from bisect import bisect_right
from collections import defaultdict, namedtuple
from functools import lru_cache
from itertools import accumulate, groupby, pairwise
from operator import add, itemgetter, mul
from random import Random

from ...model.graphs import Graph

LATE = ("constant", "op", "call", "forward", "backward", "update")  # kinds that are no input
SWEEPS, ROUNDS, SHAKES = 8, 6, 30
MOST_SHAKEN = 120  # boxes and bends: a larger picture gets no further try
WEIGHTS = (1, 2, 8)  # of a piece with no bend, one and two
NEAR, LOOSE = 4, 60  # pixels: what is as good as straight; where two boxes pull as one bend does
BETWEEN, BESIDE = 24, 16  # pixels between two boxes; between a bend and what is beside it


# Keys per layer, in their order; per edge the keys passed through, bends among them; whether an
# arrow leads to its own layer.
Layout = namedtuple("Layout", ["layers", "paths", "has_cycle"], defaults=[False])


def make_layers(graph: Graph, ends_last: bool = False) -> Layout:
    """Return layers with few crossings; `ends_last`: what no arrow leaves is in the last one."""
    layer = _assign_layers(graph)
    if ends_last:
        inner = {edge.source for edge in graph.edges}
        layer |= dict.fromkeys(layer.keys() - inner, max(layer.values()))
    columns, paths = [[] for _ in range(1 + max(layer.values()))], []
    for key, number in layer.items():
        columns[number].append(key)
    came = {key: number for number, key in enumerate(layer)}
    sides = before, after = defaultdict(list), defaultdict(list)  # key -> neighbours
    for number, edge in enumerate(graph.edges):
        bends = [(number, at) for at in range(layer[edge.source] + 1, layer[edge.target])]
        paths.append((edge.source, *bends, edge.target))
        came |= dict.fromkeys(bends, came[edge.source])
        for bend in bends:
            columns[bend[1]].append(bend)
        if layer[edge.source] != layer[edge.target]:
            for left, right in pairwise(paths[-1]):
                after[left].append(right)
                before[right].append(left)
    columns = minimize_crossings(columns, came, sides)
    cycle = any(layer[edge.source] == layer[edge.target] for edge in graph.edges)
    return Layout(tuple(map(tuple, columns)), tuple(paths), cycle)


def _assign_layers(graph: Graph) -> dict[str, int]:
    """Return a layer per key; what needs no input is just before its reader."""
    import networkx  # half as much to import as all the rest of a chapter's first cell

    directed = networkx.DiGraph()
    directed.add_nodes_from(node.key for node in graph.nodes)
    directed.add_edges_from((edge.source, edge.target) for edge in graph.edges)
    loose = networkx.condensation(directed)  # cycles are allowed
    depth = {}
    for number, generation in enumerate(networkx.topological_generations(loose)):
        for component in generation:
            depth |= dict.fromkeys(loose.nodes[component]["members"], number)
    free, late = set(), dict(depth)
    for node in sorted(graph.nodes, key=lambda node: depth[node.key]):
        if node.kind in LATE and free.issuperset(directed.predecessors(node.key)):
            free.add(node.key)
    free |= {n.key for n in graph.nodes if n.kind != "name" and not directed.in_degree(n.key)}
    for key in sorted(free, key=depth.get, reverse=True):
        later = [late[to] for to in directed.successors(key) if depth[to] > depth[key]]
        late[key] = min(later) - 1 if later else depth[key]
    return {node.key: late[node.key] for node in graph.nodes}


# -- few crossings ---------------------------------------------------------------------------------


def minimize_crossings(columns: list[list], came: dict, sides) -> list[list]:
    """Return the columns in the best order found from that in which the keys came."""
    best = [sorted(column, key=came.get) for column in columns]
    fewest, chance = _sift(best, sides), Random(0)  # the same picture each time
    for _ in range(SHAKES if sum(map(len, columns)) <= MOST_SHAKEN and fewest else 0):
        other = [list(column) for column in best]
        chance.shuffle(chance.choice(other))
        count = _sift(other, sides)
        if count <= fewest:
            best, fewest = other, count
    return best


def _sift(columns: list[list], sides) -> int:
    """Move each key to the best place of its column, from the right, and count the crossings."""
    at = {key: place for column in columns for place, key in enumerate(column)}

    def near(column, side) -> tuple[tuple[int, ...], ...]:
        return tuple([tuple([at[to] for to in side[key]]) for key in column])

    still = 0  # columns in turn that did not change
    for column in columns[::-1] * SWEEPS:
        order = _best_order(*(near(column, side) for side in sides))
        still = still + 1 if order == tuple(range(len(order))) else 0
        if still == len(columns):
            break
        column[:] = [column[place] for place in order]
        at |= {key: place for place, key in enumerate(column)}
    return sum(_crossings(near(column, sides[1])) for column in columns)


@lru_cache(maxsize=2_000)  # most columns are as they were, in the next sweep and the next picture
def _best_order(*sides: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    """Return the order of a column's keys; each of the `sides`: of each, its neighbours' places."""
    column = list(range(len(sides[0])))
    more = [[0] * len(column) for _ in column]  # crossings with one key above another: a row each
    for side in sides:
        row = [-len(places) for places in side]  # of each: links before a place, less those after
        links = sorted((place, key) for key, places in enumerate(side) for place in places)
        for _, together in groupby(links, itemgetter(0)):
            keys = [key for _, key in together]
            for key in keys:
                row[key] += 1
            for key in keys:
                more[key] = list(map(add, more[key], row))
            for key in keys:
                row[key] += 1
    for key, row in enumerate(more):
        own = column.index(key)
        others = column[:own] + column[own + 1 :]
        # what each place saves, but for what all have in common
        saved = [*accumulate(map(row.__getitem__, others), initial=0)]
        if saved[own] < (most := max(saved)):
            best = min((abs(n - own), n) for n, one in enumerate(saved) if one == most)[1]
            column = [*others[:best], key, *others[best:]]
    return tuple(column)


def _crossings(column) -> int:
    """Return the crossings of the links of a column's keys, from their neighbours' places."""
    count, seen = 0, []
    for place in (place for places in column for place in sorted(places)):
        count += len(seen) - (above := bisect_right(seen, place))
        seen.insert(above, place)
    return count


def assign_coordinates(
    layout: Layout, sizes: dict[object, int], between: int = BETWEEN, beside: int = BESIDE
) -> dict[object, float]:
    """Return the centre of each key in its layer, in pixels, so that arrows are short and straight.

    `sizes`: those of boxes, not of bends. As in dot, a piece between two bends counts most.
    """
    links, centres, rows = defaultdict(list), {}, []
    for one, other in (pair for path in layout.paths for pair in pairwise(path)):
        weight = WEIGHTS[(one not in sizes) + (other not in sizes)]
        links[one].append((other, weight))
        links[other].append((one, weight))
    for row in layout.layers:
        offsets = [0.0]
        for before, key in pairwise(row):
            room = between if before in sizes and key in sizes else beside
            room += (sizes.get(before, 0) + sizes.get(key, 0)) / 2
            offsets.append(offsets[-1] + room)
        rows.append((row, offsets))
        centres |= dict(zip(row, offsets, strict=True))

    def far(one, other) -> float:  # a bent piece weighs less, by how much; so do those of boxes
        both = one in sizes and other in sizes
        return LOOSE if both else max(abs(centres[one] - centres[other]), NEAR)

    near = {key: [to for to, _ in links[key]] for key in centres}
    for _ in range(ROUNDS):
        pulls = {key: [weight / far(key, to) for to, weight in links[key]] for key in centres}
        for sweep in range(SWEEPS):
            for row, offsets in reversed(rows) if sweep % 2 else rows:
                centres |= _settle(row, offsets, near, pulls, centres)
    return centres


def _settle(row, offsets, near, pulls, centres) -> dict[object, float]:
    """Return the centres of a row; keys that come too close share a mean."""
    blocks = []
    for key, offset in zip(row, offsets, strict=True):
        weight = sum(pulls[key])
        pulled = sum(map(mul, map(centres.get, near[key]), pulls[key]))
        here = (pulled / weight if weight else centres[key]) - offset
        heavy, count = weight or 1e-6, 1
        while blocks and blocks[-1][0] >= here:
            one, weight, more = blocks.pop()
            here = (one * weight + here * heavy) / (weight + heavy)
            heavy, count = weight + heavy, more + count
        blocks.append((here, heavy, count))
    places = [place for place, _, count in blocks for _ in range(count)]
    return dict(zip(row, map(add, places, offsets), strict=True))
