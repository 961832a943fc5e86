"""Gradients: more ops, appended to the job's list, from the loss back to the variables.

What a rule sees is a ForwardOp, what it gives are Requests, in both front ends. Mirrors
oneflow/core/job_rewriter/autograd.cpp and BackwardOpConfContext of
oneflow/core/framework/user_op_conf.h (0.3).
"""

# ruff: noqa: D102 - the names are the original's, and say what they do

from collections import Counter
from dataclasses import dataclass, field
from functools import partialmethod

from ...safety.arguments import quote_value
from .errors import OpError, in_file, listed, lookup, need, stage


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
        return lookup(self.attrs, "attr", name, f'op type "{self.type}" ')

    def _blob(self, kind, table, name, index):
        return lookup(getattr(self, table), kind, (name, index), f'op type "{self.type}" ')

    input = partialmethod(_blob, "input", "inputs")
    output = partialmethod(_blob, "output", "outputs")
    output_grad = partialmethod(_blob, "output", "output_grads")

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


class Backward:
    """One pass over the forward ops, last to first."""

    def __init__(self, writer):
        self.writer, self.parts = writer, {}  # blob's name -> the parts of its gradient
        self.forward, self.varying = list(writer.ops), set(writer.trainable)
        for op in self.forward:  # the blobs that depend on a variable
            if any(blob in self.varying for _, blob in op.inputs):
                self.varying.update(output.blob for output in op.outputs)

    @stage("backward")
    def run(self):
        """Append the backward ops of a train job; fill in writer.gradients."""
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
        known, where = self.writer.session.registry, f'op "{op.name}" of job "{self.writer.name}"'
        own = [name for name, rule in known.gradients.items() if rule.file]
        what = in_file(f'no gradient is registered for op type "{op.type}"', op.file)
        told = f'{where}: {what}; its definition needs REGISTER_USER_OP_GRAD("{op.type}")'
        need(op.type in known.gradients, f"{told} (registered: {listed(own, 'none')})")
        rule, inputs = known.gradients[op.type], numbered(op.inputs)
        outputs = {(output.argument, 0): output.blob for output in op.outputs}
        grads = {argument: self.total(blob) for argument, blob in outputs.items()}
        wanted = frozenset(argument for argument, blob in inputs.items() if blob in self.varying)
        specs = {name: output.spec for name, output in self.writer.blobs.items()}
        types = {name: attr.type for name, attr in known.ops[op.type].attrs.items()}
        attrs = dict(op.attrs), types
        forward = ForwardOp(op.name, op.type, inputs, outputs, grads, *attrs, wanted, specs)
        try:
            for request in rule.generate(forward):
                self.writer.add(request, "backward", op.placement)
            for argument in sorted(wanted):
                bound = self.bound(forward, argument)
                self.parts.setdefault(inputs[argument], []).append(bound)
        except OpError as error:
            raise OpError(f"{where}: {rule}: {error}") from error

    def bound(self, forward, argument):
        """Return the blob that a rule has bound to an input, checked."""
        to, found = f'input ("{argument[0]}", {argument[1]})', forward.bound.get(argument)
        bound = listed(name for name, _ in forward.bound)
        need(found is not None, f"binds no gradient to {to}, which needs one; it binds {bound}")
        known, blob = self.writer.blobs, self.writer.blobs[forward.inputs[argument]]
        fine = isinstance(found, str) and found in known
        need(fine, f"binds {quote_value(found)} to {to}, and no blob has that name")
        told = f"binds {known[found]} to {to}, whose blob is {blob}: a gradient has its input's"
        need(known[found].spec == blob.spec, f"{told} shape and dtype")
        return found

    def total(self, blob):
        """Return the one gradient of a blob: its parts added up, or zeros."""
        parts = self.parts.get(blob, [])
        if not parts:
            return self.emit("constant_like", [blob], value=0.0)
        if len(parts) > 1:
            self.parts[blob] = parts = [self.emit("add_n", parts)]
        return parts[0]

    def emit(self, type_name, blobs, **attrs):
        """Append a built-in backward op; return the name of its blob."""
        name = self.writer.new_name(f"{type_name}_grad")
        request = Request.built_in(name, type_name, blobs, attrs)
        return self.writer.add(request, "backward", "cpu")[0].blob


def numbered(inputs):
    """Return {(argument, index): value} of pairs in order: an argument may occur several times."""
    found, counts = {}, Counter()
    for name, value in inputs:
        found[name, counts[name]] = value
        counts[name] += 1
    return found
