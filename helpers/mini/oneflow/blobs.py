"""Blobs of a job that is being written down: names with a shape and a dtype, no numbers.

Arithmetic on them appends built-in ops.
"""

import math

from helpers.mini.oneflow.backward_op_conf import Request
from helpers.mini.oneflow.dtypes import is_number
from helpers.mini.oneflow.errors import OpError, need, shown
from helpers.mini.oneflow.job_builder import writer
from helpers.safety.arguments import is_a, kind_of


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

    def __radd__(self, other):
        return binary("add", self, other)

    def __sub__(self, other):
        return binary("sub", self, other)

    def __rsub__(self, other):
        return binary("add", -self, other)

    def __mul__(self, other):
        return binary("mul", self, other)

    def __rmul__(self, other):
        return binary("mul", self, other)

    def __truediv__(self, other):
        return binary("div", self, other)

    def __rtruediv__(self, other):
        return emit("constant_like", [self], value=_number(other, self)) / self

    def __pow__(self, other):
        raise OpError(f"{self!r} ** {shown(other)}: there is no such op; write x * x")

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
    need(is_a(blob, Blob), f"{what} takes blobs of the job, not {kind_of(blob)}")
    need(
        blob.owner is writer(),
        f'{what}: {blob} belongs to another job, "{blob.owner.name}"',
    )
    return blob


def emit(type_name, blobs, **attrs):
    """Append a built-in op with one output; return its Blob."""
    job = writer()
    inputs = [("in", own(blob, type_name).name) for blob in blobs]
    request = Request(job.new_name(type_name), type_name, inputs, ["out"], attrs)
    return Blob(job, job.add(request)[0])


def binary(kind, blob, other):
    """Append broadcast_<kind> for two blobs, scalar_<kind> for a blob and a number."""
    if is_a(other, Blob):
        return emit(f"broadcast_{kind}", [blob, other])
    number = _number(other, blob)
    if kind == "sub":
        kind, number = "add", -number
    return emit(f"scalar_{kind}", [blob], operand=number)


def _number(value, blob):
    need(
        is_number(value),
        f"{blob!r} and {kind_of(value)}: arithmetic takes another blob or a number; "
        "an array enters through a placeholder or get_variable",
    )
    return float(value)


def matmul(a, b, transpose_a=False, transpose_b=False):
    """Multiply two matrices. Mirrors flow.matmul."""
    return emit("matmul", [a, b], transpose_a=transpose_a, transpose_b=transpose_b)


def reduce_sum(blob):
    """Add all numbers up; the shape is (). Mirrors flow.math.reduce_sum without axis."""
    return emit("reduce_sum", [blob])


def reduce_mean(blob):
    """Return the mean of all numbers; the shape is (). Mirrors flow.math.reduce_mean."""
    return reduce_sum(blob) / math.prod(own(blob, "reduce_mean").shape)
