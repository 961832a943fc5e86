"""A learner's wrapper -> jobs through it: one that predicts, and one that goes back through it."""

import numpy as np

from helpers.capture.text.value import brief
from helpers.mini import oneflow as flow
from helpers.study.check import Unfit


def predict_job_of(wrapper, x: np.ndarray, options):
    """Return a predict job through `wrapper(x, **options)`; it gives a tuple."""

    @flow.global_function()
    def predict_job(x: flow.typing.Numpy.Placeholder(x.shape, dtype=x.dtype.name)):
        with flow.scope.placement("cpu", "0:0"):
            return blobs_of(wrapper, x, options)

    return predict_job


def weighted_job(function, x: np.ndarray):
    """Return a train job through `function`, how to load its weights, and what it saw when run.

    `function(blob)` gives the outputs, whose sum is the loss, each times a weight per number. The
    gradient of `x` is seen as "dx".
    """
    seen, weights, wanted = {}, [], []

    @flow.global_function(type="train")
    def train_job(x: flow.typing.Numpy.Placeholder(x.shape, dtype=x.dtype.name)):
        with flow.scope.placement("cpu", "0:0"):
            given = x + _zeros(x, trainable=True)
            flow.watch_diff(given, lambda array: seen.update(dx=array))
            outputs = tuple(function(given))
            held = [_zeros(y, trainable=False) for y in outputs]
            weights.extend(blob.name.removesuffix("/out_0") for blob in held)
            wanted.extend((tuple(y.shape), y.dtype) for y in outputs)
            parts = [flow.math.reduce_sum(y * dy) for y, dy in zip(outputs, held, strict=True)]
            rate = flow.optimizer.PiecewiseConstantScheduler([], [0.0])
            flow.optimizer.SGD(rate).minimize(sum(parts[1:], parts[0]))
        return outputs

    def load(dys):
        train_job.job  # noqa: B018  written down now, so that the weights are there
        if len(weights) != len(dys):
            raise Unfit(f"the wrapper returns {len(weights)} blob(s), not {len(dys)}")
        for at, (dy, (shape, dtype)) in enumerate(zip(dys, wanted, strict=True)):
            if (dy.shape, dy.dtype.name) != (shape, dtype):
                mine = f"dys[{at}] has shape {dy.shape} and dtype {dy.dtype.name}"
                raise ValueError(f"{mine}; output {at} has {shape} and {dtype}")
        flow.load_variables(dict(zip(weights, dys, strict=True)))

    return train_job, load, seen


def _zeros(like, trainable: bool):
    name = f"variable_{len(flow.get_all_variables())}"
    zeros = flow.zeros_initializer()
    return flow.get_variable(name, like.shape, like.dtype, zeros, trainable=trainable)


def blobs_of(wrapper, x, options) -> tuple:
    """Return the blobs that a wrapper gives, in a tuple; Unfit if it gives something else."""
    result = wrapper(x, **options)
    blobs = tuple(result) if isinstance(result, (tuple, list)) else (result,)
    for blob in blobs or [()]:
        if type(blob) is not type(x):
            name = getattr(wrapper, "__name__", "the wrapper")
            raise Unfit(f"{name} returned {brief(blob)}; it must return a blob")
    return blobs
