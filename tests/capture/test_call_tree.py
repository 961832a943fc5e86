"""The route of each op is read from the calls of a tree; no framework runs here."""

import pytest

from helpers.capture.frameworks.call_recorder import NEW_NODE
from helpers.capture.frameworks.call_tree import find_routes
from helpers.internals.tensorflow_private import FAST, SLOW, SLOW_CANCELABLE
from helpers.model.call_records import ROUTES, Call


def calls(*rows):
    """Return the calls of a tree; a row is (depth, name), and a name that ends in ! raised."""
    found = []
    for depth, name in rows:
        found.append(Call(depth, "tensorflow", name.rstrip("!"), raised=name.endswith("!")))
    return found


WRAPPER = (0, "add_v2")
TREES = {
    "fast path": ([WRAPPER, (1, FAST)], ["fast path"]),
    "fallback": (
        [WRAPPER, (1, f"{FAST}!"), (1, "add_v2_eager_fallback"), (2, "quick_execute"), (3, SLOW)],
        ["fallback"],
    ),
    "refused by the fast path": ([WRAPPER, (1, f"{FAST}!")], ["refused"]),
    "the next op falls back": (
        [WRAPPER, (1, f"{FAST}!"), (0, "mul"), (1, "mul_eager_fallback"), (2, SLOW)],
        ["refused", "fallback"],
    ),
    "refused by the slow one": ([WRAPPER, (1, f"{SLOW}!")], ["refused"]),
    "a tf.function": ([(0, "Bound.call_function"), (1, "quick_execute"), (2, SLOW)], ["function"]),
    "cancelable": ([(0, "Bound.call_function"), (1, SLOW_CANCELABLE)], ["function"]),
    "no wrapper": ([(0, "quick_execute"), (1, SLOW)], ["direct"]),
    "after a tf.function": (
        [(0, "Bound.call_function"), (1, SLOW), (0, "quick_execute"), (1, SLOW)],
        ["function", "direct"],
    ),
    "a node": ([(0, "_create_c_op"), (1, NEW_NODE)], ["graph"]),
    "nothing": ([(0, "convert_to_tensor")], []),
}


@pytest.mark.parametrize("kind", TREES)
def test_each_op_has_the_route_of_its_calls(kind):
    rows, routes = TREES[kind]
    assert list(find_routes(calls(*rows))) == routes
    assert {*routes} <= {*ROUTES}
