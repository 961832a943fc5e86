"""Runs a job: calls the kernel of each op, in order, on numpy arrays. A *blob* is a named array of
the job. During a run, `arrays` maps each blob's name to its array. A run is planned as a list of
functions of `arrays`. The plan is made once, and again when the registry of ops and kernels has
changed.
"""

from functools import partial
from inspect import signature
from sys import getrefcount
from types import MappingProxyType

import numpy as np

from ...safety.arguments import real_type_name
from .autodiff import number_arguments
from .errors import OpError, describe_exception
from .kernels import KernelRegContext, find_kernel
from .registry import Spec

# `getrefcount(array)` of an array that nothing outside uses counts three references: a container, a
# local name, and the argument of `getrefcount`. If there are more, other code may change the array
# later, so it is copied.
SOLE_OWNER_COUNT = 3


def make_kernel_step(op, kernel):
    """Return a function of `arrays` that runs one op.

    The function calls the kernel with the arrays of the op's inputs, checks the results, and stores
    them, read-only, under the names of the output blobs.
    """
    function = kernel.function
    location = f'{kernel} of op "{op.name}" ({op.type})'
    attrs = {name: value for name, value in op.attrs if name != "device_sub_tag"}
    takes_attrs = len(signature(function).parameters) > 1  # forward(args, attrs)
    attrs_argument = (MappingProxyType(attrs),) if takes_attrs else ()
    input_blobs = [blob for _, blob in op.inputs]
    outputs = [(index, output, np.dtype(output.dtype)) for index, output in enumerate(op.outputs)]

    def run(arrays):
        # `inputs` and `result` are deleted, and `zip` is not used, so that no reference to an array
        # remains that `getrefcount` below would count.
        inputs = tuple([arrays[blob] for blob in input_blobs])
        try:
            result = function(inputs, *attrs_argument)
        except (Exception, SystemExit) as error:
            raise OpError(f"{location} raised {describe_exception(error, kernel.file)}") from error
        del inputs

        results = (*result,) if type(result) in (tuple, list) else (result,)
        del result
        if len(results) != len(outputs):
            expected = f"{len(outputs)} output(s): {', '.join(map(str, op.outputs))}"
            raise OpError(f"{location} returned {len(results)} value(s); the op has {expected}")

        for index, output, dtype in outputs:
            array = results[index]
            if isinstance(array, np.generic):  # a numpy scalar, such as the result of `x.sum()`
                array = np.array(array)
            _require_array(array, location, output)
            _require_same("shape", array.shape, output.shape, location, output)
            _require_same("dtype", array.dtype, dtype, location, output)
            # The kernel may have kept the array, or returned a view of another array.
            if getrefcount(array) > SOLE_OWNER_COUNT or array.base is not None:
                array = array.copy()
            array.setflags(write=False)
            arrays[output.blob] = array

    return run


def _require_array(array, location, output):
    """Raise OpError if the result for `output` is no numpy array; `location` names the kernel."""
    if type(array) is not np.ndarray:
        kind = "None" if array is None else f"a {real_type_name(array)}"
        raise OpError(f"{location} returned {kind} for {output}; a kernel returns a numpy array")


def _require_same(subject, found, expected, location, output):
    """Raise OpError if a kernel's result has not the shape or dtype that was inferred.

    `subject` is "shape" or "dtype".
    """
    if found != expected:
        raise OpError(
            f"{location} returned {subject} {found} for {output}; "
            f"the op's inference says {expected}"
        )


