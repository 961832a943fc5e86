"""A graph -> layers of boxes, each in an order in which few arrows cross (Sugiyama's layout).
An arrow that passes a layer gets a *bend* in it: a point where the arrow may turn. A *key* stands
for a box (`"conv1"`, the key of its node) or for a bend (`(3, 1)`: edge 3 in layer 1).

The steps are those of Sugiyama, Tagawa and Toda, "Methods for visual understanding of hierarchical
system structures" (1981): each box gets a layer, an edge over several layers gets a bend in each of
them, and the boxes and bends of a layer are ordered. The order comes from sifting: Matuszewski,
Schönfeld and Molitor, "Using sifting for k-layer straightline crossing minimization" (1999).
"""

from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, groupby, pairwise
from operator import add, itemgetter
from random import Random

from ...model.graphs import Edge, Graph

COMPUTED = ("constant", "op", "call", "forward", "backward", "update")  # kinds that are no input
SWEEPS = 8
SHAKES = 30
MOST_SHAKEN = 120  # boxes and bends: a larger picture gets no further try

# The key of a box is that of its node; a bend's is the number of its edge with that of its layer.
Key = str | tuple[int, int]
# For each key of a layer, in order: the positions of its neighbours in the layer before or after.
Positions = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class LayeredGraph:
    """A graph whose boxes and bends have a layer, and an order in it."""

    layers: tuple[tuple[Key, ...], ...]
    """The keys of each layer, in their order."""
    paths: tuple[tuple[Key, ...], ...]
    """Of each edge, the keys that it leads through: its source, its bends, its target."""
    has_cycle: bool = False
    """An edge leads to a box of its own layer."""


class Neighbours:
    """The keys that each key is linked with, in the layer before and in the layer after."""

    def __init__(self):
        """Begin without a link; `add_path` adds those of an edge."""
        self.before: dict[Key, list[Key]] = defaultdict(list)
        self.after: dict[Key, list[Key]] = defaultdict(list)

    def add_path(self, path: tuple[Key, ...]) -> None:
        """Link each key of a path with the next one."""
        for key, next_key in pairwise(path):
            self.after[key].append(next_key)
            self.before[next_key].append(key)


def make_layers(graph: Graph, ends_last: bool = False) -> LayeredGraph:
    """Return a graph in layers with few crossings; an edge leads from a layer to a later one.

    With `ends_last`, all boxes that no edge leaves are in the last layer.
    """
    layer_numbers = _assign_layers(graph)
    if ends_last:
        sources = {edge.source for edge in graph.edges}
        last = max(layer_numbers.values())
        layer_numbers |= dict.fromkeys(layer_numbers.keys() - sources, last)

    layers = [[] for _ in range(1 + max(layer_numbers.values()))]
    for key, number in layer_numbers.items():
        layers[number].append(key)
    # key -> where the search for an order puts it at first: boxes in the order of the graph, bends
    # beside the source of their edge.
    rank = {key: place for place, key in enumerate(layer_numbers)}

    paths = []
    neighbours = Neighbours()
    has_cycle = False
    for edge_number, edge in enumerate(graph.edges):
        bends = _make_bends(edge_number, edge, layer_numbers)
        for bend in bends:
            _, layer_number = bend
            layers[layer_number].append(bend)
            rank[bend] = rank[edge.source]

        path = (edge.source, *bends, edge.target)
        paths.append(path)
        # The boxes of a cycle are in one layer. An edge inside a layer crosses no edge between two
        # layers, so it has no influence on the order.
        if layer_numbers[edge.source] == layer_numbers[edge.target]:
            has_cycle = True
        else:
            neighbours.add_path(path)

    layers = minimize_crossings(layers, rank, neighbours)
    return LayeredGraph(tuple(map(tuple, layers)), tuple(paths), has_cycle)


