"""A job as records: what was written down, and where each op belongs."""

import pytest

from helpers import show_job
from helpers.capture.oneflow.job_graph import (
    GLUE_OPS,
    OWN_OPS_NOTE,
    build_job_graph,
    require_job,
)
from helpers.mini import oneflow as flow
from helpers.mini.oneflow.job import Job, Op, Output
from helpers.model.job_records import Blob, JobOp
from helpers.study.chapter_5.op_jobs import load_op_in_fresh_session
from helpers.study.chapter_5.relu import relu_files
from helpers.view.diagram.job_drawing import draw_job as svg

tp = flow.typing


@pytest.fixture
def api():
    with load_op_in_fresh_session("user_relu", relu_files()) as api:
        yield api


def descend(loss):
    flow.optimizer.SGD(flow.optimizer.PiecewiseConstantScheduler([], [0.1])).minimize(loss)


def two_layers(api, kind="train"):
    @flow.global_function(type=kind)
    def job(x: tp.Numpy.Placeholder((8, 2)), t: tp.Numpy.Placeholder((8, 1))):
        with flow.scope.placement("cpu", "0:0"):
            ones = flow.ones_initializer()
            hidden = api.user_relu_forward(
                flow.matmul(x, flow.get_variable("w1", (2, 4), initializer=ones))
            )
            error = flow.matmul(hidden, flow.get_variable("w2", (4, 1), initializer=ones)) - t
            loss = flow.math.reduce_sum(error * error)
            if kind == "train":
                descend(loss)
            return loss

    return job


def test_all_ops_of_the_job_are_there_in_order(api):
    job = two_layers(api)
    model = show_job(job).model
    assert [op.name for op in model.ops] == [op.name for op in job.job.ops]
    assert model.counts == {"input": 2, "variable": 2, "forward": 6, "backward": 9, "update": 2}


def test_a_gradient_that_reads_a_matrix_the_other_way_says_so(api):
    model = show_job(two_layers(api)).model
    flipped = {op.name: op.attrs for op in model.ops if op.type == "matmul" and op.attrs}
    assert flipped == {
        "matmul_1_grad_0": (("transpose_b", "True"),),
        "matmul_1_grad_1": (("transpose_a", "True"),),
        "matmul_0_grad_0": (("transpose_a", "True"),),
    }
    assert not any(op.attrs for op in model.ops if op.type in ("user_relu_forward", "sgd_update"))


def test_what_is_returned_is_told(api):
    exhibit = show_job(two_layers(api))
    assert exhibit.model.returns == ("reduce_sum_0/out_0",)
    assert ">returned<" in svg(exhibit.model)


def test_one_pass_can_be_asked_for(api):
    model = show_job(two_layers(api), part="backward").model
    assert set(model.counts) == {"input", "variable", "backward"}
    with pytest.raises(ValueError, match="'sideways'"):
        show_job(two_layers(api), part="sideways")


def test_backward_ops_stand_beside_their_forward_op(api):
    model = show_job(two_layers(api)).model
    near = {op.name: op.near for op in model.ops if op.part in ("backward", "update")}
    asked = {"my_user_relu_grad": "my_user_relu", "matmul_0_grad_0": "matmul_0", "w1_update": "w1"}
    asked |= {"add_n_grad_0": "broadcast_sub_0", "constant_like_grad_0": "reduce_sum_0"}
    assert asked.items() <= near.items()


def test_job_that_cannot_be_written_says_why(api, refused):
    @flow.global_function()
    def broken(x: tp.Numpy.Placeholder((5,))):
        return api.user_relu_forward(x)

    refused(flow.OpError, "placement", show_job, broken)


def add_op(name, type_name, reads=(), writes=(), part="forward", **fields):
    """Return an op that reads and writes blobs of these names."""
    inputs = tuple((f"in_{index}", blob) for index, blob in enumerate(reads))
    outputs = tuple(Output(f"out_{n}", blob, (2, 3), "float32") for n, blob in enumerate(writes))
    return Op(name, type_name, inputs, outputs, part=part, **fields)


X = add_op("x", "input", writes=["x"])
W = add_op("w", "variable", writes=["w"])
MATMUL = add_op(
    "mul",
    "matmul",
    ["x", "w"],
    ["y"],
    attrs=(("transpose_a", False), ("alpha", 0.5), ("device_sub_tag", "cpu"), ("count", 0)),
    file="/a.py",
)
RELU = add_op("relu", "relu", ["y"], ["z"])
ONE = add_op("one", "constant_like", ["z"], ["dz"], "backward")
RELU_BACK = add_op("back", "relu_grad", ["dz", "y"], ["dy"], "backward")
MATMUL_BACK = add_op("grad", "matmul", ["dy", "x"], ["dw"], "backward")
UPDATE = add_op("step", "sgd", ["w", "dw"], [], "update")
GRADIENTS = (("z", "dz"), ("y", "dy"), ("w", "dw"))
TRAINING = Job(
    "train_job",
    "train",
    (X, W, MATMUL, RELU, ONE, RELU_BACK, MATMUL_BACK, UPDATE),
    ("z",),
    GRADIENTS,
)


