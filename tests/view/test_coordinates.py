"""Where boxes and bends are: never too close, straight where nothing is in the way."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.model.graphs import Edge, Graph, Node
from helpers.view.diagram.coordinates import assign_coordinates, place_layers
from helpers.view.diagram.drawing import MARGIN
from helpers.view.diagram.layered_layout import make_layers
from tests.samples import sample

BETWEEN = 24
BESIDE = 16


def graph_of(pairs, count=8):
    nodes = tuple(Node(str(number), "", "object") for number in range(count))
    return Graph("", nodes, tuple(Edge(str(a), str(b)) for a, b in pairs))


PAIRS = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20)
WIDTHS = st.lists(st.integers(20, 200), min_size=8, max_size=8)


@settings(deadline=None, max_examples=sample(20, 200))
@given(PAIRS, WIDTHS)
def test_keys_of_a_layer_keep_their_distance(pairs, widths):
    layered = make_layers(graph_of(pairs))
    sizes = {str(number): width for number, width in enumerate(widths)}
    centres = assign_coordinates(layered, sizes, BETWEEN, BESIDE)
    for keys in layered.layers:
        for key, next_key in pairwise(keys):
            gap = BETWEEN if key in sizes and next_key in sizes else BESIDE
            least = gap + (sizes.get(key, 0) + sizes.get(next_key, 0)) / 2
            assert centres[next_key] - centres[key] >= least - 1e-6


def test_a_chain_is_straight_and_further_pixels_move_the_layers_after_them():
    layered = make_layers(graph_of([(0, 1), (1, 2)], count=3))
    place_keys = place_layers(layered, {"0": 100, "1": 40, "2": 60}, gap=30, down=True)
    places = place_keys()
    assert len({places[key].centre_x for key in "012"}) == 1
    assert places["0"].y == MARGIN and places["1"].y == places["0"].bottom + 30
    moved = place_keys({1: 7})
    assert moved["1"] == places["1"] and moved["2"].y == places["2"].y + 7
