"""Variables and how they are trained: initializers, get_variable, and SGD.

Mirrors python/ops/get_variable.py and python/ops/optimizer.py, whose learning rate can change by
steps; here it is constant.
"""

import zlib

import numpy as np

from helpers.mini.oneflow.errors import OpError, need
from helpers.mini.oneflow.job import PLACED, Op, Output, check_placement, writer
from helpers.mini.oneflow.registry import FLOATS, Spec, dtype_name, shape_tuple
from helpers.mini.oneflow.user_op_builder import Blob, own
from helpers.safety.arguments import quote_value


def ones_initializer():
    """All ones. An initializer makes a variable's first value: make(name, shape, dtype)."""
    return lambda name, shape, dtype: np.ones(shape, dtype)


def zeros_initializer():
    """All zeros."""
    return lambda name, shape, dtype: np.zeros(shape, dtype)


def random_uniform_initializer(minval=0, maxval=1):
    """Numbers from minval to maxval, the same in each run: seeded by the variable's name."""

    def make(name, shape, dtype):
        rng = np.random.default_rng(zlib.crc32(name.encode()))
        return rng.uniform(minval, maxval, shape).astype(dtype)

    return make


def get_variable(name, shape=None, dtype="float32", initializer=None, trainable=True):
    """Return the blob of a variable, shared by name between jobs; made on first use."""
    need(type(name) is str and name, f"get_variable takes a name, got {quote_value(name)}")
    job, what = writer(), f'variable "{name}"'
    need(shape is not None, f"{what} has no shape: get_variable(name, shape=(3, 4), ...)")
    spec = Spec(shape_tuple(shape, what), dtype_name(dtype, what))
    told = f"{what} is {spec.dtype}, which cannot be trained; write trainable=False"
    need(not trainable or spec.dtype in FLOATS, told)
    output, variables = Output("out", f"{name}/out_0", *spec), job.session.variables
    if any(op.name == name and op.type == "variable" for op in job.ops):
        known = job.blobs[output.blob]
        need(known.spec == spec, f'{what} is {known.spec} in job "{job.name}", not {spec}')
        return Blob(job, known)
    check_placement(PLACED.get(), f'{what} of job "{job.name}"')
    if name in variables:
        found = Spec(variables[name].shape, variables[name].dtype.name)
        need(found == spec, f"{what} is {found} in another job, not {spec}")
    else:
        try:
            job.session.set_variable(name, initializer(name, *spec))
        except TypeError:  # None, or ones_initializer without its brackets
            raise OpError(f"{what} needs an initializer: flow.ones_initializer()") from None
    job.append(Op(name, "variable", (), (output,), (("trainable", trainable),)))
    if trainable:
        job.trainable.append(output.blob)
    return Blob(job, output)


class PiecewiseConstantScheduler:
    """A learning rate, the same in all steps: boundaries between several are left out here."""

    def __init__(self, boundaries, values):
        told = "PiecewiseConstantScheduler: the learning rate is constant here, as in ([], [0.1])"
        need(not boundaries and len(values) == 1, told)
        self.rate = float(values[0])


class SGD:
    """v = momentum * v + rate * gradient; variable - v. The momentum is 0.9, as in the original."""

    def __init__(self, lr_scheduler, momentum=0.9):
        told = "SGD takes a scheduler: flow.optimizer.PiecewiseConstantScheduler([], [0.1])"
        need(isinstance(lr_scheduler, PiecewiseConstantScheduler), told)
        self.rate, self.momentum = lr_scheduler.rate, float(momentum)

    def minimize(self, loss):
        """Make the job train its variables: gradients of the loss, then an update of each."""
        job = writer()
        own(loss, "minimize(loss)")
        told = f'job "{job.name}": minimize(loss) needs @flow.global_function(type="train")'
        need(job.kind == "train", told)
        need(job.loss is None, f'job "{job.name}" calls minimize(loss) twice')
        job.loss, job.optimizer = loss, self

    def next(self, value, gradient, velocity):
        """Return the next value of a variable and its next velocity."""
        change = gradient * gradient.dtype.type(self.rate)
        if self.momentum and velocity is not None:
            change = velocity * value.dtype.type(self.momentum) + change
        return value - change, change if self.momentum else None


def append_updates(job):
    """Append an update op for each trainable variable that has a gradient."""
    sgd = job.optimizer
    attrs = (("learning_rate", sgd.rate), ("momentum", sgd.momentum))
    for blob in job.trainable:
        if blob in job.gradients:
            name = f"{blob.removesuffix('/out_0')}_update"
            inputs = (("model", blob), ("model_diff", job.gradients[blob]))
            job.append(Op(name, "sgd_update", inputs, (), attrs, "cpu", "update"))
