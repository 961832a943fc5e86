"""Gradients: more ops, appended to the job's list, from the loss back to the variables.

Mirrors oneflow/core/job_rewriter/autograd.cpp of 0.3.
"""

from helpers.mini.oneflow.backward_op_conf import ForwardOp, Request
from helpers.mini.oneflow.errors import OpError, need, shown, stage
from helpers.mini.oneflow.registry import GradientDef


def append_backward(writer):
    """Append the backward ops of a train job; fill in writer.gradients."""
    with stage("backward"):
        _Backward(writer).run()


class _Backward:
    """One pass over the forward ops, last to first."""

    def __init__(self, writer):
        self.writer, self.parts = writer, {}  # blob's name -> the parts of its gradient
        self.forward = list(writer.ops)
        self.varying = varying(self.forward, writer.trainable)

    def run(self):
        """Append the ops."""
        loss = self.writer.loss
        need(
            loss.name in self.varying,
            f'job "{self.writer.name}": the loss {loss} depends on no trainable variable, '
            "so there is nothing to train; make one with flow.get_variable",
        )
        self.parts[loss.name] = [self.constant(loss.name, 1.0)]
        for op in reversed(self.forward):
            outputs = [output.blob for output in op.outputs]
            if op.inputs and any(b in self.parts and b in self.varying for b in outputs):
                self.back(op)
        self.writer.gradients = {blob: self.total(blob) for blob in self.parts}

    def back(self, op):
        """Append the backward ops of one op and keep what they give for its inputs."""
        rule = self.rule(op)
        forward = self.asked(op)
        try:
            plan = rule.generate(forward)
            for request in plan.requests:
                self.writer.add(request, "backward", op.placement)
        except OpError as error:
            raise OpError(f'op "{op.name}" of job "{self.writer.name}": {rule}: {error}') from error
        for argument in sorted(forward.wanted):
            blob = forward.inputs[argument]
            self.parts.setdefault(blob, []).append(
                self.bound(plan, argument, blob, f'op "{op.name}": {rule}')
            )

    def rule(self, op) -> GradientDef:
        """Return the gradient rule of an op's type."""
        known = self.writer.session.registry.gradients
        own = ", ".join(f'"{name}"' for name, rule in known.items() if rule.file) or "none"
        need(
            op.type in known,
            f'op "{op.name}" of job "{self.writer.name}": no gradient is registered for op type '
            f'"{op.type}"' + f" ({op.file})" * bool(op.file) + "; its definition needs "
            f'REGISTER_USER_OP_GRAD("{op.type}") (registered: {own})',
        )
        return known[op.type]

    def asked(self, op):
        """Return the ForwardOp of an op, with a gradient for each of its outputs."""
        inputs, counts = {}, {}
        for name, blob in op.inputs:
            index = counts[name] = counts.get(name, -1) + 1
            inputs[name, index] = blob
        outputs = {(output.argument, 0): output.blob for output in op.outputs}
        grads = {argument: self.output_grad(blob) for argument, blob in outputs.items()}
        wanted = frozenset(argument for argument, blob in inputs.items() if blob in self.varying)
        specs = {name: output.spec for name, output in self.writer.blobs.items()}
        types = self.writer.session.registry.op(op.type).attrs
        types = {name: attr.type for name, attr in types.items()}
        return ForwardOp(
            op.name, op.type, inputs, outputs, grads, dict(op.attrs), types, wanted, specs
        )

    def output_grad(self, blob):
        """Return the blob of an output's gradient; zeros if the loss does not need the output."""
        return self.total(blob) if blob in self.parts else self.constant(blob, 0.0)

    def bound(self, plan, argument, blob, where):
        """Return the blob that a plan binds to an input, checked."""
        to = f'input ("{argument[0]}", {argument[1]})'
        bound = ", ".join(f'("{name}", {index})' for name, index in plan.bound) or "nothing"
        need(
            argument in plan.bound,
            f"{where} binds no gradient to {to}, which needs one; it binds {bound}",
        )
        gradient = plan.bound[argument]
        known = self.writer.blobs
        need(
            isinstance(gradient, str) and gradient in known,
            f"{where} binds {shown(gradient)} to {to}, and no blob has that name",
        )
        need(
            known[gradient].spec == known[blob].spec,
            f"{where} binds {known[gradient]} to {to}, whose blob is {known[blob]}: "
            "a gradient has its input's shape and dtype",
        )
        return gradient

    def total(self, blob):
        """Return the one gradient of a blob; its parts are added up first."""
        parts = self.parts[blob]
        if len(parts) > 1:
            self.parts[blob] = parts = [self.emit("add_n", parts)]
        return parts[0]

    def constant(self, like, value):
        return self.emit("constant_like", [like], value=value)

    def emit(self, type_name, blobs, **attrs):
        inputs = [("in", blob) for blob in blobs]
        name = self.writer.new_name(f"{type_name}_grad")
        request = Request(name, type_name, inputs, ["out"], attrs)
        return self.writer.add(request, "backward", "cpu")[0].blob


def varying(ops, variables):
    """Return the blobs that depend on one of the variables, by name."""
    found = set(variables)
    for op in ops:
        if any(blob in found for _, blob in op.inputs):
            found.update(output.blob for output in op.outputs)
    return found
