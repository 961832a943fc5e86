"""What a job function works with: blobs, user_op_builder for a new op, variables, and SGD. A *blob*
is a named array of the job. While the job function runs, a blob has a shape and a dtype but no
numbers. Arithmetic on blobs appends built-in ops to the job.

Mirrors oneflow/python/ops: user_op_builder.py, get_variable.py, and optimizer.py, whose learning
rate can change by steps; here it is constant.
"""

# ruff: noqa: D102 - the names are the original's, and say what they do

import zlib

import numpy as np

from ...safety.arguments import quote_value, real_type_name
from .autodiff import Request
from .errors import OpError, require
from .job import CURRENT_DEVICE, Op, Output, check_placement, current_writer
from .registry import FLOATS, Spec, is_plain_list, make_spec


class Blob:
    """An array of a job without its numbers: `name`, `shape` and `dtype`."""

    def __init__(self, owner, output):
        """Make the Blob of an Output. `owner` is the Writer of the job that it belongs to."""
        self.owner = owner
        self.name = output.blob
        self.shape = output.shape
        self.dtype = output.dtype
        self._output = output

    def __repr__(self):
        return f"Blob({self._output})"

    def __add__(self, other):
        if isinstance(other, Blob):
            return append_built_in("broadcast_add", [self, other])
        self._require_number(other)
        return append_built_in("scalar_add", [self], operand=float(other))

    def __mul__(self, other):
        if isinstance(other, Blob):
            return append_built_in("broadcast_mul", [self, other])
        self._require_number(other)
        return append_built_in("scalar_mul", [self], operand=float(other))

    def __sub__(self, other):
        if isinstance(other, Blob):
            return append_built_in("broadcast_sub", [self, other])
        self._require_number(other)
        return append_built_in("scalar_add", [self], operand=float(-other))

    __radd__ = __add__
    __rmul__ = __mul__

    def _require_number(self, other):
        """Raise OpError unless the other operand is a number."""
        require(
            isinstance(other, (int, float, np.integer, np.floating)),
            f"{self!r} and {real_type_name(other)}: arithmetic needs another blob or a number; "
            "an array enters through a placeholder or get_variable",
        )

    def __rsub__(self, other):
        return -self + other

    def __neg__(self):
        return self * -1

    def _no_value(self, *_, **__):
        """Raise OpError. Each special method that needs the numbers of the blob is this one."""
        raise OpError(
            f"{self!r} has no value while the job is being written down; "
            "a kernel sees its value when the job is called"
        )

    __bool__ = _no_value
    __float__ = _no_value
    __int__ = _no_value
    __len__ = _no_value
    __iter__ = _no_value
    __lt__ = _no_value
    __gt__ = _no_value
    __getitem__ = _no_value
    __array__ = _no_value
    __array_ufunc__ = _no_value
    __array_function__ = _no_value


def require_blob_of_job(blob, subject):
    """Return `blob` if it is a Blob of the current job, else raise OpError.

    `subject` begins the message.
    """
    require(isinstance(blob, Blob), f"{subject} takes blobs of the job, not {real_type_name(blob)}")
    require(
        blob.owner is current_writer(),
        f'{subject}: {blob} belongs to another job, "{blob.owner.name}"',
    )
    return blob


def append_built_in(type_name, blobs, **attrs):
    """Append a built-in op to the current job; return the Blob of its only output."""
    job = current_writer()
    names = [require_blob_of_job(blob, type_name).name for blob in blobs]
    request = Request.built_in(job.new_name(type_name), type_name, names, attrs)
    return Blob(job, job.add(request)[0])


def matmul(a, b):
    """Multiply two matrices. Mirrors flow.matmul."""
    return append_built_in("matmul", [a, b], transpose_a=False, transpose_b=False)


def reduce_sum(blob):
    """Add up all numbers to a blob of shape (). Mirrors flow.math.reduce_sum without axis."""
    return append_built_in("reduce_sum", [blob])


class user_op_builder(Request):  # noqa: N801 - the original's name
    """An op under construction; its name must be new in the job."""

    def __init__(self, op_name):
        """Begin an op of the job that is being written down."""
        super().__init__(op_name)
        self._job = current_writer()
        self._requested = None  # names of the outputs in the order of .Output(), after .Build()
        self._blobs = None  # their Blobs, after .InferAndTryRun()
        is_name = type(op_name) is str and op_name and "/" not in op_name
        require(
            is_name, f"user_op_builder needs the op's name in the job, got {quote_value(op_name)}"
        )

    def Input(self, input_name, input_blobs):
        subject = f'op "{self.name}": .Input("{input_name}", ...)'
        shown = "x" if isinstance(input_blobs, Blob) else quote_value(input_blobs)
        require(
            is_plain_list(input_blobs), f"{subject} needs a list of blobs: write [x], not {shown}"
        )
        self.inputs += [
            (input_name, require_blob_of_job(blob, subject).name) for blob in input_blobs
        ]
        return self

    def Build(self):
        """Check the op against the definition of its op type; OpError if it does not fit."""
        self._requested = list(self.outputs)
        self._placement = CURRENT_DEVICE.get()
        self._job.fill_in_request(self, self._placement)
        return self

    def InferAndTryRun(self):
        """Infer the outputs and append the op to the job."""
        require(
            self._requested is not None, f'op "{self.name}" does not fit yet: call .Build() first'
        )
        added = self._job.add(self, placement=self._placement)
        blobs_by_output = {output.argument: Blob(self._job, output) for output in added}
        self._blobs = tuple(blobs_by_output[name] for name in self._requested)
        return self

    def RemoteBlobList(self):
        """Return the outputs, a tuple in the order of the .Output() calls."""
        require(self._blobs is not None, f'op "{self.name}" is not in the job: .InferAndTryRun()')
        return self._blobs

    def SoleOutputBlob(self):
        """Return the only output."""
        first, *others = self.RemoteBlobList()
        count = len(others) + 1
        require(not others, f'op "{self.name}" has {count} outputs; use .RemoteBlobList()')
        return first


