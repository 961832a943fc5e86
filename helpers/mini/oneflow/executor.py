"""Running a job: arrays go through its ops, one after another, in slots of a list.

The plan is made once, and again when the registry has changed.
"""

from functools import partial

import numpy as np

from helpers.mini.oneflow import kernels
from helpers.mini.oneflow.errors import OpError, raised
from helpers.mini.oneflow.user_op_hob import KernelRegContext
from helpers.safety.arguments import kind_of


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
                    kernel = kernels.find(registry, _asking(op, blobs))
                except OpError as error:
                    raise OpError(f'op "{op.name}" of job "{self.job.name}": {error}') from None
                reads = [self.slots[blob] for _, blob in op.inputs]
                writes = [self.slots[output.blob] for output in op.outputs]
                steps.append(kernels.step(op, kernel, reads, writes))
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
    if kernels.getrefcount(array) > kernels.HOLDERS:
        return array.copy()
    array.setflags(write=True)
    return array
