"""Values and gradients are torch's bit for bit, in float32, where the formula is the same."""

import numpy as np
import pytest

from helpers.mini import oneflow as flow
from tests.mini.oneflow.folders import KERNEL, RELU, load, predict, train, write

pytestmark = pytest.mark.own_process(sharing="torch")

SHAPES = [(5,), (), (0,), (1, 1), (64, 33), (2, 3, 4), (1000,)]


def numbers(shape):
    """Return float32 numbers of all sizes, with the special ones first."""
    rng = np.random.default_rng(3)
    values = rng.normal(size=shape) * 10.0 ** rng.integers(-30, 30, size=shape)
    flat = values.astype(np.float32).reshape(-1)
    special = np.float32([np.nan, -0.0, 0.0, np.inf, 1e-45, 1.0, -1.0])[: flat.size]
    flat[: special.size] = special
    return flat.reshape(shape)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_relu_is_torchs(shape, tmp_path):
    torch = pytest.importorskip("torch")
    kernel = KERNEL.replace("np.maximum(x, 0)", "np.where(x < 0, np.float32(0), x)")
    relu = load(write(tmp_path, {**RELU, "py_kernel.py": kernel})).api.relu
    x, seen = numbers(shape), []
    w = torch.ones(shape, requires_grad=True)
    y = torch.relu(w * torch.from_numpy(x.copy()))
    y.sum().backward()
    assert predict(relu, (shape, "float32"))(x).tobytes() == y.detach().numpy().tobytes()
    with np.errstate(all="ignore"):
        train(relu, (shape, "float32"), seen)(x)
    fine = ~np.isnan(x)
    assert seen[0][fine].tobytes() == w.grad.numpy()[fine].tobytes()


def test_arithmetic_and_its_gradients_are_torchs():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    x, row = rng.normal(size=(4, 3)).astype("f"), rng.normal(size=(3,)).astype("f")
    seen = {}

    def formula(w, b, x):
        y = w * x - b
        return (y * y + 0.25) / 3 - y

    @flow.global_function(type="train")
    def job(x: flow.typing.Numpy.Placeholder((4, 3))) -> flow.typing.Numpy:
        with flow.scope.placement("cpu", "0:0"):
            w = flow.get_variable("w", (4, 3), initializer=flow.ones_initializer())
            b = flow.get_variable("b", (3,), initializer=flow.ones_initializer())
            y = formula(w, b, x)
        for name, blob in (("w", w), ("b", b)):
            flow.watch_diff(blob, lambda array, name=name: seen.update({name: array}))
        rate = flow.optimizer.PiecewiseConstantScheduler([], [0.1])
        flow.optimizer.SGD(rate).minimize(y)
        return y

    w, b = torch.ones(4, 3, requires_grad=True), torch.ones(3, requires_grad=True)
    y = formula(w, b, torch.from_numpy(x))
    y.sum().backward()
    assert job(x).tobytes() == y.detach().numpy().tobytes()
    assert seen["w"].tobytes() == w.grad.numpy().tobytes()
    assert seen["b"].tobytes() == b.grad.numpy().tobytes()