def ones_initializer():
    """Return an initializer that makes ones.

    An initializer is a function (name, shape, dtype) -> the first value of a variable.
    """
    return lambda name, shape, dtype: np.ones(shape, dtype)


def zeros_initializer():
    """Return an initializer that makes zeros."""
    return lambda name, shape, dtype: np.zeros(shape, dtype)


def random_uniform_initializer(minval=0, maxval=1):
    """Return an initializer that makes random numbers from minval to maxval.

    The variable's name is the seed, so the numbers are the same in each run.
    """

    def make(name, shape, dtype):
        rng = np.random.default_rng(zlib.crc32(name.encode()))
        return rng.uniform(minval, maxval, shape).astype(dtype)

    return make


def get_variable(name, shape=None, dtype="float32", initializer=None, trainable=True):
    """Return the blob of a variable. Jobs of a session share a variable by its name.

    The first use needs an initializer, which makes its value. OpError if the variable has another
    shape or dtype already.
    """
    job = current_writer()
    subject = f'variable "{name}"'
    require(shape is not None, f"{subject} has no shape: get_variable(name, shape=(3, 4), ...)")
    spec = make_spec(shape, dtype, subject)
    require(
        not trainable or spec.dtype in FLOATS, f"{subject} is {spec.dtype}: write trainable=False"
    )

    # A job may get a variable twice. If an op of another type has the name, `append` raises
    # OpError.
    is_new = (name, "variable") not in [(op.name, op.type) for op in job.ops]
    if is_new:
        check_placement(CURRENT_DEVICE.get(), f'{subject} of job "{job.name}"')
    _set_first_value(job.session, name, spec, initializer)
    output = Output("out", f"{name}/out_0", *spec)
    if is_new:
        job.append(Op(name, "variable", (), (output,), (("trainable", trainable),)))
        if trainable:
            job.trainable.append(output.blob)
    return Blob(job, output)


def _set_first_value(session, name, spec, initializer):
    """Set the value of a variable that has none in the session yet.

    OpError if it has a value of another shape or dtype, or if there is no initializer.
    """
    subject = f'variable "{name}"'
    if name in session.variables:
        array = session.variables[name]
        found = Spec(array.shape, array.dtype.name)
        require(found == spec, f"{subject} is {found} already, not {spec}")
    else:
        require(initializer is not None, f"{subject} needs an initializer: flow.ones_initializer()")
        session.set_variable(name, initializer(name, *spec))


class PiecewiseConstantScheduler:
    """A constant learning rate. OneFlow's can change at boundaries; here there must be none."""

    def __init__(self, boundaries, values):
        require(not boundaries and len(values) == 1, "the rate is constant here, as in ([], [0.1])")
        self.rate = float(values[0])


class SGD:
    """Stochastic gradient descent with momentum, which is 0.9 by default, as in OneFlow.

    A step sets velocity = momentum * velocity + rate * gradient, and subtracts the velocity.
    """

    def __init__(self, lr_scheduler, momentum=0.9):
        self.rate = lr_scheduler.rate
        self.momentum = float(momentum)

    def minimize(self, loss):
        """Note the loss, and this optimizer, in the current job, which must be a train job.

        The gradients and the updates are appended after the job function has returned.
        """
        job = require_blob_of_job(loss, "minimize(loss)").owner
        require(job.kind == "train", 'minimize(loss) needs @flow.global_function(type="train")')
        require(job.loss is None, f'job "{job.name}" calls minimize(loss) twice')
        job.loss = loss
        job.optimizer = self

    def append_updates(self, job):
        """Append an update op for each trainable variable that has a gradient."""
        attrs = (("learning_rate", self.rate), ("momentum", self.momentum))
        for blob in job.trainable:
            gradient = job.gradients.get(blob)
            if gradient is None:
                continue
            name = f"{blob.removesuffix('/out_0')}_update"
            inputs = (("model", blob), ("model_diff", gradient))
            job.append(Op(name, "sgd_update", inputs, (), attrs, "cpu", "update"))

    def next(self, value, gradient, velocity):
        """Return (next value of a variable, its next velocity).

        The velocity is None before the first step, and always if there is no momentum.
        """
        change = gradient * gradient.dtype.type(self.rate)
        if not self.momentum:
            return value - change, None
        if velocity is not None:
            change = velocity * value.dtype.type(self.momentum) + change
        return value - change, change
