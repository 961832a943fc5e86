"""A job is written down once, is data, and computes what numpy computes."""

import sys

import numpy as np
import pytest

from helpers.mini import oneflow as flow
from helpers.mini.oneflow.session import session
from tests.mini.oneflow.folders import RELU, X, edited, load, predict, sgd, tp, train, write


@pytest.fixture
def relu(tmp_path):
    return load(write(tmp_path)).api.relu


def test_job_is_its_op_list(relu):
    job = predict(relu)
    x, op = job.job.ops
    assert (x.name, x.type, x.outputs[0].blob) == ("x", "input", "x/out_0")
    assert (op.name, op.type, op.inputs) == ("myrelu", "user_relu_forward", (("in", "x/out_0"),))
    assert (op.outputs[0].shape, op.outputs[0].dtype) == ((5,), "float32")
    assert (op.attrs, op.placement) == ((("device_sub_tag", "py"),), "cpu")
    assert (op.part, op.file) == ("forward", "user_relu/user_relu_op_def.py")
    said = "  myrelu = user_relu_forward(in=x/out_0) -> myrelu/out_0: float32[5]"
    lines = ["job job (predict), 2 ops", "forward:", "  x = input() -> x/out_0: float32[5]", said]
    assert str(job.job).splitlines() == [*lines, "returns myrelu/out_0"]


def test_backward_ops_are_appended_to_the_forward_ops(relu):
    job = train(relu).job
    assert job.ops[: len(job.forward)] == job.forward
    parts = [op.part for op in job.ops]
    assert parts == sorted(parts, key=["forward", "backward", "update"].index)
    assert [op.name for op in job.ops if op.file] == ["myrelu", "myrelu_grad"]
    grad = next(op for op in job.ops if op.name == "myrelu_grad")
    assert grad.inputs[0] == ("y", "myrelu/out_0")
    assert dict(job.gradients)["broadcast_mul_0/out_0"] == "myrelu_grad/dx_0"
    assert job.ops[-1].type == "sgd_update"
    written = set()
    for op in job.ops:
        assert all(blob in written for _, blob in op.inputs)
        written |= {output.blob for output in op.outputs}


def test_only_a_path_from_a_variable_to_the_loss_gets_gradients(relu):
    @flow.global_function(type="train")
    def job(x: tp.Numpy.Placeholder((5,))) -> tp.Numpy:
        with flow.scope.placement("cpu", "0:0"):
            w = flow.get_variable("w", (5,), initializer=flow.ones_initializer())
            still = flow.get_variable("s", (5,), "float32", flow.ones_initializer(), False)
            aside = relu(x, "aside")
            loss = w * relu(x * still, "before") * aside
        sgd().minimize(loss)
        return loss

    assert [op.name for op in job.job.ops if op.part != "forward" and op.file] == []
    assert [op.name for op in job.job.ops if op.part == "update"] == ["w_update"]
    job(X)
    np.testing.assert_array_equal(flow.get_all_variables()["s"], np.ones(5))


def test_a_watch_sees_values_and_gradients(relu):
    values, diffs = [], []

    @flow.global_function(type="train")
    def job(x: tp.Numpy.Placeholder((5,))) -> tp.Numpy:
        with flow.scope.placement("cpu", "0:0"):
            w = flow.get_variable("w", (5,), initializer=flow.ones_initializer())
            y = relu(w * x)
        flow.watch(y, values.append)
        flow.watch_diff(w, diffs.append)
        sgd(0.5).minimize(y)
        return y

    job(X)
    np.testing.assert_array_equal(values[0], np.maximum(X, 0))
    np.testing.assert_array_equal(diffs[0], np.where(X > 0, X, 0))
    values[0][:] = 9
    np.testing.assert_array_equal(flow.get_all_variables()["w"], 1 - 0.5 * np.where(X > 0, X, 0))


def test_variables_are_shared_between_jobs_by_name(relu):
    training = train(relu)

    @flow.global_function()
    def look() -> tp.Numpy:
        with flow.scope.placement("cpu", "0:0"):
            return flow.get_variable("w", (5,), initializer=flow.zeros_initializer())

    training(X)
    np.testing.assert_array_equal(look(), flow.get_all_variables()["w"])
    look()[:] = 7
    training(X)
    assert not (look() == 7).any()
    flow.load_variables({"w": X})
    np.testing.assert_array_equal(look(), X)


@pytest.mark.parametrize(
    ("initializer", "low", "high"),
    [
        (flow.ones_initializer(), 1, 1),
        (flow.zeros_initializer(), 0, 0),
        (flow.random_uniform_initializer(-2, -1), -2, -1),
    ],
)
def test_initializers(initializer, low, high):
    @flow.global_function()
    def job() -> tp.Numpy:
        with flow.scope.placement("cpu", "0:0"):
            return flow.get_variable("w", (50,), flow.float64, initializer)

    first = job()
    assert low <= first.min() and first.max() <= high
    assert first.dtype == "float64"
    with flow.fresh_session():
        again = flow.global_function()(job.function)()
    np.testing.assert_array_equal(first, again)


def test_arithmetic_is_numpys(relu):
    a, b = X, np.float32([[1], [3]])
    Row, Column, Line = (tp.Numpy.Placeholder(s) for s in ((5,), (2, 1), (1, 2)))  # noqa: N806

    @flow.global_function()
    def job(a: Row, b: Column, c: Line):
        with flow.scope.placement("cpu", "0:0"):
            return (
                a + b, a - b, a * b, -a, a + 1, 1 + a, a - 0.1, 0.1 - a, a * 3, 3 * a,
                flow.math.reduce_sum(a),
                flow.matmul(b, c),
            )  # fmt: skip

    c, d, e = np.float32(0.1), np.float32(3), np.float32(1)
    expected = (
        a + b, a - b, a * b, -a, a + e, e + a, a - c, c - a, a * d, d * a,
        a.sum(), b @ b.T,
    )  # fmt: skip
    for found, value in zip(job(a, b, b.T), expected, strict=True):
        assert found.tobytes() == value.tobytes()


def test_only_an_ops_files_see_the_name(tmp_path):
    op = load(write(tmp_path))
    assert op.api.flow is flow
    assert not [name for name in sys.modules if name.split(".")[0] == "oneflow"]
    with pytest.raises(ModuleNotFoundError):
        import oneflow  # noqa: F401


def test_nothing_is_registered_of_a_folder_that_fails(tmp_path, refused):
    write(tmp_path, edited(RELU, "py_kernel.py", "def forward(args):", "def forward(args)"))
    refused(flow.OpError, "user_relu_py_kernel.py", load, tmp_path)
    assert [op.name for op in session().registry.ops.values() if op.file] == []
