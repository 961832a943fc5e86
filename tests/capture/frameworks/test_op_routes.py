"""Each route of an op gives what the public function gives, and ends at the door that it says."""

import sys

import pytest

from helpers import op_routes, rebind_everywhere

tf = pytest.importorskip("tensorflow", reason="needs TensorFlow")
pytestmark = pytest.mark.own_process(sharing="tensorflow")

vector, square = tf.constant([1.0, -2.0]), tf.constant([[1.0, 2.0], [3.0, 4.0]])
OPS = {
    "BiasAdd": (tf.nn.bias_add, tf.ones([1, 2, 2, 2]), vector),
    "MatMul": (tf.matmul, square, square),
    "Sum": (tf.reduce_sum, square),
    "ConcatV2": (tf.concat, [vector, vector], 0),
    "Split": (tf.split, square, 2),
    "Cast": (tf.cast, vector, tf.int32),
}
DOORS = "door into C · TFE_Py_FastPathExecute", "door into C · TFE_Py_Execute"


def values(given):
    return [part.numpy().tolist() for part in (given if type(given) is list else [given])]


def passed(route):
    """The doors into C that a route passes, in order; an op callback would change the way."""
    met = []

    def note(frame, event, what):
        if event == "c_call" and what.__name__.startswith("TFE_Py_"):
            met.append(what.__name__)

    sys.setprofile(note)
    try:
        route()
    finally:
        sys.setprofile(None)
    return [name for name in met if name in ("TFE_Py_FastPathExecute", "TFE_Py_Execute")]


@pytest.mark.parametrize("kind", OPS)
def test_every_route_gives_what_the_op_gives(kind):
    op, *args = OPS[kind]
    routes = op_routes(op, *args)
    assert f"its copy · tf.raw_ops.{kind}" in routes
    for name, route in routes.items():
        assert values(route()) == values(op(*args)), name


def test_each_route_ends_at_its_door():
    routes = op_routes(*OPS["BiasAdd"])
    fast, slow = ["TFE_Py_FastPathExecute"], ["TFE_Py_Execute"]
    assert passed(routes["its copy · tf.raw_ops.BiasAdd"]) == fast
    assert passed(routes["generated · gen_nn_ops.bias_add"]) == fast
    assert passed(routes["generated · gen_nn_ops.bias_add_eager_fallback"]) == slow
    assert passed(routes["runs ops · quick_execute"]) == slow
    assert [passed(routes[door]) for door in DOORS] == [fast, slow]


def test_names_are_looked_up_when_they_are_run():
    def ones(value, bias, data_format=None, name=None):
        return tf.ones_like(value)

    op, *args = OPS["BiasAdd"]
    routes, plain = op_routes(op, *args), values(op(*args))
    with rebind_everywhere(op, ones):
        new = {name for name, route in routes.items() if values(route()) != plain}
    assert "tensorflow.python.ops.nn_ops.bias_add" in new and "graph · traced now" in new
    assert not new & {*DOORS, "graph · traced before", "inside it · bias_add"}
    assert "thread · another one" in new


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        ((3,), TypeError, "the op"),
        ((tf.nn.bias_add, vector, square), ValueError, "it raised (InvalidArgument|Value)Error"),
        ((len, [1]), ValueError, "passes it with: none"),
    ],
)
def test_what_has_no_such_routes_is_refused(asked, error, words, refused):
    refused(error, words, op_routes, *asked)
