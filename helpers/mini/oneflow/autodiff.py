"""Gradients: more ops, appended to the job's list, from the loss back to the variables.

What a rule sees is a ForwardOp, what it gives are Requests, in both front ends. Mirrors
oneflow/core/job_rewriter/autograd.cpp and BackwardOpConfContext of
oneflow/core/framework/user_op_conf.h (0.3).
"""

# ruff: noqa: D102 - the names are the original's, and say what they do

from collections import Counter
from dataclasses import dataclass, field

from ...safety.arguments import quote_value
from .errors import OpError, in_file, listed, lookup, need, stage


@dataclass
class Request:
    """An op that somebody asks for: not yet checked against its definition."""

    #: The op's own name in the job.
    name: str
    #: Its op type.
    type: str = ""
    #: (argument, blob's name), in the order in which they were given.
    inputs: list[tuple[str, str]] = field(default_factory=list)
    #: The arguments that become blobs.
    outputs: list[str] = field(default_factory=list)
    #: Attributes by name.
    attrs: dict[str, object] = field(default_factory=dict)

    @classmethod
    def built_in(cls, name, type_name, blobs, attrs):
        """Ask for an op of the framework's own, whose inputs are all called "in"."""
        inputs = [("in", blob) for blob in blobs]
        return cls(name, type_name, inputs, ["out"], attrs)

    def blob(self, output):
        return f"{self.name}/{output}_0"

    def Op(self, op_type_name):
        self.type = op_type_name
        return self

    def Output(self, argument):
        self.outputs.append(argument)
        return self

    def Attr(self, name, value):
        self.attrs[name] = value
        return self


@dataclass(frozen=True)
class ForwardOp:
    """The op whose gradient is asked for. Arguments are (name, index), blobs are names."""

    #: The op's own name in the job.
    name: str
    #: Its op type.
    type: str
    #: Argument -> blob.
    inputs: dict[tuple[str, int], str]
    #: Argument -> blob.
    outputs: dict[tuple[str, int], str]
    #: Argument of an output -> the blob of that output's gradient.
    output_grads: dict[tuple[str, int], str]
    #: Attributes by name.
    attrs: dict[str, object]
    #: The type of each attribute.
    attr_types: dict[str, str]
    #: The inputs that need a gradient.
    wanted: frozenset
    #: Blob's name -> its Spec.
    specs: dict[str, object]
    #: Input -> its gradient's blob, filled in by the rule.
    bound: dict[tuple[str, int], str] = field(default_factory=dict)

    def op_name(self):
        return self.name

    def attr(self, name):
        return lookup(self.attrs, "attr", name, f'op type "{self.type}" ')

    def input(self, name, index):
        return self._blob(self.inputs, "input", name, index)

    def output(self, name, index):
        return self._blob(self.outputs, "output", name, index)

    def output_grad(self, name, index):
        return self._blob(self.output_grads, "output", name, index)

    def _blob(self, blobs, kind, name, index):
        return lookup(blobs, kind, (name, index), f'op type "{self.type}" ')

    def InputGradBind(self, argument, get_blob):
        """Bind an input's gradient to the blob that get_blob() names; called if it is needed."""
        self.input(*argument)
        if argument in self.wanted:
            self.bound[argument] = get_blob()


def OpArg(name, index):
    """Name one argument of an op, as user_op::OpArg does."""
    return (name, index)


class BackwardOpConfContext:
    """What the function given to SetBackwardOpConfGenFn gets."""

    def __init__(self, forward):
        """Begin without backward ops. `forward` is the ForwardOp whose gradient is asked for."""
        self.requests = []  # the backward ops that were built, in order
        self._forward = forward
        self._rules = {}  # name -> the function that builds that op
        self._built = {}  # name -> the op

    def FwOp(self):
        return self._forward

    def DefineOp(self, name, function):
        """Say how a backward op is built; it is built when GetOp first asks for it."""
        self._rules[name] = function

    def GetOp(self, name):
        """Return a backward op, built on the first call."""
        if name not in self._built:
            rules = listed(self._rules)
            need(name in self._rules, f'asks for backward op "{name}"; DefineOp was given {rules}')
            build = self._rules.pop(name)  # so an op that asks for itself is refused
            op = build(BackwardOpBuilder(name))
            is_built = isinstance(op, BackwardOpBuilder) and op.is_built
            need(is_built, f'backward op "{name}" is not built: end with .Build()')
            self._built[name] = op
            self.requests.append(op)
        return self._built[name]


class BackwardOpBuilder(Request):
    """A backward op, under construction until `Build`; then its outputs can be bound."""

    is_built = False
    OpTypeName = Request.Op

    def InputBind(self, argument, blob):
        self.inputs.append((argument, blob))
        return self

    def Build(self):
        self.is_built = True
        return self

    def output(self, name, index):
        blobs = {(output, 0): self.blob(output) for output in self.outputs}
        return lookup(blobs, "output", (name, index), f'op type "{self.type}" ')


