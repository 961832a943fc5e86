"""A graph -> layers of boxes with few crossings: Sugiyama's layout without its coordinates.

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
Positions = tuple[tuple[int, ...], ...]  # of each key of a layer: the positions of its neighbours


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
    """Return a graph in layers with few crossings.

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
    # The search for an order begins with the boxes as they came, and bends beside their source.
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
        # The boxes of a cycle are in one layer, and an edge in a layer crosses nothing between two.
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
    """Return the number of the layer of each node by its key.

    It is the length of the longest way to the node, but a node that needs no input, such as a
    constant, is in the layer before its first reader.
    """
    import networkx  # takes as long to import as half of all else in a chapter's first cell

    directed = networkx.DiGraph()
    directed.add_nodes_from(node.key for node in graph.nodes)
    directed.add_edges_from((edge.source, edge.target) for edge in graph.edges)

    depths = _measure_depths(directed)
    movable = _find_without_input(graph, directed, depths)
    layer_numbers = dict(depths)
    # The deepest first: the reader of one movable node may be another, and has moved already.
    for key in sorted(movable, key=depths.get, reverse=True):
        later_readers = [reader for reader in directed[key] if depths[reader] > depths[key]]
        if later_readers:
            first_reader = min(layer_numbers[reader] for reader in later_readers)
            layer_numbers[key] = first_reader - 1
    return {node.key: layer_numbers[node.key] for node in graph.nodes}


def _measure_depths(directed) -> dict[str, int]:
    """Return by key how many edges the longest way to a node has; a cycle counts as one node.

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


def _find_without_input(graph: Graph, directed, depths: dict[str, int]) -> set[str]:
    """Return the keys of nodes that need no input: nothing they are computed from is an input.

    Nodes to which no edge leads are among them, except for names.
    """
    found = set()
    for node in sorted(graph.nodes, key=lambda node: depths[node.key]):
        if node.kind in COMPUTED and found.issuperset(directed.predecessors(node.key)):
            found.add(node.key)

    for node in graph.nodes:
        if node.kind != "name" and not directed.in_degree(node.key):
            found.add(node.key)
    return found


# -- an order in each layer ------------------------------------------------------------------------


def minimize_crossings(
    layers: list[list[Key]], rank: dict[Key, int], neighbours: Neighbours
) -> list[list[Key]]:
    """Return the layers in the best order found; the search begins with the keys in their `rank`.

    Sifting ends where no single key has a better position. A layer that is shuffled and sifted
    again may lead to fewer crossings.
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
        if count <= fewest:
            best = candidate
            fewest = count
    return best


def _sift(layers: list[list[Key]], neighbours: Neighbours) -> int:
    """Move each key to the best position of its layer, and return how many crossings are left.

    It begins with the last layer, and ends when no layer changes any more.
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
        if unchanged_count == len(layers):
            break

        layer[:] = [layer[position] for position in order]
        positions |= {key: position for position, key in enumerate(layer)}

    return sum(_count_crossings(find_positions(layer, neighbours.after)) for layer in layers)


@lru_cache(maxsize=2_000)  # most layers are as they were, in the next sweep and the next picture
def _find_best_order(before: Positions, after: Positions) -> tuple[int, ...]:
    """Return the old positions of the keys of a layer in their new order, after sifting each once.

    A key is sifted when it stands where its links cross fewest of the others'. `before` and `after`
    have for each key the positions of its neighbours in the layer before and in the layer after.
    """
    costs = _compare_pairs(before, after)
    order = list(range(len(before)))
    for key, row in enumerate(costs):
        position = order.index(key)
        others = order[:position] + order[position + 1 :]

        # How many crossings each position saves, compared with the first one.
        saved = list(accumulate([row[other] for other in others], initial=0))
        most_saved = max(saved)
        if saved[position] < most_saved:  # a place as good as its own is no reason to move
            best = _find_nearest(saved, most_saved, position)
            order = [*others[:best], key, *others[best:]]
    return tuple(order)


def _compare_pairs(before: Positions, after: Positions) -> list[list[int]]:
    """Return for each key how many crossings more there are with it above each other key.

    Keys are numbered by their positions. `costs[a][b]` is negative if a is better above b.
    """
    size = len(before)
    costs = [[0] * size for _ in range(size)]
    for side in (before, after):
        # Of each key: how many of its links lead above a position, less those that lead below it.
        balance = [-len(positions) for positions in side]
        links = []
        for key, positions in enumerate(side):
            links += [(position, key) for position in positions]

        # In the order of the positions, each link moves its key's balance from −1 to +1. It is 0
        # while the links to the same position are counted, since these do not cross each other.
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
    """Return where `wanted` is in `numbers`, as near to `position` as can be; the first of two."""
    places = [place for place, number in enumerate(numbers) if number == wanted]
    return min(places, key=lambda place: abs(place - position))


def _count_crossings(positions_after: Positions) -> int:
    """Return how often the links of a layer with the next layer cross.

    `positions_after` has for each key, in order, the positions of its neighbours there.
    """
    count = 0
    earlier = []  # sorted: where the links of the keys before lead to
    for positions in positions_after:
        for position in sorted(positions):
            index = bisect_right(earlier, position)
            count += len(earlier) - index  # it crosses those that lead farther
            earlier.insert(index, position)
    return count