def _make_bends(edge_number: int, edge: Edge, layer_numbers: dict[str, int]) -> list[Key]:
    """Return the keys of the bends of an edge, one in each layer that it passes."""
    passed = range(layer_numbers[edge.source] + 1, layer_numbers[edge.target])
    return [(edge_number, number) for number in passed]


# -- a layer for each box --------------------------------------------------------------------------


def _assign_layers(graph: Graph) -> dict[str, int]:
    """Return node key -> number of its layer, from 0.

    The number is the length of the longest way to the node. A node that may move, such as a
    constant, is instead in the layer before its first reader.
    """
    import networkx  # takes as long to import as half of all else in a chapter's first cell

    directed = networkx.DiGraph()
    directed.add_nodes_from(node.key for node in graph.nodes)
    directed.add_edges_from((edge.source, edge.target) for edge in graph.edges)

    depths = _measure_depths(directed)
    movable = _find_movable(graph, directed, depths)
    layer_numbers = dict(depths)
    # The deepest first: the reader of one movable node may be another, and has moved already.
    for key in sorted(movable, key=depths.get, reverse=True):
        later_readers = [reader for reader in directed[key] if depths[reader] > depths[key]]
        if later_readers:
            first_reader = min(layer_numbers[reader] for reader in later_readers)
            layer_numbers[key] = first_reader - 1
    return {node.key: layer_numbers[node.key] for node in graph.nodes}


def _measure_depths(directed) -> dict[str, int]:
    """Return node key -> number of edges on the longest way to it; a cycle counts as one node.

    `directed` is a DiGraph of networkx.
    """
    import networkx

    without_cycles = networkx.condensation(directed)
    depths = {}
    for depth, components in enumerate(networkx.topological_generations(without_cycles)):
        for component in components:
            members = without_cycles.nodes[component]["members"]
            depths |= dict.fromkeys(members, depth)
    return depths


def _find_movable(graph: Graph, directed, depths: dict[str, int]) -> set[str]:
    """Return the keys of the nodes that may stand later than their longest way tells.

    These are the nodes that are computed from constants alone, and all nodes to which no edge
    leads. A name never moves, because a picture begins with its names.
    """
    movable = set()
    # A node comes after all nodes that it is computed from, so one pass is enough.
    for node in sorted(graph.nodes, key=lambda node: depths[node.key]):
        if node.kind in COMPUTED and movable.issuperset(directed.predecessors(node.key)):
            movable.add(node.key)

    for node in graph.nodes:
        if node.kind != "name" and not directed.in_degree(node.key):
            movable.add(node.key)
    return movable


# -- an order in each layer ------------------------------------------------------------------------


def minimize_crossings(
    layers: list[list[Key]], rank: dict[Key, int], neighbours: Neighbours
) -> list[list[Key]]:
    """Return the layers in the best order found; `rank` has the place of each key at first.

    Sifting ends where no single key has a better position. Fewer crossings may still be possible,
    so a layer is shuffled and all are sifted again, `SHAKES` times.
    """
    best = [sorted(layer, key=rank.get) for layer in layers]
    fewest = _sift(best, neighbours)
    if not fewest or sum(map(len, layers)) > MOST_SHAKEN:
        return best

    random = Random(0)  # the same picture each time
    for _ in range(SHAKES):
        candidate = [list(layer) for layer in best]
        random.shuffle(random.choice(candidate))
        count = _sift(candidate, neighbours)
        if count <= fewest:  # an equally good order is another start for the next try
            best = candidate
            fewest = count
    return best


