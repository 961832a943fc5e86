"""Variables and how they are trained: initializers, get_variable, and SGD.

Mirrors python/ops/get_variable.py and python/ops/optimizer.py, whose learning rate is piecewise
constant here.
"""

import zlib
from bisect import bisect_right

import numpy as np

from helpers.mini.oneflow.errors import OpError, need, shown
from helpers.mini.oneflow.job import PLACED, Op, Output, check_placement, writer
from helpers.mini.oneflow.registry import FLOATS, Spec, dtype_name, is_number, shape_tuple
from helpers.mini.oneflow.user_op_builder import Blob, own


class Initializer:
    """Makes a variable's first value: make(name, seed, shape, dtype) -> array."""

    def __init__(self, make):
        self.make = make


def ones_initializer(dtype="float32"):
    """All ones."""
    return constant_initializer(1, dtype)


def zeros_initializer(dtype="float32"):
    """All zeros."""
    return constant_initializer(0, dtype)


def constant_initializer(value=0, dtype="float32"):
    """All `value`. The variable's own dtype counts; `dtype` is there as in the original."""
    dtype_name(dtype, "constant_initializer")
    return Initializer(lambda name, seed, shape, dtype: np.full(shape, value, dtype))


def random_uniform_initializer(minval=0, maxval=1, dtype="float32"):
    """Numbers from minval to maxval, the same in each run: seeded by the variable's name."""
    need(minval <= maxval, f"random_uniform_initializer: {minval} is above {maxval}")
    dtype_name(dtype, "random_uniform_initializer")

    def make(name, seed, shape, dtype):
        rng = np.random.default_rng(zlib.crc32(name.encode()) if seed is None else seed)
        return rng.uniform(minval, maxval, shape).astype(dtype)

    return Initializer(make)


def get_variable(
    name, shape=None, dtype="float32", initializer=None, trainable=True, random_seed=None
):
    """Return the blob of a variable, shared by name between jobs; made on first use."""
    need(type(name) is str and name, f"get_variable takes a name, got {shown(name)}")
    job, what = writer(), f'variable "{name}"'
    need(shape is not None, f"{what} has no shape: get_variable(name, shape=(3, 4), ...)")
    spec = Spec(shape_tuple(shape, what), dtype_name(dtype, what))
    need(
        not trainable or spec.dtype in FLOATS,
        f"{what} is {spec.dtype}, which cannot be trained; write trainable=False",
    )
    output = Output("out", f"{name}/out_0", *spec)
    if any(op.name == name and op.type == "variable" for op in job.ops):
        known = job.blobs[output.blob]
        need(known.spec == spec, f'{what} is {known.spec} in job "{job.name}", not {spec}')
        return Blob(job, known)
    check_placement(PLACED.get(), f'{what} of job "{job.name}"')
    _make(job.session, name, spec, initializer, random_seed)
    job.append(Op(name, "variable", (), (output,), (("trainable", trainable),)))
    if trainable:
        job.trainable.append(output.blob)
    return Blob(job, output)


def _make(session, name, spec, initializer, seed):
    """Make the first value, unless another job has made the variable."""
    known = session.variables.get(name)
    if known is None:
        need(
            isinstance(initializer, Initializer),
            f'variable "{name}" needs an initializer such as flow.ones_initializer(), '
            f"got {shown(initializer)}",
        )
        session.set_variable(name, initializer.make(name, seed, *spec))
        return
    if (found := Spec(known.shape, known.dtype.name)) != spec:
        raise OpError(f'variable "{name}" is {found} in another job, not {spec}')


class PiecewiseConstantScheduler:
    """values[0] before step boundaries[0], then values[1] until boundaries[1], and so on."""

    def __init__(self, boundaries, values):
        what = "PiecewiseConstantScheduler(boundaries, values)"
        need(
            len(values) == len(boundaries) + 1,
            f"{what}: one value more than boundaries, as in ([], [0.1]); "
            f"got {len(boundaries)} and {len(values)}",
        )
        growing = list(boundaries) == sorted(boundaries)
        need(growing, f"{what}: boundaries are growing step numbers, got {shown(boundaries)}")
        for value in values:
            need(is_number(value), f"{what}: a learning rate is a number, got {shown(value)}")
        self.boundaries, self.values = tuple(boundaries), tuple(map(float, values))

    def __call__(self, count):
        """Return the learning rate of a step, counted from 0."""
        return self.values[bisect_right(self.boundaries, count)]


class SGD:
    """v = momentum * v + rate * gradient; variable - v. The momentum is 0.9, as in the original."""

    def __init__(self, lr_scheduler, momentum=0.9):
        need(
            isinstance(lr_scheduler, PiecewiseConstantScheduler),
            f"SGD takes a scheduler, got {shown(lr_scheduler)}; write "
            "flow.optimizer.SGD(flow.optimizer.PiecewiseConstantScheduler([], [0.1]))",
        )
        fine = is_number(momentum) and 0 <= momentum < 1
        need(fine, f"SGD: momentum is a number from 0 to less than 1, got {shown(momentum)}")
        self.rate, self.momentum = lr_scheduler, float(momentum)

    def minimize(self, loss):
        """Make the job train its variables: gradients of the loss, then an update of each."""
        job = writer()
        own(loss, "minimize(loss)")
        need(
            job.kind == "train",
            f'job "{job.name}": minimize(loss) needs @flow.global_function(type="train")',
        )
        need(job.loss is None, f'job "{job.name}" calls minimize(loss) twice')
        job.loss, job.optimizer = loss, self

    def next(self, value, gradient, velocity, count):
        """Return the next value of a variable and its next velocity."""
        change = gradient * gradient.dtype.type(self.rate(count))
        if self.momentum and velocity is not None:
            change = velocity * value.dtype.type(self.momentum) + change
        return value - change, change if self.momentum else None


def append_updates(job):
    """Append an update op for each trainable variable that has a gradient."""
    sgd = job.optimizer
    attrs = (
        ("learning_rates", sgd.rate.values),
        ("boundaries", sgd.rate.boundaries),
        ("momentum", sgd.momentum),
    )
    for blob in job.trainable:
        if blob in job.gradients:
            name = f"{blob.removesuffix('/out_0')}_update"
            inputs = (("model", blob), ("model_diff", job.gradients[blob]))
            job.append(Op(name, "sgd_update", inputs, (), attrs, "cpu", "update"))
