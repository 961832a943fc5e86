"""A job: the list of ops that a job function writes down, as data; and how it is written down.

Requests for ops become checked ops with inferred blobs. Mirrors the job proto that OneFlow 0.3 kept
(oneflow/core/job/job.proto), and JobBuildAndInferCtx (job_build_and_infer_ctx.cpp).
"""

from collections import namedtuple
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import count

from .autodiff import numbered
from .errors import OpError, listed, lookup, need, place
from .kernels import NO_KERNEL
from .registry import REQUIRED, Spec, attr_value, checked_spec

PASSES = ("forward", "backward", "update")
PLACED = ContextVar("placement", default=None)  # None: on the gpu, as in a build with CUDA
_writing = ContextVar("job being written down", default=None)


class Output(namedtuple("Output", "argument blob shape dtype")):
    """A blob that an op writes: the output's name, the blob's name, shape and dtype."""

    @property
    def spec(self):
        """Shape and dtype together."""
        return Spec(self.shape, self.dtype)

    def __str__(self):
        return f"{self.blob}: {self.spec}"


@dataclass(frozen=True)
class Op:
    """One op of a job. `part` is its pass, `file` the definition's; "" for the framework's own.

    `inputs` are (argument, blob's name) in the order of the definition, `attrs` (name, value).
    """

    name: str
    type: str
    inputs: tuple[tuple[str, str], ...]
    outputs: tuple[Output, ...]
    attrs: tuple[tuple[str, object], ...] = ()
    placement: str = "cpu"
    part: str = "forward"
    file: str = ""

    def __str__(self):
        attrs = [f"{name}={value!r}" for name, value in self.attrs if name != "device_sub_tag"]
        given = ", ".join([f"{argument}={blob}" for argument, blob in self.inputs] + attrs)
        arrow = " -> " if self.outputs else ""
        return f"{self.name} = {self.type}({given}){arrow}{', '.join(map(str, self.outputs))}"


@dataclass(frozen=True)
class Job:
    """A job that has been written down, of the kind "predict" or "train".

    `returns` names the blobs that a call gives back; `gradients` are (blob, blob of its gradient).
    """

    name: str
    kind: str
    ops: tuple[Op, ...]
    returns: tuple[str, ...]
    gradients: tuple[tuple[str, str], ...] = ()

    @property
    def forward(self) -> tuple[Op, ...]:
        """The ops before any backward op was appended."""
        return tuple(op for op in self.ops if op.part == "forward")

    @property
    def blobs(self) -> dict[str, Output]:
        """All blobs by name."""
        return {output.blob: output for op in self.ops for output in op.outputs}

    def __str__(self):
        lines = [f"job {self.name} ({self.kind}), {len(self.ops)} ops"]
        for part in PASSES:
            ops = [op for op in self.ops if op.part == part]
            lines += [f"{part}:"] * bool(ops) + [f"  {op}" for op in ops]
        return "\n".join([*lines, f"returns {', '.join(self.returns) or 'nothing'}"])