def _sift(layers: list[list[Key]], neighbours: Neighbours) -> int:
    """Move each key to where its links cross fewest others, and return how many crossings remain.

    The lists in `layers` are changed. The last layer is sifted first, and so on up to the first
    layer, up to `SWEEPS` times.
    """
    positions = {}
    for layer in layers:
        positions |= {key: position for position, key in enumerate(layer)}

    def find_positions(layer: list[Key], linked: dict[Key, list[Key]]) -> Positions:
        """Return for each key of a layer the positions of the keys that it is linked with."""
        return tuple([tuple([positions[other] for other in linked[key]]) for key in layer])

    unchanged_count = 0
    for layer in layers[::-1] * SWEEPS:
        before = find_positions(layer, neighbours.before)
        after = find_positions(layer, neighbours.after)
        order = _find_best_order(before, after)
        if order == tuple(range(len(order))):
            unchanged_count += 1
        else:
            unchanged_count = 0
        if unchanged_count == len(layers):  # a whole sweep has moved no key
            break

        layer[:] = [layer[position] for position in order]
        positions |= {key: position for position, key in enumerate(layer)}

    return sum(_count_crossings(find_positions(layer, neighbours.after)) for layer in layers)


@lru_cache(maxsize=2_000)  # most layers are as they were, in the next sweep and the next picture
def _find_best_order(before: Positions, after: Positions) -> tuple[int, ...]:
    """Return the new order of a layer, as old positions: `(1, 0)` swaps two keys.

    Each key is sifted once: it moves to where its links cross fewest links of other keys. `before`
    and `after` have for each key the positions of its neighbours in the layer before and after.
    """
    costs = _compare_pairs(before, after)
    order = list(range(len(before)))
    for key, row in enumerate(costs):  # a key is named by its old position here
        position = order.index(key)
        others = order[:position] + order[position + 1 :]

        # For each position among the others: how many crossings the key has fewer there than at
        # the first position. row[other] are those that it loses when it moves below `other`.
        saved = list(accumulate([row[other] for other in others], initial=0))
        most_saved = max(saved)
        if saved[position] < most_saved:  # a position that is only as good is no reason to move
            best = _find_nearest(saved, most_saved, position)
            order = [*others[:best], key, *others[best:]]
    return tuple(order)


def _compare_pairs(before: Positions, after: Positions) -> list[list[int]]:
    """Return `costs[a][b]`: the crossings of two keys' links if a is above b, less those if not.

    a and b are the positions of two keys in the layer. If the number is negative, a is better
    above b. `before` and `after` are those of `_find_best_order`.
    """
    size = len(before)
    costs = [[0] * size for _ in range(size)]
    for side in (before, after):
        # The loop below visits the links by the position to which they lead. balance[b] is how
        # many links of b lead above that position, less those that lead below it. With a above b, a
        # link of a to that position crosses the former; with a below b, it crosses the latter.
        balance = [-len(positions) for positions in side]
        links = []
        for key, positions in enumerate(side):
            links += [(position, key) for position in positions]

        # A link counts −1 in the balance of its key before its position is visited, +1 after it,
        # and 0 meanwhile, because links to one position do not cross each other.
        for _, links_there in groupby(sorted(links), itemgetter(0)):
            keys = [key for _, key in links_there]
            for key in keys:
                balance[key] += 1
            for key in keys:
                costs[key] = list(map(add, costs[key], balance))
            for key in keys:
                balance[key] += 1
    return costs


def _find_nearest(numbers: list[int], wanted: int, position: int) -> int:
    """Return the index of `wanted` in `numbers` that is nearest to `position`.

    If two are equally near, it is the smaller one.
    """
    indices = [index for index, number in enumerate(numbers) if number == wanted]
    return min(indices, key=lambda index: abs(index - position))


def _count_crossings(positions_after: Positions) -> int:
    """Return how often the links of a layer with the next layer cross each other.

    `positions_after` has for each key of the layer, in order, the positions of its neighbours in
    the next layer.
    """
    count = 0
    earlier_ends = []  # sorted: the positions to which the links of the keys before lead
    for positions in positions_after:
        for position in sorted(positions):
            index = bisect_right(earlier_ends, position)
            count += len(earlier_ends) - index  # the earlier links that lead farther are crossed
            earlier_ends.insert(index, position)
    return count
