"""A job and the registry as records: what was written down, and where each op belongs."""

import pytest

from helpers import show_job, show_registry
from helpers.capture.oneflow.registry_graph import EMPTY
from helpers.mini import oneflow as flow
from helpers.study.chapter_5.op_jobs import load_op_in_fresh_session
from helpers.study.chapter_5.relu import relu_files
from helpers.view.diagram.job_drawing import draw_job as svg
from tests.capture.made_programs import job

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


def test_registry_shows_what_is_missing():
    with flow.fresh_session():
        assert show_registry().model.note == EMPTY
    files = relu_files()
    definition, _, _ = files["user_relu_op_def.py"].partition("flow.REGISTER_USER_OP_GRAD")
    files["user_relu_op_def.py"] = definition
    with load_op_in_fresh_session("user_relu", files, kernel=False):
        model = show_registry().model
    gone = {node.key for node in model.nodes if node.kind == "gone"}
    kernels = {f"kernel of user_relu_{way}" for way in ("forward", "backward")}
    assert gone == kernels | {"gradient of user_relu_forward"}


def test_registry_counts_the_ops_that_it_does_not_draw(api):
    with flow.fresh_session():
        note = show_registry(job(3)).model.note
        assert note.startswith(f"{EMPTY} 3 ops ")


def test_registry_follows_op_to_type_to_kernel_to_rule(api):
    model = show_registry(two_layers(api)).model
    assert model.targets("op my_user_relu") == ("user_relu_forward",)
    led = {f"{what} of user_relu_forward" for what in ("kernel", "gradient")}
    assert {*model.targets("user_relu_forward")} == led
    kernel = model.node("kernel of user_relu_backward")
    assert kernel.detail == "backward() · user_relu_py_kernel.py"
