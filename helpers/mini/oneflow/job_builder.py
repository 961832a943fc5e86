"""Writing a job down: requests for ops -> checked ops with inferred blobs.

Mirrors JobBuildAndInferCtx (oneflow/core/job/job_build_and_infer_ctx.cpp).
"""

from contextlib import contextmanager
from contextvars import ContextVar

from helpers.mini.oneflow.definitions import check_inferred
from helpers.mini.oneflow.dtypes import REQUIRED, attr_value
from helpers.mini.oneflow.errors import OpError, listed, need, place, shown, stage
from helpers.mini.oneflow.job import Job, Op, Output
from helpers.mini.oneflow.kernel_registry import NO_KERNEL

PLACED = ContextVar("placement", default=None)  # None: on the gpu, as in a build with CUDA
_writing = ContextVar("job being written down", default=None)


class Writer:
    """A job while it is being written down."""

    def __init__(self, name, kind, session):
        self.name, self.kind, self.session = name, kind, session
        self.ops, self.blobs, self.gradients = [], {}, {}
        self.loss = self.optimizer = None
        self.initial, self.watches = {}, []
        self.trainable = {}

    def add(self, request, part="forward", placement=None):
        """Check a request, infer its outputs, append the op. Return its Outputs."""
        where = f'op "{request.name}" of job "{self.name}"'
        placement = placement or PLACED.get()
        with stage("build"):
            definition = self.definition(request, where, placement)
            inputs = [(name, self.read(blob, where)) for name, blob in request.inputs]
        with stage("infer"):
            specs = infer(definition, inputs, request, where)
        outputs = [Output(name, request.blob(name), *specs[name]) for name in definition.outputs]
        attrs = tuple(request.attrs.items())
        inputs = tuple((name, output.blob) for name, output in inputs)
        file = place(definition.file) if definition.file else ""
        self.append(
            Op(request.name, request.type, inputs, tuple(outputs), attrs, placement, part, file)
        )
        return outputs

    def append(self, op):
        """Append a finished op; its name must be new."""
        taken = any(other.name == op.name for other in self.ops)
        need(
            not taken,
            f'job "{self.name}" already has an op named "{op.name}"; '
            "give each op its own name: user_op_builder(name)",
        )
        self.ops.append(op)
        self.blobs.update({output.blob: output for output in op.outputs})

    def definition(self, request, where, placement):
        """Return the OpDef that a request fits; fill in the request's defaults."""
        need(request.type, f'{where} has no op type: call .Op("op_type_name")')
        try:
            definition = self.session.registry.op(request.type)
        except OpError as error:
            raise OpError(f"{where}: {error}") from None
        complete(request, definition, f"{where}, {definition}", placement)
        return definition

    def read(self, blob, where):
        """Return the Output that wrote a blob."""
        need(
            blob in self.blobs,
            f'{where} reads blob "{blob}", which no op before it writes',
        )
        return self.blobs[blob]

    def new_name(self, stem):
        """Return a name that no op of this job has: stem_0, stem_1 …"""
        taken = {op.name for op in self.ops}
        count = 0
        while f"{stem}_{count}" in taken:
            count += 1
        return f"{stem}_{count}"

    def finish(self, returns):
        """Return the Job."""
        return Job(
            self.name, self.kind, tuple(self.ops), tuple(returns), tuple(self.gradients.items())
        )


def complete(request, definition, where, placement):
    """Hold a request against a definition: arguments, attributes, placement."""
    check_arguments("input", [name for name, _ in request.inputs], definition, where)
    check_arguments("output", request.outputs, definition, where)
    for name, value in request.attrs.items():
        known = definition.attrs
        need(name in known, f'{where} has no attr "{name}"; it has {listed(known)}')
        request.attrs[name] = attr_value(f'{where}: attr "{name}"', known[name].type, value)
    attrs = {}
    for name, attr in definition.attrs.items():
        attrs[name] = value = request.attrs.get(name, attr.default)
        need(value is not REQUIRED, f'{where}: attr "{name}" must be set; it has no default')
    request.attrs = attrs
    request.outputs = list(definition.outputs)
    if definition.file:
        order = definition.inputs.index
        request.inputs.sort(key=lambda item: order(item[0]))
        check_kernel_kind(definition, where)
    check_placement(placement, where)


def check_arguments(kind, given, definition, where):
    """Raise OpError unless each argument of the definition is given once."""
    if not definition.file and kind == "input":
        return  # a built-in op takes any number
    known = getattr(definition, f"{kind}s")
    for name in given:
        need(name in known, f'{where} has no {kind} "{name}"; it has {listed(known)}')
    for name in known:
        count = given.count(name)
        need(count, f'{where}: {kind} "{name}" is not given; add .{kind.title()}("{name}"…)')
        need(count == 1, f'{where}: {kind} "{name}" takes one blob, {count} given')


def check_kernel_kind(definition, where):
    """Raise OpError unless the op type asks for a Python kernel."""
    tag = definition.attrs.get("device_sub_tag")
    need(
        tag is not None and tag.default == "py",
        f'{where} lacks .Attr("device_sub_tag", "py"): without it the framework looks for a '
        "kernel in C++, and there is none",
    )


def check_placement(device, where):
    """Raise OpError, with the original's words, for an op that is not on the cpu."""
    placed = f'is placed on "{device}"' if device else 'has no placement, which means "gpu"'
    need(
        device == "cpu",
        f'{where} {placed}: {NO_KERNEL} A numpy kernel runs on "cpu" only: '
        'write the op inside `with flow.scope.placement("cpu", "0:0"):`',
    )


def infer(definition, inputs, request, where):
    """Return {output: Spec}, checked."""
    counts, specs = {}, {}
    for name, output in inputs:
        index = counts[name] = counts.get(name, -1) + 1
        specs[name, index] = output.spec
    try:
        found = definition.infer(specs, request.attrs)
        return {name: check_inferred(found[name], name) for name in definition.outputs}
    except OpError as error:
        raise OpError(f"{where}: the inference function of {definition} {error}") from error


def writer() -> Writer:
    """Return the job being written down."""
    found = _writing.get()
    need(found, "this works only inside a @flow.global_function while its job is written down")
    return found


@contextmanager
def writing(job):
    """Make a Writer the current one."""
    need(
        _writing.get() is None,
        f'job "{job.name}" is called inside another job; call it from outside',
    )
    token = _writing.set(job)
    try:
        yield job
    finally:
        _writing.reset(token)


@contextmanager
def placement(device_tag, machine_device_ids="0:0"):
    """Place the ops of the block on a device. Mirrors flow.scope.placement."""
    known = device_tag in ("cpu", "gpu")
    need(known, f'placement: the device is "cpu" or "gpu", got {shown(device_tag)}')
    token = PLACED.set(device_tag)
    try:
        yield
    finally:
        PLACED.reset(token)
