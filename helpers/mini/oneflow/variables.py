"""Variables and the initializers of their first values. Mirrors python/ops/get_variable.py."""

import zlib

import numpy as np

from helpers.mini.oneflow.blobs import Blob
from helpers.mini.oneflow.dtypes import FLOATS, dtype_name, is_number, shape_tuple
from helpers.mini.oneflow.errors import OpError, need, shown
from helpers.mini.oneflow.job import Op, Output
from helpers.mini.oneflow.job_builder import PLACED, check_placement, writer
from helpers.mini.oneflow.registry import Spec
from helpers.safety.arguments import is_a


class Initializer:
    """Makes a variable's first value: call(name, shape, dtype) -> array."""

    def __init__(self, make, text):
        self.make, self.text = make, text

    def __repr__(self):
        return self.text


def ones_initializer(dtype="float32"):
    """All ones."""
    return constant_initializer(1, dtype)


def zeros_initializer(dtype="float32"):
    """All zeros."""
    return constant_initializer(0, dtype)


def constant_initializer(value=0, dtype="float32"):
    """All `value`. The variable's own dtype counts; `dtype` is there as in the original."""
    dtype_name(dtype, "constant_initializer")
    _check_numbers("constant_initializer", value)
    return Initializer(
        lambda name, seed, shape, dtype: np.full(shape, value, dtype), f"constant({value})"
    )


def random_uniform_initializer(minval=0, maxval=1, dtype="float32"):
    """Numbers from minval to maxval, the same in each run: seeded by the variable's name."""
    _check_numbers("random_uniform_initializer", minval, maxval)
    need(minval <= maxval, f"random_uniform_initializer: {minval} is above {maxval}")
    dtype_name(dtype, "random_uniform_initializer")

    def make(name, seed, shape, dtype):
        rng = np.random.default_rng(zlib.crc32(name.encode()) if seed is None else seed)
        return rng.uniform(minval, maxval, shape).astype(dtype)

    return Initializer(make, f"random_uniform({minval}, {maxval})")


def _check_numbers(what, *values):
    for value in values:
        need(is_number(value) or type(value) is bool, f"{what} takes numbers, got {shown(value)}")


def get_variable(
    name, shape=None, dtype="float32", initializer=None, trainable=True, random_seed=None
):
    """Return the blob of a variable, shared by name between jobs; made on first use."""
    need(type(name) is str and name, f"get_variable takes a name, got {shown(name)}")
    job, what = writer(), f'variable "{name}"'
    need(shape is not None, f"{what} has no shape: get_variable(name, shape=(3, 4), ...)")
    spec = Spec(shape_tuple(shape, what), dtype_name(dtype, what))
    need(
        trainable is True or trainable is False,
        f"{what}: trainable is True or False, got {shown(trainable)}",
    )
    need(
        random_seed is None or (type(random_seed) is int and 0 <= random_seed < 2**63),
        f"{what}: random_seed is a whole number from 0 up, got {shown(random_seed)}",
    )
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
        job.trainable[output.blob] = True
    return Blob(job, output)


def _make(session, name, spec, initializer, seed):
    """Make the first value, unless another job has made the variable."""
    known = session.variables.get(name)
    if known is None:
        need(
            is_a(initializer, Initializer),
            f'variable "{name}" needs an initializer such as flow.ones_initializer(), '
            f"got {shown(initializer)}",
        )
        session.set_variable(name, initializer.make(name, seed, *spec))
        return
    if Spec(known.shape, known.dtype.name) != spec:
        found = Spec(known.shape, known.dtype.name)
        raise OpError(f'variable "{name}" is {found} in another job, not {spec}')