class Writer:
    """A job while it is being written down."""

    def __init__(self, name, kind, session):
        self.name, self.kind, self.session = name, kind, session
        self.ops, self.blobs, self.gradients = [], {}, {}
        self.loss = self.optimizer = None
        self.watches, self.trainable = [], []

    def add(self, request, part="forward", placement=None):
        """Check a request, infer its outputs, append the op. Return its Outputs."""
        where = f'op "{request.name}" of job "{self.name}"'
        placement = placement or PLACED.get()
        definition = self.definition(request, placement)
        for _, blob in request.inputs:
            need(blob in self.blobs, f'{where} reads blob "{blob}", which no op before it writes')
        specs = numbered([(name, self.blobs[blob].spec) for name, blob in request.inputs])
        outputs = []
        try:
            for name, (shape, dtype) in definition.infer(specs, request.attrs).items():
                need(shape is not None, f'never sets the shape of output "{name}"')
                spec = checked_spec(shape, dtype, f'gives output "{name}" this shape and dtype')
                outputs.append(Output(name, request.blob(name), *spec))
        except OpError as error:
            what = f"{where}: the inference function of {definition}"
            raise OpError(f"{what} {error}", "infer") from error
        named = request.name, request.type, tuple(request.inputs), tuple(outputs)
        file, attrs = place(definition.file), tuple(request.attrs.items())
        self.append(Op(*named, attrs, placement, part, file))
        return outputs

    def append(self, op):
        """Append a finished op; its name must be new."""
        told = f'job "{self.name}" already has an op named "{op.name}"; give each op its own name'
        need(op.name not in [other.name for other in self.ops], told)
        self.ops.append(op)
        self.blobs.update({output.blob: output for output in op.outputs})

    def definition(self, request, placement):
        """Return the OpDef that a request fits; fill in the request's defaults."""
        where, ops = f'op "{request.name}" of job "{self.name}"', self.session.registry.ops
        need(request.type, f'{where} has no op type: call .Op("op_type_name")')
        own = listed(name for name, definition in ops.items() if definition.file)
        told = f'{where}: there is no op type "{request.type}"; registered: {own}'
        need(request.type in ops, told)
        definition = ops[request.type]
        where = f"{where}, {definition}"
        given = {"input": [name for name, _ in request.inputs], "output": request.outputs}
        for kind in given if definition.file else ["output"]:  # a built-in op takes any number
            known = getattr(definition, f"{kind}s")
            for name in [*given[kind], *known]:
                lookup(dict.fromkeys(known), kind, name, f"{where} ")
                times, what = given[kind].count(name), f'{where}: {kind} "{name}"'
                need(times, f'{what} is not given; add .{kind.title()}("{name}"…)')
                need(times == 1, f"{what} takes one blob, {times} given")
        for name in request.attrs:
            lookup(definition.attrs, "attr", name, f"{where} ")
        for name, attr in definition.attrs.items():
            value, what = request.attrs.get(name, attr.default), f'{where}: attr "{name}"'
            need(value is not REQUIRED, f"{what} must be set; it has no default")
            request.attrs[name] = attr_value(what, attr.type, value)
        if definition.file:
            request.inputs.sort(key=lambda item: definition.inputs.index(item[0]))
            tag = definition.attrs.get("device_sub_tag")
            told = f'{where} lacks .Attr("device_sub_tag", "py"): without it the framework looks'
            need(tag and tag.default == "py", f"{told} for a kernel in C++, and there is none")
        check_placement(placement, where)
        return definition

    def new_name(self, stem):
        """Return a name that no op of this job has: stem_0, stem_1 …"""
        taken = {op.name for op in self.ops}
        return next(name for n in count() if (name := f"{stem}_{n}") not in taken)


def check_placement(device, where):
    """Raise OpError, with the original's words, for an op that is not on the cpu."""
    placed = f'is placed on "{device}"' if device else 'has no placement, which means "gpu"'
    advice = 'write the op inside `with flow.scope.placement("cpu", "0:0"):`'
    told = f'{where} {placed}: {NO_KERNEL} A numpy kernel runs on "cpu" only: {advice}'
    need(device == "cpu", told)


def writer() -> Writer:
    """Return the job being written down."""
    found = _writing.get()
    need(found, "this works only inside a @flow.global_function while its job is written down")
    return found


def writing(job):
    """Make a Writer the current one inside a block."""
    inside = _writing.get() is not None
    need(not inside, f'job "{job.name}" is called inside another job; call it from outside')
    return _setting(_writing, job)


def placement(device_tag, machine_device_ids="0:0"):
    """Place the ops of the block on a device. Mirrors flow.scope.placement."""
    need(device_tag in ("cpu", "gpu"), f'the device is "cpu" or "gpu", not {device_tag!r}')
    return _setting(PLACED, device_tag)


@contextmanager
def _setting(variable, value):
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)
