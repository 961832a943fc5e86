"""Reverse-mode differentiation: appends ops to a job that compute gradients of its loss. A *blob*
is a named array of a job. An *argument* is (name, index), one input or output of an op. A gradient
*rule* gets a ForwardOp, the op whose gradients are wanted. It returns Requests, the ops that
compute them, and binds each input to the blob of its gradient.

Both front ends, Python and C++, work with these. Mirrors oneflow/core/job_rewriter/autograd.cpp and
BackwardOpConfContext of oneflow/core/framework/user_op_conf.h (0.3).
"""

# ruff: noqa: D102 - the names are the original's, and say what they do

from collections import Counter
from dataclasses import dataclass, field

from ...safety.arguments import quote_value
from .errors import OpError, add_file, get_by_name, quote_names, require, stage


@dataclass
class Request:
    """An op to be added to a job, not yet checked against its definition."""

    #: The op's own name in the job.
    name: str
    #: Its op type.
    type: str = ""
    #: (argument, blob's name), in the order in which they were given.
    inputs: list[tuple[str, str]] = field(default_factory=list)
    #: The names of its outputs; each becomes a blob.
    outputs: list[str] = field(default_factory=list)
    #: Attributes by name.
    attrs: dict[str, object] = field(default_factory=dict)

    @classmethod
    def built_in(cls, name, type_name, blobs, attrs):
        """Return a Request for a built-in op. All its inputs are called "in", its output "out"."""
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
    """What a gradient rule gets: an op of the job whose gradients are wanted."""

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
    #: The arguments of the inputs that need a gradient.
    wanted: frozenset
    #: Blob's name -> its Spec.
    specs: dict[str, object]
    #: Argument of an input -> the blob of its gradient, filled in by the rule.
    bound: dict[tuple[str, int], str] = field(default_factory=dict)

    def op_name(self):
        return self.name

    def attr(self, name):
        return get_by_name(self.attrs, "attr", name, f'op type "{self.type}" ')

    def input(self, name, index):
        return self._blob(self.inputs, "input", name, index)

    def output(self, name, index):
        return self._blob(self.outputs, "output", name, index)

    def output_grad(self, name, index):
        return self._blob(self.output_grads, "output", name, index)

    def _blob(self, blobs, kind, name, index):
        return get_by_name(blobs, kind, (name, index), f'op type "{self.type}" ')

    def InputGradBind(self, argument, get_blob):
        """Say that `get_blob()` returns the name of the blob with the gradient of an input.

        It is called only if that gradient is needed.
        """
        self.input(*argument)  # OpError if there is no such input
        if argument in self.wanted:
            self.bound[argument] = get_blob()


def OpArg(name, index):
    """Return the argument (name, index), as user_op::OpArg does in C++."""
    return (name, index)


class BackwardOpConfContext:
    """The context that a gradient rule in Python gets: it defines and builds backward ops."""

    def __init__(self, forward):
        """Begin without backward ops. `forward` is the ForwardOp whose gradients are wanted."""
        self.requests = []  # the backward ops that were built, in order
        self._forward = forward
        self._rules = {}  # name of a backward op -> the function that builds it
        self._built = {}  # name of a backward op -> the BackwardOpBuilder, built

    def FwOp(self):
        return self._forward

    def DefineOp(self, name, function):
        """Set the function that builds a backward op. GetOp calls it when the op is needed."""
        self._rules[name] = function

    def GetOp(self, name):
        """Return a backward op; the first call for a name builds it."""
        if name not in self._built:
            rules = quote_names(self._rules)
            require(
                name in self._rules, f'asks for backward op "{name}"; DefineOp was given {rules}'
            )
            # The rule is removed, so that an op whose rule asks for the op itself raises OpError.
            build = self._rules.pop(name)
            op = build(BackwardOpBuilder(name))
            is_built = isinstance(op, BackwardOpBuilder) and op.is_built
            require(is_built, f'backward op "{name}" is not built: end with .Build()')
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
        return get_by_name(blobs, "output", (name, index), f'op type "{self.type}" ')