def find_neighbours(*ops, gradients=GRADIENTS):
    written_blobs = {output.blob for op in ops for output in op.outputs}
    gradients = tuple(pair for pair in gradients if pair[0] in written_blobs)
    graph = build_job_graph(Job("j", "train", ops, (), gradients))
    return {op.name: op.near for op in graph.ops if op.part in ("backward", "update")}


def test_an_op_is_recorded_with_what_it_reads_and_writes():
    graph = build_job_graph(TRAINING)
    assert graph.title == "Job train_job (train)"
    assert graph.returns == ("z",)
    assert [op.name for op in graph.ops] == [op.name for op in TRAINING.ops]
    assert graph.ops[2] == JobOp(
        name="mul",
        type="matmul",
        part="forward",
        reads=(("in_0", "x"), ("in_1", "w")),
        writes=(("out_0", Blob("y", "float32", (2, 3))),),
        near="",
        own=True,
        attrs=(("alpha", "0.5"), ("count", "0")),
    )
    assert [op.own for op in graph.ops].count(True) == 1


def test_inputs_variables_and_updates_show_no_attributes():
    attributes = (("alpha", 1),)
    parts = {"x": ("input", "forward"), "w": ("variable", "forward"), "u": ("sgd", "update")}
    ops = [
        add_op(name, type_name, part=part, attrs=attributes)
        for name, (type_name, part) in parts.items()
    ]
    ops.append(add_op("b", "relu_grad", part="backward", attrs=attributes))
    recorded = build_job_graph(Job("j", "train", tuple(ops), ())).ops
    assert [op.part for op in recorded] == ["input", "variable", "update", "backward"]
    assert [op.attrs for op in recorded] == [(), (), (), (("alpha", "1"),)]


def test_the_note_counts_the_ops_of_each_pass():
    note = build_job_graph(TRAINING).note
    counts = "1 input, 1 variable, 2 forward ops, 3 backward ops, 1 update."
    assert note == counts + OWN_OPS_NOTE
    forward = add_op("double", "add", ["x", "x"], ["y"])
    note = build_job_graph(Job("j", "predict", (X, X, forward), ())).note
    assert note == "2 inputs, 1 forward op."


@pytest.mark.parametrize(
    ("part", "names", "returns"),
    [
        ("forward", ["x", "w", "mul", "relu"], ("z",)),
        ("backward", ["x", "w", "one", "back", "grad"], ()),
        ("update", ["x", "w", "step"], ()),
    ],
)
def test_one_pass_has_its_ops_and_what_comes_from_outside(part, names, returns):
    graph = build_job_graph(TRAINING, part)
    assert [op.name for op in graph.ops] == names
    assert graph.returns == returns


def test_anything_but_a_job_and_a_pass_is_refused(refused):
    refused(TypeError, "global_function", build_job_graph, 3)
    refused(ValueError, "sideways", build_job_graph, TRAINING, "sideways")
    refused(TypeError, "part", build_job_graph, TRAINING, 3)
    assert require_job(TRAINING) is TRAINING


def test_each_backward_op_is_beside_the_op_whose_gradient_it_reads():
    assert find_neighbours(*TRAINING.ops) == {
        "one": "relu",
        "back": "relu",
        "grad": "mul",
        "step": "w",
    }


def test_an_op_that_reads_no_gradient_goes_with_its_neighbour():
    inner = add_op("inner", "tanh_grad", ["dz"], ["inner"], "backward")
    last = add_op("last", "mul", ["inner"], ["dy"], "backward")
    assert find_neighbours(X, W, MATMUL, RELU, ONE, inner, last)["last"] == "relu"


def test_an_op_without_such_a_neighbour_goes_with_the_gradient_it_writes():
    seed = add_op("seed", "ones", ["x"], ["dy"], "backward")
    assert find_neighbours(X, W, MATMUL, seed)["seed"] == "mul"
    assert find_neighbours(X, W, MATMUL, seed, gradients=())["seed"] == ""


def test_a_gradient_is_named_after_its_forward_op():
    named = add_op("relu_grad_0", "relu_grad", ["dy", "dz"], ["dx"], "backward")
    plain = add_op("other", "relu_grad", ["dy", "dz"], ["dx"], "backward")
    ops = (X, W, MATMUL, RELU, ONE, RELU_BACK)
    assert find_neighbours(*ops, named)["relu_grad_0"] == "relu"
    assert find_neighbours(*ops, plain)["other"] == "mul"


@pytest.mark.parametrize("glue", GLUE_OPS)
def test_glue_goes_with_the_last_op_whose_gradient_it_writes(glue):
    both = (("y", "shared"), ("z", "shared"))
    total = add_op("total", glue, ["x"], ["shared"], "backward")
    ops = (X, W, MATMUL, RELU)
    assert find_neighbours(*ops, total, gradients=both)["total"] == "relu"
    reads = add_op("total", glue, ["dz"], ["dy"], "backward")
    assert find_neighbours(*ops, ONE, reads)["total"] == "mul"
    only_reads = add_op("total", glue, ["dz"], ["sum"], "backward")
    assert find_neighbours(*ops, ONE, only_reads)["total"] == "relu"


def test_an_update_goes_with_its_variable_or_with_nothing():
    assert find_neighbours(X, add_op("step", "sgd", [], [], "update")) == {"step": ""}
