"""A job's run: its kernels one after another, on arrays by the names of blobs.

A run is planned once, and again when the registry has changed.
"""

from functools import partial
from inspect import signature
from sys import getrefcount
from types import MappingProxyType

import numpy as np

from ...safety.arguments import real_type_name
from .autodiff import numbered
from .errors import OpError, raised
from .kernels import KernelRegContext, find
from .registry import Spec

# What refers to an array that only one blob needs: a container, a name, and the argument of
# `getrefcount`. If there are more, somebody else may change the array later, so it is copied.
HOLDERS = 3


def make_step(op, kernel):
    """Return a function that runs an op: it reads and writes arrays by the names of blobs."""
    function = kernel.function
    where = f'{kernel} of op "{op.name}" ({op.type})'
    attrs = {name: value for name, value in op.attrs if name != "device_sub_tag"}
    takes_attrs = len(signature(function).parameters) > 1
    attrs_argument = (MappingProxyType(attrs),) if takes_attrs else ()
    input_blobs = [blob for _, blob in op.inputs]
    outputs = [(index, output, np.dtype(output.dtype)) for index, output in enumerate(op.outputs)]

    def run(arrays):
        # What is deleted here, and not zipped, is so for `getrefcount` below.
        inputs = tuple([arrays[blob] for blob in input_blobs])
        try:
            result = function(inputs, *attrs_argument)
        except (Exception, SystemExit) as error:
            raise OpError(f"{where} raised {raised(error, kernel.file)}") from error
        del inputs

        results = (*result,) if type(result) in (tuple, list) else (result,)
        del result
        if len(results) != len(outputs):
            expected = f"{len(outputs)} output(s): {', '.join(map(str, op.outputs))}"
            raise OpError(f"{where} returned {len(results)} value(s); the op has {expected}")

        for index, output, dtype in outputs:
            array = results[index]  # zip() would hold it too
            if isinstance(array, np.generic):
                array = np.array(array)
            _require_array(array, where, output)
            _require_same("shape", array.shape, output.shape, where, output)
            _require_same("dtype", array.dtype, dtype, where, output)
            if getrefcount(array) > HOLDERS or array.base is not None:
                array = array.copy()
            array.setflags(write=False)
            arrays[output.blob] = array

    return run


def _require_array(array, where, output):
    """Raise OpError if a kernel's result is no numpy array; `output` is what it was for."""
    if type(array) is not np.ndarray:
        kind = "None" if array is None else f"a {real_type_name(array)}"
        raise OpError(f"{where} returned {kind} for {output}; a kernel returns a numpy array")


def _require_same(what, found, expected, where, output):
    """Raise OpError if the shape or dtype of a kernel's result is not what was inferred."""
    if found != expected:
        raise OpError(
            f"{where} returned {what} {found} for {output}; the op's inference says {expected}"
        )


class Executor:
    """A Job made ready to run in its session."""

    def __init__(self, job, session, optimizer=None, watches=()):
        """Prepare a Job; `watches` are pairs of a blob's name and a function of its array."""
        self.job = job
        self.session = session
        self.optimizer = optimizer
        self.watches = watches
        self.inputs = [(op.name, op.outputs[0]) for op in job.ops if op.type == "input"]
        self.variables = [(op.name, op.outputs[0]) for op in job.ops if op.type == "variable"]
        self.updates = [_read_update(op) for op in job.ops if op.part == "update"]
        self.version = None  # of the registry, at the time of the plan
        self.steps = []  # functions of the arrays by blob, in order

    def __call__(self, given):
        """Run the job once on the arrays for its inputs; return those of its returned blobs."""
        if self.version != self.session.registry.version:
            self.plan()
        arrays = {}
        for (name, output), array in zip(self.inputs, given, strict=True):
            self._require_placeholder(name, output, array)
            arrays[output.blob] = array.view()
            arrays[output.blob].setflags(write=False)
        for name, output in self.variables:
            arrays[output.blob] = self.session.variables[name]

        for step in self.steps:
            step(arrays)
        self._update_variables(arrays)
        return [_released(arrays, blob) for blob in self.job.returns]

    def _require_placeholder(self, name, output, array):
        """Raise OpError for an argument that is not what the placeholder says."""
        if type(array) is np.ndarray:
            found = Spec(array.shape, array.dtype)
        else:
            found = f"a {real_type_name(array)}, not a numpy array: write np.asarray(...)"
        if found != output.spec:
            what = f'job "{self.job.name}": argument "{name}"'
            raise OpError(f"{what} is {found}; the placeholder is {output.spec}")

    def _update_variables(self, arrays):
        """Let the optimizer change the variables, after all ops have run."""
        momenta = self.session.momenta
        for name, model, gradient in self.updates:
            velocity = momenta.get(name)
            value, velocity = self.optimizer.next(arrays[model], arrays[gradient], velocity)
            momenta[name] = velocity
            self.session.set_variable(name, value)

    def plan(self):
        """Fill `steps`: each op's kernel is looked up, and its blob's watches come right after."""
        registry = self.session.registry
        steps = []
        for op in self.job.ops:
            if op.type not in ("input", "variable") and op.part != "update":
                steps.append(make_step(op, self._find_kernel(registry, op)))
            written = [output.blob for output in op.outputs]
            for blob, handler in self.watches:
                if blob in written:
                    steps.append(partial(_show, blob, handler))
        self.steps = steps
        self.version = registry.version

    def _find_kernel(self, registry, op):
        """Return the Kernel of an op of the job, or raise OpError."""
        blobs = self.job.blobs
        dtypes = numbered([(name, blobs[blob].dtype) for name, blob in op.inputs])
        dtypes |= {(output.argument, 0): output.dtype for output in op.outputs}
        try:
            return find(registry, KernelRegContext(op.type, op.placement, dtypes))
        except OpError as error:
            raise OpError(f'op "{op.name}" of job "{self.job.name}": {error}') from None


def _read_update(op) -> tuple[str, str, str]:
    """Return a variable's name, its blob, and the blob of its gradient, of an sgd_update."""
    inputs = dict(op.inputs)
    return op.name.removesuffix("_update"), inputs["model"], inputs["model_diff"]


def _show(blob, handler, arrays):
    handler(arrays[blob].copy())


def _released(arrays, blob):
    """Return an array that is the caller's own: what a blob holds, or a copy of it."""
    array = arrays[blob]
    if array.base is not None or getrefcount(array) > HOLDERS:
        return array.copy()
    array.setflags(write=True)
    return array
