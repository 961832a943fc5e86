"""flow.optimizer: SGD with a piecewise constant learning rate. Mirrors python/ops/optimizer.py."""

import math
from bisect import bisect_right

from helpers.mini.oneflow.blobs import own
from helpers.mini.oneflow.dtypes import is_list, is_number
from helpers.mini.oneflow.errors import need, shown
from helpers.mini.oneflow.job import Op
from helpers.mini.oneflow.job_builder import writer
from helpers.safety.arguments import is_a


class PiecewiseConstantScheduler:
    """values[0] before step boundaries[0], then values[1] until boundaries[1], and so on."""

    def __init__(self, boundaries, values):
        what = "PiecewiseConstantScheduler(boundaries, values)"
        for given in (boundaries, values):
            need(is_list(given), f"{what} takes two lists, got {shown(given)}")
        need(
            len(values) == len(boundaries) + 1,
            f"{what}: one value more than boundaries, as in ([], [0.1]); "
            f"got {len(boundaries)} and {len(values)}",
        )
        need(
            all(type(n) is int for n in boundaries) and list(boundaries) == sorted(boundaries),
            f"{what}: boundaries are growing step numbers, got {shown(boundaries)}",
        )
        for value in values:
            fine = is_number(value) and math.isfinite(value)
            need(fine, f"{what}: a learning rate is a finite number, got {shown(value)}")
        self.boundaries, self.values = tuple(boundaries), tuple(map(float, values))

    def __call__(self, count):
        """Return the learning rate of a step, counted from 0."""
        return self.values[bisect_right(self.boundaries, count)]


class SGD:
    """v = momentum * v + rate * gradient; variable - v. The momentum is 0.9, as in the original."""

    def __init__(self, lr_scheduler, momentum=0.9):
        need(
            is_a(lr_scheduler, PiecewiseConstantScheduler),
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
