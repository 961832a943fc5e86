"""What a job of the small OneFlow costs, as ratios within one run: numpy, torch, TensorFlow."""

import time

import numpy as np
import pytest

from helpers.mini import oneflow as flow
from helpers.mini.oneflow import compiling
from helpers.safety.folders import Home
from tests.mini.oneflow.folders import KERNEL, RELU, RELU_CPP, load, predict, write

pytestmark = pytest.mark.own_process

FORMULA = "(x > 0) * x"
BOUNDS = {5: 15.0, 10**6: 1.3}
ROUNDS = 15


def kernel(x):
    return (x > 0) * x


def least(works, calls):
    """Return the least time of each work; the rounds take turns, so that noise meets all."""
    times = {name: [] for name in works}
    for _ in range(ROUNDS):
        for name, work in works.items():
            start = time.perf_counter()
            for _ in range(calls):
                work()
            times[name].append(time.perf_counter() - start)
    return {name: min(measured) for name, measured in times.items()}


@pytest.fixture
def relu(tmp_path):
    files = {**RELU, "py_kernel.py": KERNEL.replace("np.maximum(x, 0)", FORMULA)}
    with flow.fresh_session():
        yield load(write(tmp_path, files)).api.relu


@pytest.mark.parametrize("n", BOUNDS)
def test_a_call_of_a_predict_job(n, relu, record_property):
    x = np.random.default_rng(0).normal(size=n).astype(np.float32)
    job = predict(relu, ((n,), "float32"))
    works = {"numpy": lambda: kernel(x), "job": lambda: job(x), **others(x)}
    calls = 200 if n < 1000 else 5
    for _attempt in range(3):
        found = least(works, calls)
        ratios = {name: round(found[name] / found["numpy"], 2) for name in found}
        if ratios["job"] <= BOUNDS[n]:
            break
    record_property(f"times the bare kernel at n={n}", ratios)
    print(f"n={n}: {ratios}")
    assert ratios["job"] <= BOUNDS[n]


def others(x):
    """Return the same work as an op of torch and as one of TensorFlow, if they are there."""
    torch = pytest.importorskip("torch")
    tf = pytest.importorskip("tensorflow")

    if not hasattr(torch.ops.course_benchmark, "relu"):

        @torch.library.custom_op("course_benchmark::relu", mutates_args=())
        def relu(t: torch.Tensor) -> torch.Tensor:
            return torch.from_numpy(kernel(t.numpy()))

    tensor, constant = torch.from_numpy(x), tf.constant(x)
    return {
        "torch custom_op": lambda: torch.ops.course_benchmark.relu(tensor),
        "tf.numpy_function": lambda: tf.numpy_function(kernel, [constant], tf.float32).numpy(),
    }


def test_loading_an_op(tmp_path, record_property, monkeypatch):
    if compiling.find_compiler() is None:
        pytest.skip("no C++ compiler on this machine")
    cache = tmp_path / "compiled"
    cache.mkdir()
    monkeypatch.setattr(compiling, "cache_folder", lambda: Home(cache))
    write(tmp_path, {**RELU, **RELU_CPP})
    with flow.fresh_session():
        load(tmp_path, front_end="cpp_def")
        works = {
            way: lambda way=way: load(tmp_path, front_end=way) for way in ("py_def", "cpp_def")
        }
        found = least(works, 5)
    ratio = found["cpp_def"] / found["py_def"]
    record_property("Python-defined op, milliseconds", round(found["py_def"] / 5 * 1000, 2))
    record_property("cached C++ definition, times as slow", round(ratio, 2))
    print(f"{found['py_def'] / 5 * 1000:.2f} ms; C++ from the cache: {ratio:.2f} times that")
    assert ratio <= 10
