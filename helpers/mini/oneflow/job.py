"""A job: a list of ops as data; and the Writer, which appends ops while a job function runs. A
*blob* is a named array of the job. A Request is an op that has not been checked. The Writer checks
it against the definition of its op type, and infers the shapes and dtypes of its output blobs.
Mirrors the job proto that OneFlow 0.3 kept (oneflow/core/job/job.proto), and JobBuildAndInferCtx
(job_build_and_infer_ctx.cpp).
"""

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

from .autodiff import number_arguments
from .errors import OpError, get_by_name, quote_names, require, short_path
from .kernels import NO_KERNEL
from .registry import REQUIRED, Spec, convert_attr_value, make_spec

PASSES = ("forward", "backward", "update")
# The device of the `placement` block around. None means the gpu, as in a build of OneFlow with
# CUDA.
CURRENT_DEVICE = ContextVar("placement", default=None)
_writing = ContextVar("job being written down", default=None)


class Output(NamedTuple):
    """A blob that an op writes. Its `str` is such as "relu_0/out_0: float32[5]"."""

    #: The output's name in the definition.
    argument: str
    #: The blob's name in the job.
    blob: str
    #: The size of each dimension.
    shape: tuple[int, ...]
    #: Its data type.
    dtype: str

    @property
    def spec(self):
        """Shape and dtype together."""
        return Spec(self.shape, self.dtype)

    def __str__(self):
        return f"{self.blob}: {self.spec}"


@dataclass(frozen=True)
class Op:
    """One op of a job."""

    #: Its own name.
    name: str
    #: Its op type.
    type: str
    #: (argument, blob's name), in the order of the definition.
    inputs: tuple[tuple[str, str], ...]
    #: The blobs that it writes.
    outputs: tuple[Output, ...]
    #: (name, value).
    attrs: tuple[tuple[str, object], ...] = ()
    #: The device that it is placed on.
    placement: str = "cpu"
    #: Its pass: one of PASSES.
    part: str = "forward"
    #: The file of its definition; "" for the framework's own.
    file: str = ""

    def __str__(self):
        """Return such as "sum = reduce_sum(in=x/out_0) -> sum/out_0: float32[]"."""
        inputs = [f"{argument}={blob}" for argument, blob in self.inputs]
        # The tag is left out, because it is the same for each op of a learner.
        attrs = [f"{name}={value!r}" for name, value in self.attrs if name != "device_sub_tag"]
        call = f"{self.name} = {self.type}({', '.join(inputs + attrs)})"
        if not self.outputs:
            return call
        return f"{call} -> {', '.join(map(str, self.outputs))}"


@dataclass(frozen=True)
class Job:
    """A job that has been written down."""

    #: The name of the job function.
    name: str
    #: "predict" or "train".
    kind: str
    #: Its ops, in the order in which they run.
    ops: tuple[Op, ...]
    #: The blobs that a call returns.
    returns: tuple[str, ...]
    #: (blob, blob of its gradient).
    gradients: tuple[tuple[str, str], ...] = ()

    @property
    def forward(self) -> tuple[Op, ...]:
        """The ops of the forward pass."""
        return tuple(op for op in self.ops if op.part == "forward")

    @property
    def blobs(self) -> dict[str, Output]:
        """All blobs by name."""
        return {output.blob: output for op in self.ops for output in op.outputs}

    def __str__(self):
        lines = [f"job {self.name} ({self.kind}), {len(self.ops)} ops"]
        for part in PASSES:
            ops = [op for op in self.ops if op.part == part]
            if ops:
                lines.append(f"{part}:")
            lines += [f"  {op}" for op in ops]
        lines.append(f"returns {', '.join(self.returns) or 'nothing'}")
        return "\n".join(lines)


