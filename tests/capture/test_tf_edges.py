"""Verbs that look at TensorFlow: odd things get one sentence, and nothing is left behind."""

import sys

import pytest

import helpers
from helpers.capture.tensorflow.eager_context import read_callbacks
from helpers.capture.tensorflow.tf_graph import build_graph

tf = pytest.importorskip("tensorflow")
pytestmark = pytest.mark.own_process(sharing="tensorflow")


def returned(v, one):
    return v + one


def node(graph, name, op="NoOp", *inputs):
    return graph.node.add(name=name, op=op, input=inputs)


def test_looking_at_a_graph_does_not_write_to_it():
    graph = tf.compat.v1.GraphDef()
    node(graph, "split", "Split")
    body = graph.library.function.add()
    body.signature.name = "F"
    body.signature.output_arg.add(name="y")
    node(graph, "call", "PartitionedCall").attr["f"].func.name = "F"
    before = graph.SerializeToString(deterministic=True)
    build_graph(graph)
    assert graph.SerializeToString(deterministic=True) == before


def test_constants_that_cannot_be_read_are_told_by_their_shape():
    graph = tf.compat.v1.GraphDef()
    for name, dtype, sizes in (("a", 77, [2]), ("b", 1, [-1]), ("c", 21, []), ("d", 1, [0, 9])):
        tensor = node(graph, name, "Const").attr["value"].tensor
        tensor.dtype = dtype
        for size in sizes:
            tensor.tensor_shape.dim.add(size=size)
    assert len(build_graph(graph).nodes) == 4


@pytest.mark.parametrize(
    ("program", "runs", "error", "words"),
    [
        (returned, 10**9, ValueError, "runs= must be"),
        (returned, "many", TypeError, "runs= must be"),
        (lambda v, one: object(), 2, ValueError, "'a' does not"),
        (lambda v, one: 1 / 0, 2, ValueError, "'a' .*ZeroDivisionError"),
    ],
)
def test_what_is_wrong_with_a_program_is_named(program, runs, error, words, refused):
    refused(error, words, helpers.watch_variables, {"a": program}, runs=runs)


def stop():
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "verb",
    [
        helpers.watch_call,
        lambda fn: helpers.watch_mutations({"a": fn}, ways={"as it is": lambda fn: fn}),
        lambda fn: helpers.watch_race(lambda v, one: fn(), runs=2),
        helpers.watch_ops,
        lambda fn: helpers.watch_traces(fn, autograph=False)(),
        helpers.watch_optimisation,
    ],
)
def test_ctrl_c_in_a_watched_call_passes_and_leaves_nothing(verb):
    with pytest.raises(KeyboardInterrupt):
        verb(stop)
    assert sys.getprofile() is None and not read_callbacks() and tf.executing_eagerly()


def test_very_many_calls_are_cut_and_told():
    space = {"__name__": "tensorflow.many"}
    exec("def leaf():\n    pass\ndef many(n):\n    for _ in range(n):\n        leaf()", space)
    shown = helpers.watch_call(space["many"], 10**5)
    assert "80,001 more" in shown.model.note
    exec("def down(n):\n    leaf()\n    return n and down(n - 1)", space)
    deeply = helpers.watch_call(space["down"], 900)
    both = helpers.show_call_diff(deeply, helpers.watch_call(space["down"], 890))
    assert "1,000 lines" in both.model.note
    assert len(both._repr_mimebundle_()[0]["text/html"]) < 1_000_000