class Backward:
    """One pass over the forward ops, last to first: reverse-mode differentiation."""

    def __init__(self, writer):
        """Prepare the pass of the job that `writer`, a job.Writer, writes down."""
        self.writer = writer
        # Blob's name -> the names of the blobs whose sum is its gradient: one for each reader.
        self.parts = {}
        self.forward = list(writer.ops)
        self.varying = set(writer.trainable)  # the blobs that depend on a variable
        for op in self.forward:
            if any(blob in self.varying for _, blob in op.inputs):
                self.varying.update(output.blob for output in op.outputs)

    @stage("backward")
    def run(self):
        """Append the backward ops of a train job; fill in writer.gradients."""
        loss = self.writer.loss
        need(
            loss.name in self.varying,
            f'job "{self.writer.name}": the loss {loss} depends on no trainable variable; '
            "make one with flow.get_variable",
        )
        self.parts[loss.name] = [self.emit("constant_like", [loss.name], value=1.0)]
        for op in reversed(self.forward):
            outputs = [output.blob for output in op.outputs]
            # Its outputs lead to the loss, and depend on a variable.
            has_gradient = any(blob in self.parts and blob in self.varying for blob in outputs)
            if op.inputs and has_gradient:
                self.back(op)
        self.writer.gradients = {blob: self.total(blob) for blob in self.parts}

    def back(self, op):
        """Append the backward ops of one op and keep what they give for its inputs."""
        where = f'op "{op.name}" of job "{self.writer.name}"'
        rule = self._find_rule(op, where)
        forward = self._make_forward_op(op)
        try:
            for request in rule.generate(forward):
                self.writer.add(request, "backward", op.placement)
            for argument in sorted(forward.wanted):
                gradient = self.bound(forward, argument)
                blob = forward.inputs[argument]
                self.parts.setdefault(blob, []).append(gradient)
        except OpError as error:
            raise OpError(f"{where}: {rule}: {error}") from error

    def _find_rule(self, op, where):
        """Return the gradient rule of an op's type, or raise OpError."""
        rules = self.writer.session.registry.gradients
        if op.type not in rules:
            own_names = [name for name, rule in rules.items() if rule.file]
            missing = in_file(f'no gradient is registered for op type "{op.type}"', op.file)
            raise OpError(
                f"{where}: {missing}; its definition needs "
                f'REGISTER_USER_OP_GRAD("{op.type}") (registered: {listed(own_names, "none")})'
            )
        return rules[op.type]

    def _make_forward_op(self, op) -> ForwardOp:
        """Return what a rule sees of an op.

        The ops that add up the gradients of its outputs are appended to the job.
        """
        inputs = numbered(op.inputs)
        outputs = {(output.argument, 0): output.blob for output in op.outputs}
        definition = self.writer.session.registry.ops[op.type]
        return ForwardOp(
            name=op.name,
            type=op.type,
            inputs=inputs,
            outputs=outputs,
            output_grads={argument: self.total(blob) for argument, blob in outputs.items()},
            attrs=dict(op.attrs),
            attr_types={name: attr.type for name, attr in definition.attrs.items()},
            wanted=frozenset(name for name, blob in inputs.items() if blob in self.varying),
            specs={name: output.spec for name, output in self.writer.blobs.items()},
        )

    def bound(self, forward, argument):
        """Return the blob that a rule has bound to an input, checked."""
        name, index = argument
        target = f'input ("{name}", {index})'
        gradient = forward.bound.get(argument)
        if gradient is None:
            bound_names = listed(name for name, _ in forward.bound)
            raise OpError(f"binds no gradient to {target}, which needs one; it binds {bound_names}")
        blobs = self.writer.blobs
        is_blob = isinstance(gradient, str) and gradient in blobs
        need(is_blob, f"binds {quote_value(gradient)} to {target}, and no blob has that name")

        blob = blobs[forward.inputs[argument]]
        need(
            blobs[gradient].spec == blob.spec,
            f"binds {blobs[gradient]} to {target}, whose blob is {blob}: "
            "a gradient has its input's shape and dtype",
        )
        return gradient

    def total(self, blob):
        """Return the one gradient of a blob: its parts added up, or zeros."""
        parts = self.parts.get(blob, [])
        if not parts:
            return self.emit("constant_like", [blob], value=0.0)
        if len(parts) > 1:
            parts = [self.emit("add_n", parts)]
            self.parts[blob] = parts  # so that a second question adds no second op
        return parts[0]

    def emit(self, type_name, blobs, **attrs):
        """Append a built-in backward op; return the name of its blob."""
        name = self.writer.new_name(f"{type_name}_grad")
        request = Request.built_in(name, type_name, blobs, attrs)
        outputs = self.writer.add(request, "backward", "cpu")
        return outputs[0].blob


def numbered(inputs):
    """Return {(argument, index): value} of pairs in order: an argument may occur several times."""
    values = {}
    counts = Counter()
    for name, value in inputs:
        values[name, counts[name]] = value
        counts[name] += 1
    return values