class Writer:
    """A job under construction, while its job function runs."""

    def __init__(self, name, kind, session):
        """Begin a job without ops; `kind` is "predict" or "train"."""
        self.name = name
        self.kind = kind
        self.session = session
        self.ops = []
        self.blobs = {}  # blob's name -> Output
        self.loss = None  # the Blob `loss` in `sgd.minimize(loss)`
        self.optimizer = None  # the SGD in it
        self.gradients = {}  # blob's name -> name of the blob with its gradient
        self.watches = []  # (blob's name, whether its gradient is watched, handler)
        self.trainable = []  # names of the blobs of trainable variables

    def add(self, request, part="forward", placement=None):
        """Check a request, infer its outputs, and append the op; return the list of its Outputs.

        `part` is one of PASSES. `placement` is a device; None takes that of the `placement` block
        around. OpError if the request does not fit the definition of its op type.
        """
        placement = placement or CURRENT_DEVICE.get()
        definition = self.fill_in_request(request, placement)
        outputs = self._infer_outputs(request, definition)
        op = Op(
            name=request.name,
            type=request.type,
            inputs=tuple(request.inputs),
            outputs=tuple(outputs),
            attrs=tuple(request.attrs.items()),
            placement=placement,
            part=part,
            file=short_path(definition.file),
        )
        self.append(op)
        return outputs

    def _infer_outputs(self, request, definition) -> list[Output]:
        """Run the inference function of the op type; return an Output for each output.

        OpError if the function raises, or does not set a shape and a dtype.
        """
        location = self._describe_place(request)
        for _, blob in request.inputs:
            require(
                blob in self.blobs, f'{location} reads blob "{blob}", which no op before it writes'
            )
        specs = number_arguments([(name, self.blobs[blob].spec) for name, blob in request.inputs])

        outputs = []
        try:
            for name, (shape, dtype) in definition.infer(specs, request.attrs).items():
                require(shape is not None, f'never sets the shape of output "{name}"')
                spec = make_spec(shape, dtype, f'gives output "{name}" this shape and dtype')
                outputs.append(Output(name, request.blob(name), *spec))
        except OpError as error:
            message = f"{location}: the inference function of {definition} {error}"
            raise OpError(message, "infer") from error
        return outputs

    def _describe_place(self, request) -> str:
        return f'op "{request.name}" of job "{self.name}"'

    def append(self, op):
        """Append a checked op; OpError if another op of the job has its name."""
        used_names = [other.name for other in self.ops]
        require(
            op.name not in used_names,
            f'job "{self.name}" already has an op named "{op.name}"; give each op its own name',
        )
        self.ops.append(op)
        self.blobs.update({output.blob: output for output in op.outputs})

    def fill_in_request(self, request, placement):
        """Check a request against the definition of its op type, and return that OpDef.

        The request is changed: it gets the defaults of attributes that it leaves out, and its
        inputs come into the order of the definition. OpError if it does not fit.
        """
        definition = self._find_definition(request)
        location = f"{self._describe_place(request)}, {definition}"
        _require_arguments(request, definition, location)
        _fill_attrs(request, definition, location)
        if definition.file:  # not built in
            request.inputs.sort(key=lambda item: definition.inputs.index(item[0]))
            _require_python_tag(definition, location)
        check_placement(placement, location)
        return definition

    def _find_definition(self, request):
        """Return the OpDef of a request's op type; OpError if there is none of that name."""
        ops = self.session.registry.ops
        location = self._describe_place(request)
        require(request.type, f'{location} has no op type: call .Op("op_type_name")')
        # Built-in ops have no file, and are not named in the message.
        learner_names = quote_names(name for name, definition in ops.items() if definition.file)
        require(
            request.type in ops,
            f'{location}: there is no op type "{request.type}"; registered: {learner_names}',
        )
        return ops[request.type]

    def new_name(self, stem):
        """Return a name that no op of this job has: stem_0, stem_1 …"""
        taken = {op.name for op in self.ops}
        for number in count():
            name = f"{stem}_{number}"
            if name not in taken:
                return name


def _require_arguments(request, definition, location):
    """Raise OpError unless a request has each input and output of the definition once."""
    if definition.file:  # a built-in op takes any number of inputs
        inputs = [name for name, _ in request.inputs]
        _require_each_once("input", inputs, definition.inputs, location)
    _require_each_once("output", request.outputs, definition.outputs, location)


def _require_each_once(kind, names, defined_names, location):
    """Raise OpError unless `names` has each defined name once, and no other.

    `kind` is "input" or "output", and `location` begins the message.
    """
    for name in [*names, *defined_names]:
        # OpError for a name that is not defined.
        get_by_name(dict.fromkeys(defined_names), kind, name, f"{location} ")
        count_given = names.count(name)
        subject = f'{location}: {kind} "{name}"'
        require(count_given > 0, f'{subject} is not given; add .{kind.title()}("{name}"…)')
        require(count_given == 1, f"{subject} takes one blob, {count_given} given")


def _fill_attrs(request, definition, location):
    """Check the attributes of a request, and add the defaults of those that it leaves out."""
    for name in request.attrs:  # OpError for a name that the definition lacks
        get_by_name(definition.attrs, "attr", name, f"{location} ")
    for name, attr in definition.attrs.items():
        value = request.attrs.get(name, attr.default)
        subject = f'{location}: attr "{name}"'
        require(value is not REQUIRED, f"{subject} must be set; it has no default")
        request.attrs[name] = convert_attr_value(subject, attr.type, value)


def _require_python_tag(definition, location):
    """Raise OpError unless the definition has an attribute that says that its kernel is in Python.

    As in OneFlow, this is the attribute "device_sub_tag" with the default "py".
    """
    tag = definition.attrs.get("device_sub_tag")
    require(
        tag and tag.default == "py",
        f'{location} lacks .Attr("device_sub_tag", "py"): without it the framework looks '
        "for a kernel in C++, and there is none",
    )


def check_placement(device, location):
    """Raise OpError, with OneFlow's message, unless an op (at `location`) is on the "cpu"."""
    if device == "cpu":
        return
    placed = f'is placed on "{device}"' if device else 'has no placement, which means "gpu"'
    raise OpError(
        f'{location} {placed}: {NO_KERNEL} A numpy kernel runs on "cpu" only: '
        'write the op inside `with flow.scope.placement("cpu", "0:0"):`'
    )


def current_writer() -> Writer:
    """Return the Writer of the job function that is running; OpError outside of one."""
    job = _writing.get()
    require(job, "this works only inside a @flow.global_function while its job is written down")
    return job


def set_current_writer(job):
    """Return a `with` block in which the Writer `job` is the current one."""
    is_inside = _writing.get() is not None
    require(not is_inside, f'job "{job.name}" is called inside another job; call it from outside')
    return _set_in_block(_writing, job)


def placement(device_tag, machine_device_ids="0:0"):
    """Return a `with` block whose ops are placed on a device. Mirrors flow.scope.placement."""
    require(device_tag in ("cpu", "gpu"), f'the device is "cpu" or "gpu", not {device_tag!r}')
    return _set_in_block(CURRENT_DEVICE, device_tag)


@contextmanager
def _set_in_block(variable, value):
    """Set a ContextVar inside a `with` block, and restore its value afterwards."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)
