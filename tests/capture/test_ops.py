"""The log of ops: every op of either framework, who asked for it, and no hook left behind."""

import pytest

from helpers import watch_traces
from helpers.capture.frameworks.executed_ops import (
    COMPILED_NOTE,
    LEFT_OUT_NOTE,
    join_op_logs,
    record_ops,
)
from helpers.capture.tensorflow.eager_context import read_callbacks, recording_op_names
from helpers.capture.torch.grad_fn_graph import build_grad_fn_graph
from helpers.model.graphs import split_graph
from helpers.model.op_records import AGAIN, build_op_graph

pytestmark = pytest.mark.own_process(sharing="tensorflow")
torch = pytest.importorskip("torch")
tf = pytest.importorskip("tensorflow")


@pytest.fixture(scope="module")
def point():
    return tf.constant([[1.0, 2.0]])


@pytest.fixture(scope="module")
def step(point):
    weight = tf.Variable([[0.5], [0.25]])
    optimizer = tf.keras.optimizers.SGD(0.1)
    optimizer.build([weight])

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((point @ weight) ** 2)
        optimizer.apply_gradients([(tape.gradient(loss, weight), weight)])

    return step


def torch_step_of(weight):
    point = torch.tensor([[1.0, 2.0]])

    def torch_step():
        weight.grad = None
        ((point @ weight) ** 2).sum().backward()
        with torch.no_grad():
            weight.sub_(weight.grad)

    return torch_step


def test_the_log_agrees_with_tensorflow_s_own_callback_and_stages_are_told_apart(step):
    with recording_op_names() as seen:
        log = record_ops(step)
    assert list(log.ops) == seen
    assert log.stage("forward") == ("ReadVariableOp", "MatMul", "Pow", "Sum")
    assert {"Reshape", "Tile", "MatMul"} <= set(log.stage("backward"))
    assert "AssignSubVariableOp" in log.stage("update")
    assert log.rows[1].inputs == "point: float32 [1, 2], float32 [2, 1]"
    assert log.rows[0].inputs == "weight: resource []"


def test_a_layer_and_its_weights_are_named(point):
    dense = tf.keras.layers.Dense(2, activation="relu", name="front")
    dense(point)
    log = record_ops(dense, point)
    assert log.ops == ("ReadVariableOp", "MatMul", "ReadVariableOp", "BiasAdd", "Relu")
    assert log.rows[0].inputs == "front/kernel: resource []"


def test_torch_forward_backward_update():
    log = record_ops(torch_step_of(torch.ones(2, 1, requires_grad=True)))
    assert log.stage("forward")[:3] == ("aten.mm", "aten.pow", "aten.sum")
    assert "aten.mm" in log.stage("backward") and log.stage("update") == ("aten.sub_",)
    assert log.rows[0].inputs == "point: float32 [1, 2], weight: float32 [2, 1]"
    assert not any("record_function" in op for op in log.ops)


def test_what_reads_a_gradient_comes_after(step):
    log = record_ops(torch_step_scaled)
    assert log.stage("after") == ("aten.mul",) and log.stage("update") == ("aten.sub_",)
    assert not record_ops(step).stage("after") and record_ops(torch_step_scaled) == log


def torch_step_scaled():
    weight = torch.ones(2, 1, requires_grad=True)
    (weight**2).sum().backward()
    with torch.no_grad():
        weight.sub_(0.1 * weight.grad)


def test_a_module_s_parameters_are_named():
    log = record_ops(torch.nn.Linear(2, 3), torch.ones(1, 2))
    assert log.ops == ("aten.t", "aten.addmm")
    assert log.rows[0].inputs == "layer.weight: float32 [3, 2]"


def test_a_tracing_call_shows_graph_and_run_and_no_counter(point):
    traced = tf.function(lambda x: -x, autograph=False)
    log = record_ops(traced, point)
    assert [row.where for row in log.rows][-1] == "eager"
    assert "Neg" in log.ops and log.ops[-1] == "__inference_<lambda>_"
    assert log.columns[-1].heading == "where"
    assert record_ops(traced, point).columns[-1].heading == "stage"


