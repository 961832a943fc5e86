"""Chapter 6: mutants that do what the solution does, and why."""

GIVEN = "whoever calls a callback gives op_name: C by its place, the others by its name"
QUIET = "no op runs between the two lines"
ALONE = "neither line reads what the other makes"
EITHER = "the op gives the same for its two arguments exchanged"
PLACE = "where C wants the place of a number, ctypes hands over the place of the one it is given"
FLOATS = "rows, state and gain are all float32"
NONE = "a tensor is never equal to None, and `==` with None computes nothing"
REASONS = (
    "reasons = {'a': 'stays', 'b': 'stays', 'c': 'a NumPy scalar', 'd': 'a list', 'e': 'a list', "
    "'f': 'dtypes', 'g': 'a tf.function', 'h': 'stays'}"
)

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
    "execute": {
        "+ handles, count = ((c_void_p * num_outputs)(), c_int(num_outputs)) | "
        "- handles, count = ((c_void_p * num_outputs)(), c_int(num_outputs))": ALONE,
        "- elif kind == 'String': | "
        "+ elif kind is 'String':": "both are one text: Python keeps a name in source once",
        "- kind = KINDS[api().TFE_OpGetAttrType(op, key, byref(is_list), status.address)] | "
        "+ kind = KINDS[api().TFE_OpGetAttrType(op, key, is_list, status.address)]": PLACE,
        "- api().TFE_Execute(op, handles, byref(count), status.address) | "
        "+ api().TFE_Execute(op, handles, count, status.address)": PLACE,
    },
    "slow_loop": {
        f"- {REASONS} | -  | + {REASONS}": "the answers and the function do not read each other",
        "+ size = tf.cast(tf.size(state), state.dtype) | "
        "- size = tf.cast(tf.size(state), state.dtype)": ALONE,
        "+ state = tf.add(state, size) | "
        "- state = tf.add(state, size)": "a number is added to each element, in whatever order",
        "- state = tf.multiply(state, gain) | + state = tf.multiply(gain, state)": EITHER,
        "- state = tf.maximum(state, row) | + state = tf.maximum(row, state)": EITHER,
        "- state = tf.math.squared_difference(state, row) | "
        "+ state = tf.math.squared_difference(row, state)": EITHER,
        "- state = tf.add(state, size) | + state = tf.add(size, state)": EITHER,
        "- size = tf.cast(tf.size(state), state.dtype) | "
        "+ size = tf.cast(tf.size(state), rows.dtype)": FLOATS,
        "- size = tf.cast(tf.size(state), state.dtype) | "
        "+ size = tf.cast(tf.size(state), gain.dtype)": FLOATS,
        "- state = state - 1 | + state = state - 1.0": "the number becomes a float32 either way",
    },
}
