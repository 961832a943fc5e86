"""TensorFlow's graphs as models: its node list can be written again, no name has a counter."""

import pytest

from helpers.capture.tensorflow.tf_graph import build_graph, build_steps
from helpers.view.diagram.graph_folding import fold_graph
from helpers.view.diagram.graph_view import graph as diagram

tf = pytest.importorskip("tensorflow")
v1 = tf.compat.v1


def affine(x, y, b):
    return tf.matmul(x, y) + b


def branch_and_loop(x):
    if tf.reduce_sum(x) <= 1:
        return x * x
    i = tf.constant(0)
    while i < 3:
        x = x - 1
        i += 1
    return x


def written_down(graph):
    """TensorFlow's `node.input -> node.name`, from the model alone."""
    words = {"": "{}", "control": "^{}"}
    for node in graph.nodes:
        edges = [edge for edge in graph.edges if edge.target == node.key]
        asked = [words.get(e.label, e.label.replace("output ", "{}:")) for e in edges]
        yield [w.format(e.source) for w, e in zip(asked, edges, strict=True)], node.key


def node_list(graph_def):
    return [(list(node.input), node.name) for node in graph_def.node]


def graph_def(*nodes):
    made = v1.GraphDef()
    for name, op, *inputs in nodes:
        made.node.add(name=name, op=op, input=inputs)
    return made


def test_the_six_nodes_of_an_affine_function():
    graph = build_graph(tf.function(affine), tf.ones((2, 2)), tf.ones((2, 2)), tf.ones(2))
    assert [node.key for node in graph.nodes] == ["x", "y", "b", "MatMul", "add", "Identity"]
    assert graph.node("add").op == "AddV2" and graph.sources("add") == ("MatMul", "b")
    assert graph.node("b").detail == "Placeholder float32 (2,)"
    assert "affine" in graph.title


@pytest.mark.parametrize("fn", [branch_and_loop, lambda x: tf.unique(x)[1]])
def test_the_node_list_can_be_written_down_from_the_model(fn):
    concrete = tf.function(fn).get_concrete_function(tf.TensorSpec([None]))
    expected = node_list(concrete.graph.as_graph_def())
    assert list(written_down(build_graph(concrete)))[: len(expected)] == expected


def test_bodies_are_groups_named_after_their_caller():
    graph = build_graph(branch_and_loop, tf.TensorSpec([None]))
    groups = {node.group for node in graph.nodes}
    assert {"cond:then_branch", "cond:else_branch"} <= groups
    assert "cond:else_branch/cond/while:body" in groups
    assert graph.targets("cond")[:2] == ("cond:else_branch", "cond:then_branch")
    assert graph.node("cond:then_branch/cond/mul").label == "mul"


def switched(x):
    return tf.switch_case(tf.cast(x, tf.int32), [lambda: x + 1, lambda: x * 2])


def nested(n):
    i = tf.constant(0)
    while i < n:
        j = i
        while j > 0:
            j -= 1
        i += 1
    return i


@pytest.mark.parametrize(
    "fn, argument, parts",
    [
        (branch_and_loop, 1.0, {"then branch", "else branch", "condition", "body"}),
        (switched, 1.0, {"branch"}),
        (nested, 3, {"condition", "body"}),
        (tf.function(lambda x: tf.function(lambda y: y + 1)(x)), 1.0, {"body"}),
    ],
)
def test_functions_of_an_op_are_told_by_what_they_are_of_it(fn, argument, parts):
    graph = build_graph(tf.function(fn), tf.constant(argument))
    told = {node.label: node.detail for node in graph.nodes if " of " in node.detail}
    assert {detail.partition(" of ")[0] for detail in told.values()} == parts
    assert told.get("cond", "condition of ").startswith("condition of ")


def test_a_body_that_two_nodes_call_is_drawn_once():
    @tf.function
    def inner(x):
        return x + 1

    graph = build_graph(lambda x: inner(x) + inner(x), tf.TensorSpec([]))
    assert [node.op for node in graph.nodes].count("body") == 1
    body = next(node.key for node in graph.nodes if node.op == "body")
    assert len(graph.sources(body)) == 2


def test_small_constants_show_their_value_and_large_ones_their_shape():
    values = {"i": [1, 2], "s": b"\x00<", "f": [[1.5, 2.5]] * 9}
    fn = tf.function(lambda: [tf.constant(value, name=name) for name, value in values.items()])
    details = {node.key: node.detail for node in build_graph(fn.get_concrete_function()).nodes}
    assert details["i"] == "Const int32 (2,) = [1, 2]"
    assert details["s"] == "Const string () = b'\\x00<'"
    assert details["f"] == "Const float32 (9, 2)"


def test_a_function_must_have_one_trace_or_be_given_arguments(refused):
    fn = tf.function(lambda x: x)
    refused(ValueError, "no traces", build_graph, fn)
    fn(tf.constant(1)), fn(tf.constant(1.0))
    refused(ValueError, "has 2 traces", build_graph, fn)
    assert len(build_graph(fn, tf.constant(1)).nodes) == 2
    assert fn.experimental_get_tracing_count() == 2


@pytest.mark.parametrize(("thing", "kind"), [(3, "int"), (int, "type"), (affine, "function")])
def test_what_is_no_graph_is_refused_by_its_type_in_one_sentence(thing, kind, refused):
    refused(TypeError, f"not {kind}", build_graph, thing)


def test_an_input_that_is_no_node_is_drawn_as_missing():
    graph = build_graph(graph_def(("a", "NoSuchOp", "ghost:1", "^other")))
    assert graph.node("ghost").kind == "gone"
    assert [edge.label for edge in graph.edges] == ["output 1", "control"]


def test_steps_show_what_could_run_side_by_side():
    listing = build_steps(lambda x: tf.sin(x) * tf.cos(x) + tf.exp(x), tf.TensorSpec([]))
    assert listing.rows[1].nodes == "Sin, Cos, Exp" and listing.widest == 3
    assert listing.path == ("x", "Sin", "mul", "add", "Identity")


def test_a_real_keras_model_folds_to_a_picture_that_says_what_was_folded():
    model = tf.keras.applications.MobileNetV2(weights=None)
    spec = tf.TensorSpec([None, 224, 224, 3])
    graph = build_graph(tf.function(model), spec).find("softmax")
    shown = fold_graph(graph)
    assert len(graph.nodes) > 300 and len(shown.nodes) <= 60
    inside = sum(int(n.detail.split()[0]) for n in shown.nodes if n.kind == "group")
    single = sum(node.kind != "group" for node in shown.nodes)
    assert inside + single == len(graph.nodes)
    assert "Folded:" in diagram.text(graph) and "found:" in diagram.text(graph)
    assert shown.node(shown.found[0]).op == "Softmax"
