"""Chapter 6: mutants that do what the solution does, and why."""

GIVEN = "whoever calls a callback gives op_name: C by its place, the others by its name"
QUIET = "no op runs between the two lines"
NONE = "a tensor is never equal to None, and `==` with None computes nothing"

SAME: dict[str, dict[str, str]] = {
    "op_logger": {
        "- log = [] | + log = []": "the callback looks for `log` only when an op runs",
        "- def callback(op_type, inputs, attrs, outputs, op_name=None, graph=None): | "
        "+ def callback(op_type, inputs, attrs, outputs, op_name, graph=None):": GIVEN,
    },
    "tape": {
        "+ op_callbacks.add_op_callback(self.record) | "
        "- op_callbacks.add_op_callback(self.record)": QUIET,
        "- def record(self, op, inputs, attrs, outputs, op_name=None, graph=None): | "
        "+ def record(self, op, inputs, attrs, outputs, op_name, graph=None):": GIVEN,
        "- self.ops.append((op, tuple(inputs), attrs, tuple(outputs))) | "
        "+ self.ops.append((op, inputs, attrs, tuple(outputs)))": "inputs come as a tuple",
        "- if grad is not None: | + if grad != None:": NONE,
        "- if all((grad is None for grad in above)): | "
        "+ if all((grad == None for grad in above)):": NONE,
        "- above = [tf.zeros_like(o) if g is None else g for o, g in zip(outputs, above)] | "
        "+ above = [tf.zeros_like(o) if g == None else g for o, g in zip(outputs, above)]": NONE,
        "- grads[value._id] = grad if known is None else known + grad | "
        "+ grads[value._id] = grad if known == None else known + grad": NONE,
    },
}
