"""What a job of the small OneFlow costs beside numpy, torch and TensorFlow; loading an op."""

import tempfile
from functools import partial
from pathlib import Path
from time import perf_counter

from tests.benchmarks.harness import Goal, Missing, needs

FORMULA = "(x > 0) * x"
AT_MOST = {5: 15, 10**6: 1.3}


def goals():
    import numpy as np

    from helpers.mini import oneflow as flow
    from tests.mini.oneflow.folders import KERNEL, RELU, load, predict, write

    files = {**RELU, "py_kernel.py": KERNEL.replace("np.maximum(x, 0)", FORMULA)}
    with tempfile.TemporaryDirectory() as folder, flow.fresh_session():
        relu = load(write(Path(folder), files)).api.relu
        for n, most in AT_MOST.items():
            x = np.random.default_rng(0).normal(size=n).astype(np.float32)
            job = partial(predict(relu, ((n,), "float32")), x)
            bare = partial(kernel, x)
            yield Goal(f"predict job, {n:,} numbers", job, "the bare kernel", bare, at_most=most)
    yield from loading()
    yield from others(5)


def kernel(x):
    return (x > 0) * x


def loading():
    """Yield the goal for an op that is defined in C++, from the cache."""
    from helpers.mini import oneflow as flow
    from helpers.mini.oneflow import cpp_def
    from helpers.safety.folders import Home
    from tests.mini.oneflow.folders import RELU, RELU_CPP, load, write

    if cpp_def.find_compiler() is None:
        raise Missing("no C++ compiler")
    usual = cpp_def.cache_folder
    with tempfile.TemporaryDirectory() as folder, flow.fresh_session():
        op, cache = Path(folder, "op"), Path(folder, "compiled")
        op.mkdir()
        cache.mkdir()
        cpp_def.cache_folder = lambda: Home(cache)
        try:
            write(op, {**RELU, **RELU_CPP})
            in_cpp, in_python = (partial(load, op, front_end=f"{way}_def") for way in ("cpp", "py"))
            yield Goal(
                "loading an op, C++ definition from the cache",
                in_cpp,
                "Python definition",
                in_python,
                at_most=10,
                clock=perf_counter,
            )
        finally:
            cpp_def.cache_folder = usual


def others(n):
    """Yield the same work as an op of torch and as one of TensorFlow."""
    needs("torch", "tensorflow")
    import numpy as np
    import tensorflow as tf
    import torch

    @torch.library.custom_op("course_benchmark::relu", mutates_args=())
    def relu(t: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(kernel(t.numpy()))

    x = np.random.default_rng(0).normal(size=n).astype(np.float32)
    tensor, constant, bare = torch.from_numpy(x), tf.constant(x), partial(kernel, x)
    ways = {
        "torch.library.custom_op": lambda: relu(tensor),
        "tf.numpy_function": lambda: tf.numpy_function(kernel, [constant], tf.float32).numpy(),
    }
    for name, way in ways.items():
        yield Goal(f"{name}, {n} numbers", way, "the bare kernel", bare)
