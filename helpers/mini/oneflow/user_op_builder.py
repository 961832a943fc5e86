"""Blobs of a job that is being written down, and the chain that puts an op into the job.

Blobs are names with a shape and a dtype, no numbers; arithmetic on them appends built-in ops.
Mirrors oneflow/python/ops/user_op_builder.py.
"""

# ruff: noqa: D102 - the names are the original's, and say what they do

from helpers.mini.oneflow.autodiff import Request
from helpers.mini.oneflow.errors import OpError, need, stage
from helpers.mini.oneflow.job import PLACED, writer
from helpers.mini.oneflow.registry import is_list, is_number
from helpers.safety.arguments import quote_value, real_type_name


class Blob:
    """What a job function handles: `name`, `shape`, `dtype`. It belongs to one job."""

    def __init__(self, owner, output):
        self.owner, self.name = owner, output.blob
        self.shape, self.dtype = output.shape, output.dtype
        self._text = str(output)

    def __repr__(self):
        return f"Blob({self._text})"

    def __add__(self, other):
        return binary("add", self, other)

    def __sub__(self, other):
        return binary("sub", self, other)

    def __mul__(self, other):
        return binary("mul", self, other)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other):
        return binary("add", -self, other)

    def __matmul__(self, other):
        return matmul(self, other)

    def __neg__(self):
        return binary("mul", self, -1)

    def _no_value(self, *_, **__):
        raise OpError(
            f"{self!r} has no value while the job is being written down; "
            "what it holds is known when the job is called, to a kernel"
        )

    __bool__ = __float__ = __int__ = __index__ = __len__ = __iter__ = _no_value
    __lt__ = __le__ = __gt__ = __ge__ = __getitem__ = _no_value
    __array__ = __array_ufunc__ = __array_function__ = _no_value


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


def binary(kind, blob, other):
    """Append broadcast_<kind> for two blobs, scalar_<kind> for a blob and a number."""
    if isinstance(other, Blob):
        return emit(f"broadcast_{kind}", [blob, other])
    told = f"{blob!r} and {real_type_name(other)}: arithmetic takes another blob or a number"
    need(is_number(other), f"{told}; an array enters through a placeholder or get_variable")
    if kind == "sub":
        kind, other = "add", -other
    return emit(f"scalar_{kind}", [blob], operand=float(other))


def matmul(a, b):
    """Multiply two matrices. Mirrors flow.matmul."""
    return emit("matmul", [a, b], transpose_a=False, transpose_b=False)


def reduce_sum(blob):
    """Add all numbers up; the shape is (). Mirrors flow.math.reduce_sum without axis."""
    return emit("reduce_sum", [blob])


class user_op_builder(Request):  # noqa: N801 - the original's name
    """An op under construction; its name must be new in the job."""

    @stage("build")
    def __init__(self, op_name):
        super().__init__(op_name)
        self._job, self._asked, self._blobs = writer(), None, None
        fine = type(op_name) is str and op_name and "/" not in op_name
        need(fine, f"user_op_builder takes the op's name in the job, got {quote_value(op_name)}")

    @stage("build")
    def Input(self, input_name, input_blobs):
        given = "x" if isinstance(input_blobs, Blob) else quote_value(input_blobs)
        what = f'op "{self.name}": .Input("{input_name}", ...)'
        need(is_list(input_blobs), f"{what} takes a list of blobs: write [x], not {given}")
        self.inputs += [(input_name, own(blob, what).name) for blob in input_blobs]
        return self

    @stage("build")
    def Build(self):
        """Hold the op against its definition."""
        job, self._asked, self._placement = self._job, list(self.outputs), PLACED.get()
        job.definition(self, f'op "{self.name}" of job "{job.name}"', self._placement)
        return self

    @stage("build")
    def InferAndTryRun(self):
        """Infer the outputs and append the op to the job."""
        told = f'op "{self.name}" does not fit yet: call .Build() first'
        need(self._asked is not None, told)
        added = self._job.add(self, placement=self._placement)
        by_name = {output.argument: Blob(self._job, output) for output in added}
        self._blobs = tuple(by_name[name] for name in self._asked)
        return self

    @stage("build")
    def RemoteBlobList(self):
        """Return the outputs, a tuple in the order of the .Output() calls."""
        told = f'op "{self.name}" is not in the job yet: call .InferAndTryRun() first'
        need(self._blobs is not None, told)
        return self._blobs

    @stage("build")
    def SoleOutputBlob(self):
        """Return the only output."""
        blobs = self.RemoteBlobList()
        told = f'op "{self.name}" has {len(blobs)} outputs; use .RemoteBlobList()'
        need(len(blobs) == 1, told)
        return blobs[0]
