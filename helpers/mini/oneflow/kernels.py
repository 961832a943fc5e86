"""From an op to the numpy function that computes it; and a job's run through all of them.

The rule of the original: X_forward is computed by forward() of X's kernel file, X_backward by its
backward(). Mirrors oneflow/extension/python/py_compute.cpp (0.3). An op type that kernels are
registered for takes the one that matches. A run is planned once, and again when the registry has
changed; arrays go through the ops in slots of a list.
"""

from functools import partial
from sys import getrefcount
from types import MappingProxyType

import numpy as np

from helpers.mini.oneflow import built_in_ops
from helpers.mini.oneflow.errors import OpError, listed, need, place, raised
from helpers.mini.oneflow.kernel_registry import KernelRegContext, chosen
from helpers.mini.oneflow.registry import Kernel
from helpers.safety.arguments import is_exactly, kind_of

HOLDERS = 3  # the container, one name and getrefcount's argument


def find(registry, context):
    """Return the Kernel of an op, told by its KernelRegContext, or raise OpError."""
    if context.op_type in built_in_ops.KERNELS:
        return built_in_ops.KERNELS[context.op_type]
    registered = registry.kernels(context.op_type)
    return chosen(registered, context) if registered else named(registry, context.op_type)


def named(registry, type_name):
    """Return the Kernel that the kernel file has under the ending of an op type's name."""
    name, _, function = type_name.rpartition("_")
    need(
        function in ("forward", "backward"),
        f'op type "{type_name}" cannot find its kernel: a Python kernel is looked up by the '
        "ending of the op_type_name, which must be _forward or _backward",
    )
    loaded = registry.kernel_files
    need(
        name in loaded,
        f'op type "{type_name}" has no Python kernel: no kernel file "{name}" was loaded with '
        f".py_kernel() (loaded: {listed(loaded)})",
    )
    module, file = loaded[name]
    found = getattr(module, function, None)
    need(
        callable(found),
        f'{place(file)} defines no function {function}(args), which op type "{type_name}" needs',
    )
    return Kernel.of(function, found, file)


def step(op, kernel, reads, writes):
    """Return a function that runs an op: it reads and writes slots of a list of arrays.

    Arrays in slots are read-only, and held by nobody outside: what a kernel keeps is copied.
    """
    function, where = kernel.function, f'{kernel} of op "{op.name}" ({op.type})'
    attrs = {name: value for name, value in op.attrs if name != "device_sub_tag"}
    rest = (MappingProxyType(attrs),) if kernel.wants_attrs else ()
    expected = [
        (index, slot, output, output.shape, np.dtype(output.dtype))
        for index, (slot, output) in enumerate(zip(writes, op.outputs, strict=True))
    ]

    def run(slots):
        try:
            result = function(tuple([slots[i] for i in reads]), *rest)
        except (Exception, SystemExit) as error:
            raise OpError(f"{where} raised {raised(error, kernel.file)}") from error
        results = (*result,) if is_exactly(result, tuple, list) else (result,)
        del result
        if len(results) != len(expected):
            raise _wrong_count(where, results, op)
        for index, slot, output, shape, dtype in expected:
            array = results[index]  # zip() would hold it too
            if type(array) is not np.ndarray:
                array = _array(array, where, output)
            if array.shape != shape or array.dtype != dtype:
                raise _wrong_spec(where, array, output)
            if getrefcount(array) > HOLDERS or array.base is not None:
                array = array.copy()
            array.setflags(write=False)
            slots[slot] = array

    return run


def _array(value, where, output):
    """Return a numpy scalar as an array; raise OpError for all else."""
    if isinstance(value, np.generic):
        return np.array(value)
    kind = "None" if value is None else f"a {kind_of(value)}"
    raise OpError(f"{where} returned {kind} for {output}; a kernel returns a numpy array")


def _wrong_count(where, results, op):
    outputs = ", ".join(map(str, op.outputs))
    return OpError(
        f"{where} returned {len(results)} value(s); the op has {len(op.outputs)} output(s): "
        f"{outputs}"
    )


def _wrong_spec(where, array, output):
    if array.shape != output.shape:
        found, right = f"shape {array.shape}", output.shape
    else:
        found, right = f"dtype {array.dtype}", output.dtype
    return OpError(f"{where} returned {found} for {output}; the op's inference says {right}")