def test_the_graph_keeps_what_backward_reads(step):
    graph = build_op_graph(record_ops(step))
    assert "op 2" in graph.sources("op 9")  # the product, for the gradient of its square
    assert [(e.source, e.target) for e in graph.edges if e.label == AGAIN] == [("op 2", "op 9")]
    both = join_op_logs("both", one=record_ops(step), two=record_ops(step))
    assert len([n for n in both.nodes if n.kind == "group"]) == 2
    assert not [n for n in both.nodes if n.label == "a value"]
    alone = join_op_logs("one", one=record_ops(step))
    assert list(split_graph(both)) == ["one", "two"] and split_graph(alone) == {"": alone}
    assert {len(part.nodes) for part in split_graph(both).values()} == {len(alone.nodes)}


def test_an_error_is_told_and_no_hook_stays(point):
    before = read_callbacks()

    def fails():
        tf.matmul(point, point)

    log = record_ops(fails)
    assert log.ops == () and log.outcome.startswith("InvalidArgumentError: Matrix size")
    assert "InvalidArgumentError" in log.note and read_callbacks() == before


def test_an_unknown_rank_and_many_ops():
    graph = tf.Graph()

    def unknown():
        with graph.as_default():
            tf.identity(tf.compat.v1.placeholder(tf.float32))

    assert record_ops(unknown).rows[0].outputs == "float32 [?]"

    def many():
        for _ in range(600):
            torch.ones(1) + 1

    log = record_ops(many)
    assert len(log.rows) == 500 and LEFT_OUT_NOTE.format(700, 1200) in log.note


def test_grad_fn_is_walked_to_the_leaves():
    w = torch.ones(2, requires_grad=True)
    graph = build_grad_fn_graph((w * w + w).sum())
    labels = [node.label for node in graph.nodes]
    assert labels[0] == "SumBackward0" and labels.count("AccumulateGrad") == 1
    assert len(graph.sources(graph.nodes[labels.index("AccumulateGrad")].key)) == 3


def test_what_has_no_past_is_refused(refused):
    refused(ValueError, "has no grad_fn", build_grad_fn_graph, torch.ones(2))
    refused(TypeError, "needs a tensor of torch, not 3", build_grad_fn_graph, 3)
    refused(TypeError, "watch_ops needs a function and its arguments", record_ops, 3)


def test_only_a_variable_is_updated_in_torch():
    weight, norm = torch.ones(2, 2, requires_grad=True), torch.nn.BatchNorm1d(2)

    def step(x):
        y = norm(torch.nn.functional.relu_(x @ weight))
        y += 1
        with torch.no_grad():
            weight.sub_(y.detach())

    log = record_ops(step, torch.ones(2, 2))
    assert log.stage("update") == ("aten.sub_",) and "aten.relu_" in log.stage("forward")


def test_a_compiled_module_has_its_own_name_and_those_of_its_weights():
    module = torch.nn.Sequential(torch.nn.Linear(2, 2))
    log = record_ops(torch.compile(module, backend="eager"), torch.ones(1, 2))
    assert log.title.startswith("Sequential: ") and COMPILED_NOTE in log.note
    assert "layer.0.weight" in {value.name for row in log.rows for value in row.reads}


def test_fit_of_keras_is_a_call_for_each_batch_and_traced_by_keras_alone(refused):
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Input((2,)), layers.Dense(1, name="last")])
    model.compile("sgd", "mse")
    log = record_ops(lambda: model.fit(tf.ones((6, 2)), tf.ones((6, 1)), batch_size=2, verbose=0))
    calls = [row for row in log.rows if "multi_step_on_iterator" in row.op]
    assert [row.where for row in calls] == ["eager"] * 3
    assert {"forward", "backward", "update"} <= {row.stage for row in log.rows}
    for loop in (model.fit, model.train_function):
        refused(TypeError, "of Keras is a loop in Python", watch_traces, loop)