class Executor:
    """Runs a Job in its session, as often as it is called."""

    def __init__(self, job, session, optimizer=None, watches=()):
        """Prepare a Job. `watches` has pairs (blob's name, function to call with its array)."""
        self.job = job
        self.session = session
        self.optimizer = optimizer
        self.watches = watches
        # (name, Output) of each placeholder, and of each variable.
        self.inputs = [(op.name, op.outputs[0]) for op in job.ops if op.type == "input"]
        self.variables = [(op.name, op.outputs[0]) for op in job.ops if op.type == "variable"]
        self.updates = [_read_update(op) for op in job.ops if op.part == "update"]
        self.version = None  # the version of the registry for which `steps` was planned
        self.steps = []  # functions of `arrays`, in the order in which they run

    def __call__(self, input_arrays):
        """Run the job once; return the arrays of the blobs that the job returns."""
        if self.version != self.session.registry.version:
            self.plan()
        arrays = {}
        for (name, output), array in zip(self.inputs, input_arrays, strict=True):
            self._require_placeholder(name, output, array)
            # A read-only view, so that no kernel can change the caller's array.
            arrays[output.blob] = array.view()
            arrays[output.blob].setflags(write=False)
        for name, output in self.variables:
            arrays[output.blob] = self.session.variables[name]

        for step in self.steps:
            step(arrays)
        self._update_variables(arrays)
        return [_take_result(arrays, blob) for blob in self.job.returns]

    def _require_placeholder(self, name, output, array):
        """Raise OpError if an argument has not the shape and dtype of its placeholder."""
        if type(array) is np.ndarray:
            found = Spec(array.shape, array.dtype)
        else:
            found = f"a {real_type_name(array)}, not a numpy array: write np.asarray(...)"
        if found != output.spec:
            subject = f'job "{self.job.name}": argument "{name}"'
            raise OpError(f"{subject} is {found}; the placeholder is {output.spec}")

    def _update_variables(self, arrays):
        """Set each trained variable to the value that the optimizer computes from its gradient."""
        momenta = self.session.momenta
        for name, variable_blob, gradient_blob in self.updates:
            velocity = momenta.get(name)
            value, velocity = self.optimizer.next(
                arrays[variable_blob], arrays[gradient_blob], velocity
            )
            momenta[name] = velocity
            self.session.set_variable(name, value)

    def plan(self):
        """Fill `steps` with a step for each op that has a kernel.

        The handlers that watch a blob come right after the step that writes the blob. Inputs,
        variables and updates have no kernel.
        """
        registry = self.session.registry
        steps = []
        for op in self.job.ops:
            if op.type not in ("input", "variable") and op.part != "update":
                steps.append(make_kernel_step(op, self._find_kernel(registry, op)))
            output_blobs = [output.blob for output in op.outputs]
            for blob, handler in self.watches:
                if blob in output_blobs:
                    steps.append(partial(_call_watch_handler, blob, handler))
        self.steps = steps
        self.version = registry.version

    def _find_kernel(self, registry, op):
        """Return the Kernel of an op of the job, or raise OpError."""
        blobs = self.job.blobs
        # (name of an argument, index) -> dtype. An op may have several inputs of one name, so they
        # are numbered. Each output has a name of its own, so its index is 0.
        dtypes = number_arguments([(name, blobs[blob].dtype) for name, blob in op.inputs])
        dtypes |= {(output.argument, 0): output.dtype for output in op.outputs}
        try:
            return find_kernel(registry, KernelRegContext(op.type, op.placement, dtypes))
        except OpError as error:
            raise OpError(f'op "{op.name}" of job "{self.job.name}": {error}') from None


def _read_update(op) -> tuple[str, str, str]:
    """Return (variable's name, its blob, the blob of its gradient) of an sgd_update op."""
    inputs = dict(op.inputs)
    return op.name.removesuffix("_update"), inputs["model"], inputs["model_diff"]


def _call_watch_handler(blob, handler, arrays):
    handler(arrays[blob].copy())


def _take_result(arrays, blob):
    """Return the array of a blob for the caller, who may change it.

    The array is copied if it is a view or if other code refers to it.
    """
    array = arrays[blob]
    # `SOLE_OWNER_COUNT` is the number of references if nothing outside this run has one.
    if array.base is not None or getrefcount(array) > SOLE_OWNER_COUNT:
        return array.copy()
    array.setflags(write=True)
    return array