class Executor:
    """A Job made ready to run in its session."""

    def __init__(self, job, session, optimizer=None, watches=()):
        self.job, self.session, self.optimizer = job, session, optimizer
        self.slots = {name: slot for slot, name in enumerate(job.blobs)}
        self.inputs = [
            (op.name, self.slots[blob.blob], blob, np.dtype(blob.dtype))
            for op in job.ops
            if op.type == "input"
            for blob in op.outputs
        ]
        self.variables = [
            (op.name, self.slots[op.outputs[0].blob]) for op in job.ops if op.type == "variable"
        ]
        self.updates = [
            (op, *(self.slots[blob] for _, blob in op.inputs))
            for op in job.ops
            if op.part == "update"
        ]
        self.watches = [(self.slots[blob], blob, handler) for blob, handler in watches]
        self.returns = [self.slots[blob] for blob in job.returns]
        computed = {self.slots[o.blob] for op in job.ops if _computes(op) for o in op.outputs}
        self.own = [slot in computed and self.returns.count(slot) == 1 for slot in self.returns]
        self.version, self.steps, self.count = None, [], 0

    def __call__(self, arrays):
        """Run the job once; return the arrays of its returned blobs."""
        if self.version != self.session.registry.version:
            self.plan()
        slots = [None] * len(self.slots)
        for (name, slot, blob, dtype), array in zip(self.inputs, arrays):  # noqa: B905
            if type(array) is not np.ndarray or array.shape != blob.shape or array.dtype != dtype:
                raise self.wrong_input(name, blob, array)
            slots[slot] = array = array.view()
            array.setflags(write=False)
        for name, slot in self.variables:
            slots[slot] = self.session.variables[name]
        for step in self.steps:
            step(slots)
        if self.updates:
            self.update(slots)
        return [
            _released(slots, slot) if own else slots[slot].copy()
            for slot, own in zip(self.returns, self.own)  # noqa: B905
        ]

    def plan(self):
        """Look every op's kernel up; a watch comes right after the op that writes its blob."""
        registry, steps, blobs = self.session.registry, [], self.job.blobs
        for op in self.job.ops:
            if _computes(op):
                try:
                    kernel = find(registry, _asking(op, blobs))
                except OpError as error:
                    raise OpError(f'op "{op.name}" of job "{self.job.name}": {error}') from None
                reads = [self.slots[blob] for _, blob in op.inputs]
                writes = [self.slots[output.blob] for output in op.outputs]
                steps.append(step(op, kernel, reads, writes))
            written = [output.blob for output in op.outputs]
            steps += [partial(self.show, *watch) for watch in self.watches if watch[1] in written]
        self.steps, self.version = steps, registry.version

    def update(self, slots):
        """Give all variables their next values, after all ops have run."""
        session = self.session
        for op, model, gradient in self.updates:
            name = op.name.removesuffix("_update")
            momentum = session.momenta.get(name)
            value, momentum = self.optimizer.next(
                slots[model], slots[gradient], momentum, self.count
            )
            session.set_variable(name, value)
            session.momenta[name] = momentum
        self.count += 1

    def show(self, slot, blob, handler, slots):
        """Call the handler of a watch with a copy of its array."""
        try:
            handler(slots[slot].copy())
        except (Exception, SystemExit) as error:
            raise OpError(
                f'job "{self.job.name}": the watch handler of blob "{blob}" raised {raised(error)}'
            ) from error

    def wrong_input(self, name, blob, array):
        """Return the OpError for an array that does not fit its placeholder."""
        if type(array) is not np.ndarray:
            found = f"a {kind_of(array)}, not a numpy array: write np.asarray(...)"
        else:
            found = f"{array.dtype}[{', '.join(map(str, array.shape))}]"
        return OpError(
            f'job "{self.job.name}": argument "{name}" is {found}; the placeholder is {blob.spec}'
        )


def _asking(op, blobs):
    """Return what the predicates of kernels are asked about."""
    dtypes, counts = {}, {}
    for name, blob in op.inputs:
        counts[name] = counts.get(name, -1) + 1
        dtypes[name, counts[name]] = blobs[blob].dtype
    dtypes |= {(output.argument, 0): output.dtype for output in op.outputs}
    return KernelRegContext(op.type, op.placement, dtypes)


def _computes(op):
    return op.type not in ("input", "variable") and op.part != "update"


def _released(slots, slot):
    """Return a computed array itself, writable; a copy if a kernel has kept it."""
    array = slots[slot]
    if getrefcount(array) > HOLDERS:
        return array.copy()
    array.setflags(write=True)
    return array
