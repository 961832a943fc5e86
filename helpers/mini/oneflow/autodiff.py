"""Gradients: more ops, appended to the job's list, from the loss back to the variables.

What a rule sees is a ForwardOp, what it gives are Requests, in both front ends. Mirrors
oneflow/core/job_rewriter/autograd.cpp and BackwardOpConfContext of
oneflow/core/framework/user_op_conf.h (0.3).
"""

# ruff: noqa: D102 - the names are the original's, and say what they do

from collections import Counter
from dataclasses import dataclass, field

from helpers.mini.oneflow.errors import OpError, in_file, listed, lookup, need, stage
from helpers.mini.oneflow.registry import GradientDef
from helpers.safety.arguments import quote_value


@dataclass
class Request:
    """An op that somebody asks for: not yet checked against its definition."""

    name: str
    type: str = ""
    inputs: list[tuple[str, str]] = field(default_factory=list)  # (argument, blob's name)
    outputs: list[str] = field(default_factory=list)
    attrs: dict[str, object] = field(default_factory=dict)

    @classmethod
    def built_in(cls, name, type_name, blobs, attrs):
        """Ask for an op of the framework's own, whose inputs are all called "in"."""
        return cls(name, type_name, [("in", blob) for blob in blobs], ["out"], attrs)

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

    name: str
    type: str
    inputs: dict[tuple[str, int], str]
    outputs: dict[tuple[str, int], str]
    output_grads: dict[tuple[str, int], str]
    attrs: dict[str, object]
    attr_types: dict[str, str]
    wanted: frozenset  # the inputs that need a gradient
    specs: dict[str, object]  # blob's name -> its Spec
    bound: dict[tuple[str, int], str] = field(default_factory=dict)  # input -> its gradient's blob

    def op_name(self):
        return self.name

    def attr(self, name):
        return self._find("attr", name, self.attrs)

    def input(self, name, index):
        return self._find("input", (name, index), self.inputs)

    def output(self, name, index):
        return self._find("output", (name, index), self.outputs)

    def output_grad(self, name, index):
        return self._find("output", (name, index), self.output_grads)

    def NeedGenGradTensor4OpInput(self, name, index):
        """Say whether anything asks for an input's gradient."""
        self.input(name, index)
        return (name, index) in self.wanted

    def InputGradBind(self, argument, get_blob):
        """Bind an input's gradient to the blob that get_blob() names; called if it is needed."""
        if self.NeedGenGradTensor4OpInput(*argument):
            self.bound[tuple(argument)] = get_blob()

    def _find(self, kind, key, table):
        return lookup(table, kind, key, f'op type "{self.type}" ')


def OpArg(name, index):
    """Name one argument of an op, as user_op::OpArg does."""
    return (name, index)


class BackwardOpConfContext:
    """What the function given to SetBackwardOpConfGenFn gets."""

    def __init__(self, forward):
        self.requests, self._forward, self._rules, self._built = [], forward, {}, {}

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
            made = self._rules.pop(name)(BackwardOpBuilder(name))
            fine = isinstance(made, BackwardOpBuilder) and made.is_built
            need(fine, f'backward op "{name}" is not built: end with .Build()')
            self._built[name] = made
            self.requests.append(made)
        return self._built[name]


class BackwardOpBuilder(Request):
    """A backward op, under construction until `Build`; then its outputs can be bound."""

    is_built, OpTypeName = False, Request.Op

    def InputBind(self, argument, blob):
        self.inputs.append((argument, blob))
        return self

    def Build(self):
        self.is_built = True
        return self

    def output(self, name, index):
        known = {(output, 0): self.blob(output) for output in self.outputs}
        return lookup(known, "output", (name, index), f'op type "{self.type}" ')


@stage("backward")
def append_backward(writer):
    """Append the backward ops of a train job; fill in writer.gradients."""
    _Backward(writer).run()


