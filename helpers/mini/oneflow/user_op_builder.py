"""What a job function handles: blobs, the chain that puts an op into the job, variables, SGD.

Blobs are names with a shape and a dtype, no numbers; arithmetic on them appends built-in ops.
Mirrors oneflow/python/ops: user_op_builder.py, get_variable.py, and optimizer.py, whose learning
rate can change by steps; here it is constant.
"""

# ruff: noqa: D102 - the names are the original's, and say what they do

import zlib

import numpy as np

from ...safety.arguments import quote_value, real_type_name
from .autodiff import Request
from .errors import OpError, need
from .job import PLACED, Op, Output, check_placement, writer
from .registry import FLOATS, Spec, checked_spec, is_list


class Blob:
    """What a job function handles: `name`, `shape`, `dtype`. It belongs to one job."""

    def __init__(self, owner, output):
        """Stand for an Output of a job; `owner` is the job's Writer."""
        self.owner = owner
        self.name = output.blob
        self.shape = output.shape
        self.dtype = output.dtype
        self._output = output

    def __repr__(self):
        return f"Blob({self._output})"

    def __add__(self, other):
        if isinstance(other, Blob):
            return emit("broadcast_add", [self, other])
        self._require_number(other)
        return emit("scalar_add", [self], operand=float(other))

    def __mul__(self, other):
        if isinstance(other, Blob):
            return emit("broadcast_mul", [self, other])
        self._require_number(other)
        return emit("scalar_mul", [self], operand=float(other))

    def __sub__(self, other):
        if isinstance(other, Blob):
            return emit("broadcast_sub", [self, other])
        self._require_number(other)
        return emit("scalar_add", [self], operand=float(-other))

    __radd__ = __add__
    __rmul__ = __mul__

    def _require_number(self, other):
        """Raise OpError if the other operand is no number."""
        need(
            isinstance(other, (int, float, np.integer, np.floating)),
            f"{self!r} and {real_type_name(other)}: arithmetic needs another blob or a number; "
            "an array enters through a placeholder or get_variable",
        )

    def __rsub__(self, other):
        return -self + other

    def __neg__(self):
        return self * -1

    def _no_value(self, *_, **__):
        """Raise OpError, for each method that would need the numbers of the blob."""
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


def own(blob, what):
    """Return a blob of the job being written down, or raise OpError."""
    need(isinstance(blob, Blob), f"{what} takes blobs of the job, not {real_type_name(blob)}")
    need(blob.owner is writer(), f'{what}: {blob} belongs to another job, "{blob.owner.name}"')
    return blob


def emit(type_name, blobs, **attrs):
    """Append a built-in op with one output; return its Blob."""
    job = writer()
    names = [own(blob, type_name).name for blob in blobs]
    request = Request.built_in(job.new_name(type_name), type_name, names, attrs)
    return Blob(job, job.add(request)[0])


def matmul(a, b):
    """Multiply two matrices. Mirrors flow.matmul."""
    return emit("matmul", [a, b], transpose_a=False, transpose_b=False)


def reduce_sum(blob):
    """Add all numbers up; the shape is (). Mirrors flow.math.reduce_sum without axis."""
    return emit("reduce_sum", [blob])


class user_op_builder(Request):  # noqa: N801 - the original's name
    """An op under construction; its name must be new in the job."""

    def __init__(self, op_name):
        """Begin an op of the job that is being written down."""
        super().__init__(op_name)
        self._job = writer()
        self._requested = None  # the outputs, in the order in which they were asked for
        self._blobs = None  # the Blobs of these, once the op is in the job
        is_name = type(op_name) is str and op_name and "/" not in op_name
        need(is_name, f"user_op_builder needs the op's name in the job, got {quote_value(op_name)}")

    def Input(self, input_name, input_blobs):
        what = f'op "{self.name}": .Input("{input_name}", ...)'
        shown = "x" if isinstance(input_blobs, Blob) else quote_value(input_blobs)
        need(is_list(input_blobs), f"{what} needs a list of blobs: write [x], not {shown}")
        self.inputs += [(input_name, own(blob, what).name) for blob in input_blobs]
        return self

    def Build(self):
        """Hold the op against its definition."""
        self._requested = list(self.outputs)
        self._placement = PLACED.get()
        self._job.definition(self, self._placement)
        return self

    def InferAndTryRun(self):
        """Infer the outputs and append the op to the job."""
        need(self._requested is not None, f'op "{self.name}" does not fit yet: call .Build() first')
        added = self._job.add(self, placement=self._placement)
        by_name = {output.argument: Blob(self._job, output) for output in added}
        self._blobs = tuple(by_name[name] for name in self._requested)
        return self

    def RemoteBlobList(self):
        """Return the outputs, a tuple in the order of the .Output() calls."""
        need(self._blobs is not None, f'op "{self.name}" is not in the job: .InferAndTryRun()')
        return self._blobs

    def SoleOutputBlob(self):
        """Return the only output."""
        first, *others = self.RemoteBlobList()
        count = len(others) + 1
        need(not others, f'op "{self.name}" has {count} outputs; use .RemoteBlobList()')
        return first


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
    job = writer()
    what = f'variable "{name}"'
    need(shape is not None, f"{what} has no shape: get_variable(name, shape=(3, 4), ...)")
    spec = checked_spec(shape, dtype, what)
    need(not trainable or spec.dtype in FLOATS, f"{what} is {spec.dtype}: write trainable=False")

    # A job may get a variable twice; an op of another type that has its name is refused below.
    is_new = (name, "variable") not in [(op.name, op.type) for op in job.ops]
    if is_new:
        check_placement(PLACED.get(), f'{what} of job "{job.name}"')
    _set_first_value(job.session, name, spec, initializer)
    output = Output("out", f"{name}/out_0", *spec)
    if is_new:
        job.append(Op(name, "variable", (), (output,), (("trainable", trainable),)))
        if trainable:
            job.trainable.append(output.blob)
    return Blob(job, output)


def _set_first_value(session, name, spec, initializer):
    """Set a variable that has no value yet; OpError if it has one of another shape or dtype."""
    what = f'variable "{name}"'
    if name in session.variables:
        array = session.variables[name]
        found = Spec(array.shape, array.dtype.name)
        need(found == spec, f"{what} is {found} already, not {spec}")
    else:
        need(initializer is not None, f"{what} needs an initializer: flow.ones_initializer()")
        session.set_variable(name, initializer(name, *spec))


class PiecewiseConstantScheduler:
    """A learning rate, the same in all steps: boundaries between several are left out here."""

    def __init__(self, boundaries, values):
        need(not boundaries and len(values) == 1, "the rate is constant here, as in ([], [0.1])")
        self.rate = float(values[0])


class SGD:
    """v = momentum * v + rate * gradient; variable - v. The momentum is 0.9, as in the original."""

    def __init__(self, lr_scheduler, momentum=0.9):
        self.rate = lr_scheduler.rate
        self.momentum = float(momentum)

    def minimize(self, loss):
        """Make the job train its variables: gradients of the loss, then an update of each."""
        job = own(loss, "minimize(loss)").owner
        need(job.kind == "train", 'minimize(loss) needs @flow.global_function(type="train")')
        need(job.loss is None, f'job "{job.name}" calls minimize(loss) twice')
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
        """Return the next value of a variable and its next velocity."""
        change = gradient * gradient.dtype.type(self.rate)
        if not self.momentum:
            return value - change, None
        if velocity is not None:
            change = velocity * value.dtype.type(self.momentum) + change
        return value - change, change
