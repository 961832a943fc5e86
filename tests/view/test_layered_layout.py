"""The layers of a graph: who stands in which, and an order in which few arrows cross."""

from itertools import combinations, pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.model.graphs import Edge, Graph, Node
from helpers.view.diagram.layered_layout import Neighbours, make_layers, minimize_crossings
from tests.samples import sample


def graph_of(kinds, pairs):
    """Return a graph; `kinds` has key -> kind, and each pair is the keys of an edge: `"ab"`."""
    nodes = tuple(Node(key, key, kind) for key, kind in kinds.items())
    return Graph("", nodes, tuple(Edge(*pair) for pair in pairs))


def layer_numbers(layered):
    return {key: number for number, keys in enumerate(layered.layers) for key in keys}


def test_a_constant_stands_before_its_reader_and_a_name_in_the_first_layer():
    kinds = {"x": "input", "a": "op", "b": "op", "c": "constant", "n": "name"}
    numbers = layer_numbers(make_layers(graph_of(kinds, ("xa", "ab", "cb", "nb"))))
    assert numbers["x"] == 0 and numbers["a"] == 1 and numbers["b"] == 2
    assert numbers["c"] == 1 and numbers["n"] == 0
    assert numbers[3, 1] == 1  # the bend of the edge from the name, which passes layer 1


def test_ends_may_be_in_the_last_layer_and_a_cycle_is_in_one():
    kinds = dict.fromkeys("abcd", "object")
    numbers = layer_numbers(make_layers(graph_of(kinds, ("ab", "bc", "ad")), ends_last=True))
    assert numbers["d"] == numbers["c"] == 2
    cyclic = make_layers(graph_of(kinds, ("ab", "bc", "cb")))
    assert cyclic.has_cycle and layer_numbers(cyclic)["b"] == layer_numbers(cyclic)["c"]


def count_crossings(layers, links):
    """Return how many pairs of links cross; each link is a pair of keys of two layers."""
    positions = {key: position for layer in layers for position, key in enumerate(layer)}
    ends = [(positions[source], positions[target]) for source, target in links]
    return sum((a[0] - b[0]) * (a[1] - b[1]) < 0 for a, b in combinations(ends, 2))


LINKS = st.lists(st.tuples(st.integers(0, 4), st.integers(5, 9)), unique=True, max_size=12)


@settings(deadline=None, max_examples=sample(20, 200))
@given(LINKS)
def test_no_exchange_of_two_neighbours_makes_an_order_better(links):
    neighbours = Neighbours()
    for link in links:
        neighbours.add_path(link)
    layers = [list(range(5)), list(range(5, 10))]
    ordered = minimize_crossings(layers, {key: key for key in range(10)}, neighbours)
    fewest = count_crossings(ordered, links)
    assert [sorted(layer) for layer in ordered] == layers
    assert fewest <= count_crossings(layers, links)
    for number, layer in enumerate(ordered):
        for left, right in pairwise(range(len(layer))):
            changed = [list(keys) for keys in ordered]
            changed[number][left], changed[number][right] = layer[right], layer[left]
            assert count_crossings(changed, links) >= fewest