class Backward:
    """One pass over the forward ops, last to first: reverse-mode differentiation."""

    def __init__(self, writer):
        """Prepare the pass for the job of `writer`, a job.Writer."""
        self.writer = writer
        # Blob -> the blobs whose sum is its gradient: one for each op that reads the blob.
        self._partial_gradients = {}
        self.forward = list(writer.ops)
        self._differentiable = set(writer.trainable)  # blobs that depend on a variable
        for op in self.forward:
            if any(blob in self._differentiable for _, blob in op.inputs):
                self._differentiable.update(output.blob for output in op.outputs)

    @stage("backward")
    def run(self):
        """Append the backward ops of a train job; fill in writer.gradients."""
        loss = self.writer.loss
        require(
            loss.name in self._differentiable,
            f'job "{self.writer.name}": the loss {loss} depends on no trainable variable; '
            "make one with flow.get_variable",
        )
        self._partial_gradients[loss.name] = [
            self._append_built_in("constant_like", [loss.name], value=1.0)
        ]
        for op in reversed(self.forward):
            outputs = [output.blob for output in op.outputs]
            # Gradients are needed only where an output leads to the loss and depends on a variable.
            has_gradient = any(
                blob in self._partial_gradients and blob in self._differentiable for blob in outputs
            )
            if op.inputs and has_gradient:
                self._append_backward_ops(op)
        self.writer.gradients = {
            blob: self._get_total_gradient(blob) for blob in self._partial_gradients
        }

    def _append_backward_ops(self, op):
        """Append the backward ops of one op, and note the gradients that they give its inputs."""
        location = f'op "{op.name}" of job "{self.writer.name}"'
        rule = self._find_rule(op, location)
        forward = self._make_forward_op(op)
        try:
            for request in rule.generate(forward):
                self.writer.add(request, "backward", op.placement)
            for argument in sorted(forward.wanted):
                gradient = self._check_bound_gradient(forward, argument)
                blob = forward.inputs[argument]
                self._partial_gradients.setdefault(blob, []).append(gradient)
        except OpError as error:
            raise OpError(f"{location}: {rule}: {error}") from error

    def _find_rule(self, op, location):
        """Return the gradient rule of an op's type; OpError if none is registered.

        `location` names the op at the beginning of the message.
        """
        rules = self.writer.session.registry.gradients
        if op.type not in rules:
            # Built-in rules have no file, and are not named in the message.
            registered = [name for name, rule in rules.items() if rule.file]
            missing = add_file(f'no gradient is registered for op type "{op.type}"', op.file)
            raise OpError(
                f"{location}: {missing}; its definition needs "
                f'REGISTER_USER_OP_GRAD("{op.type}") '
                f"(registered: {quote_names(registered, 'none')})"
            )
        return rules[op.type]

    def _make_forward_op(self, op) -> ForwardOp:
        """Return the ForwardOp of an op, for its gradient rule.

        This may append ops to the job, which add up the gradients of the op's outputs.
        """
        inputs = number_arguments(op.inputs)
        outputs = {(output.argument, 0): output.blob for output in op.outputs}
        definition = self.writer.session.registry.ops[op.type]
        return ForwardOp(
            name=op.name,
            type=op.type,
            inputs=inputs,
            outputs=outputs,
            output_grads={
                argument: self._get_total_gradient(blob) for argument, blob in outputs.items()
            },
            attrs=dict(op.attrs),
            attr_types={name: attr.type for name, attr in definition.attrs.items()},
            wanted=frozenset(name for name, blob in inputs.items() if blob in self._differentiable),
            specs={name: output.spec for name, output in self.writer.blobs.items()},
        )

    def _check_bound_gradient(self, forward, argument):
        """Return the blob that a rule has bound to an input as its gradient.

        OpError if the rule has bound none, or one that does not exist or has another shape or
        dtype.
        """
        name, index = argument
        target = f'input ("{name}", {index})'
        gradient = forward.bound.get(argument)
        if gradient is None:
            bound_names = quote_names(name for name, _ in forward.bound)
            raise OpError(f"binds no gradient to {target}, which needs one; it binds {bound_names}")
        blobs = self.writer.blobs
        is_blob = isinstance(gradient, str) and gradient in blobs
        require(is_blob, f"binds {quote_value(gradient)} to {target}, and no blob has that name")

        blob = blobs[forward.inputs[argument]]
        require(
            blobs[gradient].spec == blob.spec,
            f"binds {blobs[gradient]} to {target}, whose blob is {blob}: "
            "a gradient has its input's shape and dtype",
        )
        return gradient

    def _get_total_gradient(self, blob):
        """Return the blob with the whole gradient of a blob.

        If several ops read the blob, an op is appended that adds up their gradients. If none does,
        an op is appended that makes zeros.
        """
        parts = self._partial_gradients.get(blob, [])
        if not parts:
            return self._append_built_in("constant_like", [blob], value=0.0)
        if len(parts) > 1:
            parts = [self._append_built_in("add_n", parts)]
            self._partial_gradients[blob] = parts  # a second call then appends no op
        return parts[0]

    def _append_built_in(self, type_name, blobs, **attrs):
        """Append a built-in op to the backward pass; return the name of its output blob."""
        name = self.writer.new_name(f"{type_name}_grad")
        request = Request.built_in(name, type_name, blobs, attrs)
        outputs = self.writer.add(request, "backward", "cpu")
        return outputs[0].blob


def number_arguments(inputs):
    """Return {(name, index): value} for pairs (name, value).

    The index counts how often the name came before: [("in", a), ("in", b)] ->
    {("in", 0): a, ("in", 1): b}.
    """
    values = {}
    counts = Counter()
    for name, value in inputs:
        values[name, counts[name]] = value
        counts[name] += 1
    return values