class _Backward:
    """One pass over the forward ops, last to first."""

    def __init__(self, writer):
        self.writer, self.parts = writer, {}  # blob's name -> the parts of its gradient
        self.forward, self.varying = list(writer.ops), set(writer.trainable)
        for op in self.forward:  # the blobs that depend on a variable
            if any(blob in self.varying for _, blob in op.inputs):
                self.varying.update(output.blob for output in op.outputs)

    def run(self):
        loss = self.writer.loss
        told = f'job "{self.writer.name}": the loss {loss} depends on no trainable variable'
        need(loss.name in self.varying, f"{told}; make one with flow.get_variable")
        self.parts[loss.name] = [self.emit("constant_like", [loss.name], value=1.0)]
        for op in reversed(self.forward):
            outputs = [output.blob for output in op.outputs]
            if op.inputs and any(b in self.parts and b in self.varying for b in outputs):
                self.back(op)
        self.writer.gradients = {blob: self.total(blob) for blob in self.parts}

    def back(self, op):
        """Append the backward ops of one op and keep what they give for its inputs."""
        where = f'op "{op.name}"'
        rule, forward = self.rule(op), self.asked(op)
        try:
            for request in rule.generate(forward):
                self.writer.add(request, "backward", op.placement)
        except OpError as error:
            raise OpError(f'{where} of job "{self.writer.name}": {rule}: {error}') from error
        for argument in sorted(forward.wanted):
            blob = forward.inputs[argument]
            bound = self.bound(forward.bound, argument, blob, f"{where}: {rule}")
            self.parts.setdefault(blob, []).append(bound)

    def rule(self, op) -> GradientDef:
        known = self.writer.session.registry.gradients
        if op.type not in known:
            own = ", ".join(f'"{name}"' for name, rule in known.items() if rule.file) or "none"
            what = in_file(f'no gradient is registered for op type "{op.type}"', op.file)
            raise OpError(
                f'op "{op.name}" of job "{self.writer.name}": {what}; its definition needs '
                f'REGISTER_USER_OP_GRAD("{op.type}") (registered: {own})'
            )
        return known[op.type]

    def asked(self, op):
        """Return the ForwardOp of an op, with a gradient for each of its outputs."""
        inputs = numbered(op.inputs)
        outputs = {(output.argument, 0): output.blob for output in op.outputs}
        grads = {
            argument: self.total(b)
            if b in self.parts
            else self.emit("constant_like", [b], value=0.0)
            for argument, b in outputs.items()
        }
        wanted = frozenset(argument for argument, blob in inputs.items() if blob in self.varying)
        specs = {name: output.spec for name, output in self.writer.blobs.items()}
        known = self.writer.session.registry.op(op.type).attrs
        types = {name: attr.type for name, attr in known.items()}
        attrs = dict(op.attrs)
        return ForwardOp(op.name, op.type, inputs, outputs, grads, attrs, types, wanted, specs)

    def bound(self, table, argument, blob, where):
        """Return the blob that a rule has bound to an input, checked."""
        to = f'input ("{argument[0]}", {argument[1]})'
        bound = ", ".join(f'("{name}", {index})' for name, index in table) or "nothing"
        told = f"{where} binds no gradient to {to}, which needs one; it binds {bound}"
        need(argument in table, told)
        gradient, known = table[argument], self.writer.blobs
        fine = isinstance(gradient, str) and gradient in known
        need(fine, f"{where} binds {quote_value(gradient)} to {to}, and no blob has that name")
        need(
            known[gradient].spec == known[blob].spec,
            f"{where} binds {known[gradient]} to {to}, whose blob is {known[blob]}: "
            "a gradient has its input's shape and dtype",
        )
        return gradient

    def total(self, blob):
        """Return the one gradient of a blob; its parts are added up first."""
        if len(parts := self.parts[blob]) > 1:
            self.parts[blob] = parts = [self.emit("add_n", parts)]
        return parts[0]

    def emit(self, type_name, blobs, **attrs):
        """Append a built-in backward op; return the name of its blob."""
        name = self.writer.new_name(f"{type_name}_grad")
        request = Request.built_in(name, type_name, blobs, attrs)
        return self.writer.add(request, "backward", "cpu")[0].blob


def numbered(inputs):
    """Return {(argument, index): value} of pairs in order: an argument may stand several times."""
    found, counts = {}, Counter()
    for name, value in inputs:
        found[name, counts[name]] = value
        counts[name] += 1
    return found
