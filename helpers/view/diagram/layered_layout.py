"""A graph -> layers of boxes with few crossings, and where in its layer each box is."""

from bisect import bisect_left, bisect_right
from collections import defaultdict, namedtuple
from functools import lru_cache
from itertools import combinations, pairwise
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

    def near(column, *sides) -> tuple:
        place = at.__getitem__
        return tuple(tuple(tuple(sorted(map(place, s[key]))) for s in sides) for key in column)

    for _ in range(SWEEPS):
        before = [list(column) for column in columns]
        for column in reversed(columns):
            column[:] = [column[place] for place in _best_order(near(column, *sides))]
            at |= {key: place for place, key in enumerate(column)}
        if before == columns:
            break
    return sum(_crossings(near(column, sides[1])) for column in columns)


@lru_cache(maxsize=2_000)  # most columns are as they were, in the next sweep and the next picture
def _best_order(near: tuple[tuple[tuple[int, ...], ...], ...]) -> tuple[int, ...]:
    """Return the order of a column's keys; `near`: of each, its neighbours' places per side."""
    column, more = list(range(len(near))), [[0] * len(near) for _ in near]
    for a, b in combinations(column, 2):
        count = 0  # how many more crossings with the first above
        for one, other in zip(near[a], near[b], strict=True):
            if not one or not other:
                continue
            if one[-1] < other[0] or other[-1] < one[0]:  # quick: all cross, or none
                count += len(one) * len(other) * (1 if other[-1] < one[0] else -1)
            else:
                count += sum(bisect_left(other, place) for place in one)
                count -= sum(bisect_left(one, place) for place in other)
        more[a][b], more[b][a] = count, -count
    for key in range(len(near)):
        others = [other for other in column if other != key]
        own, costs = column.index(key), [0]
        for other in others:  # the cost of each place, but for what all have in common
            costs.append(costs[-1] + more[other][key])
        least = min(costs)
        best = min((abs(n - own), n) for n, cost in enumerate(costs) if cost == least)[1]
        column[:] = [*others[:best], key, *others[best:]]
    return tuple(column)


def _crossings(column) -> int:
    """Return the crossings of the links of a column's keys, from their neighbours' places."""
    count, seen = 0, []
    for place in (place for (places,) in column for place in places):
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

    for _ in range(ROUNDS):
        near = {key: [(to, w / far(key, to)) for to, w in own] for key, own in links.items()}
        for sweep in range(SWEEPS):
            for row, offsets in reversed(rows) if sweep % 2 else rows:
                centres |= _settle(row, offsets, near, centres)
    return centres


def _settle(row, offsets, near, centres) -> dict[object, float]:
    """Return the centres of a row; keys that come too close share a mean."""
    blocks = []
    for key, offset in zip(row, offsets, strict=True):
        pulls = near.get(key, ())
        weight = sum(pull for _, pull in pulls)
        wanted = sum(centres[to] * pull for to, pull in pulls) / weight if weight else centres[key]
        blocks.append((wanted - offset, weight or 1e-6, 1))
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            (one, heavy, count), (other, weight, more) = blocks[-2:]
            mean = (one * heavy + other * weight) / (heavy + weight)
            blocks[-2:] = [(mean, heavy + weight, count + more)]
    places = [place for place, _, count in blocks for _ in range(count)]
    return {key: at + offset for key, at, offset in zip(row, places, offsets, strict=True)}
