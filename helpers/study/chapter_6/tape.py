"""Chapter 6: a gradient tape over the op callback, judged by GradientTape on twenty functions."""

from helpers.capture.said import said
from helpers.study.chapter_6.callbacks import callbacks, callbacks_kept
from helpers.study.check import Exercise, Mistake, Untried, edited, tried

CLOSE = 1e-4
SUMS = "a value that several ops read gets the sum of what comes back from them"
ZEROS = "an output that nobody used has no gradient: give zeros of its shape to the op"


def _functions():
    """Return (words, function, what to think of) for twenty functions of one tensor."""
    import tensorflow as tf

    return (
        ("sin(x)", tf.sin, "the last op first: its gradient times what came from above"),
        ("exp(-x)", lambda x: tf.exp(-x), "walk from the last op to the first"),
        ("x * y", lambda x: x * tf.constant(3.0), "an op has one gradient per input"),
        ("x * x + x", lambda x: x * x + x, SUMS),
        ("x ** 3 / (1 + x * x)", lambda x: x**3 / (1 + x * x), SUMS),
        ("reduce_sum(x) ** 2", lambda x: tf.reduce_sum(x) ** 2, "start with ones of y's shape"),
        ("reduce_mean(x, 1)", lambda x: tf.reduce_mean(x, 1), "start with ones of y's shape"),
        ("x - reduce_max(x)", lambda x: x - tf.reduce_max(x), SUMS),
        ("matmul(x, x, transpose_b=True)", lambda x: tf.matmul(x, x, transpose_b=True), SUMS),
        ("x[:, 1:]", lambda x: x[:, 1:], "an input may have no gradient: None"),
        ("concat([x, 2 * x])", lambda x: tf.concat([x, 2 * x], 0), SUMS),
        ("split(x)[1]", lambda x: tf.split(x, 3, 1)[1], ZEROS),
        ("stack([x, x])", lambda x: tf.stack([x, x]), SUMS),
        ("relu(x)", tf.nn.relu, "the last op first"),
        ("softmax(x)", tf.nn.softmax, "the last op first"),
        ("gather(x, [1, 1, 0])", lambda x: tf.gather(x, [1, 1, 0]), "keep the attributes"),
        ("transpose(x)", tf.transpose, "keep the attributes"),
        ("cast(x, float64)", lambda x: tf.cast(x, tf.float64) ** 2, "keep the attributes"),
        ("bias_add(x, bias)", lambda x: tf.nn.bias_add(x, [1.0, 2.0, 3.0]), "keep the inputs"),
        ("a constant", lambda x: tf.constant(3.0), "no op leads from x to it: None"),
        ("x itself", lambda x: x, "dy/dy is one"),
    )


def _judge_tape(tape):
    if not callable(tape):
        return f"give the class, MyTape, not {type(tape).__name__}"
    with callbacks_kept() as before:
        for words, function, think in _functions():
            because = _told(tape, function)
            if because:
                return f"for y = {words}, {because}. Think: {think}"
            if callbacks() != before:
                return "its callback is still there after the block: remove it in __exit__"
    return None


def _told(tape, function) -> str | None:
    import tensorflow as tf

    x = tf.constant([[0.5, 1.5, -2.0], [3.0, 0.25, 1.0]])
    truth = _truth(function, x)
    try:
        with tape() as mine:
            y = function(x)
        kept = len(mine.ops) if isinstance(getattr(mine, "ops", None), list) else None
        found = tried(mine.gradient(y, x))
    except Untried:
        raise
    except Exception as error:
        return f"it raised {said(error)}"
    if kept is not None and len(mine.ops) != kept:
        return "the tape wrote down the ops of its own gradient: stop recording first"
    return _compared(found, truth)


def _truth(function, x):
    import tensorflow as tf

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    found = tape.gradient(y, x)
    return None if found is None else tf.convert_to_tensor(found)


def _compared(found, truth) -> str | None:
    import tensorflow as tf

    if (found is None) != (truth is None):
        has = "None" if truth is None else f"a tensor of shape {tuple(truth.shape)}"
        return f"GradientTape gives {has}, and yours {_kind(found)}"
    if truth is None:
        return None
    if not isinstance(found, tf.Tensor) or found.shape != truth.shape:
        return f"GradientTape gives a tensor of shape {tuple(truth.shape)}, yours {_kind(found)}"
    if found.dtype != truth.dtype:
        return f"GradientTape gives {truth.dtype.name}, yours {found.dtype.name}"
    worst = float(tf.reduce_max(tf.abs(found - truth)))
    return f"the gradient is off by up to {worst:.3g}" if not worst <= CLOSE else None


def _kind(found) -> str:
    if found is None:
        return "None"
    shape = getattr(found, "shape", None)
    return f"a {type(found).__name__}" if shape is None else f"one of shape {tuple(shape)}"


_TAPE = """
class MyTape:
    def __enter__(self):
        self.ops = []
        self.callback = self.record  # one object, to be found again
        op_callbacks.add_op_callback(self.callback)
        return self

    def __exit__(self, *error):
        op_callbacks.remove_op_callback(self.callback)

    def record(self, op, inputs, attrs, outputs, op_name=None, graph=None):
        self.ops.append((op, tuple(inputs), attrs, tuple(outputs)))

    def gradient(self, y, x):
        grads = {y._id: tf.ones_like(y)}
        for op, inputs, attrs, outputs in reversed(self.ops):
            above = [grads.get(output._id) for output in outputs]
            if all(grad is None for grad in above):
                continue
            above = [tf.zeros_like(o) if g is None else g for o, g in zip(outputs, above)]
            below = op_gradients(op, inputs, attrs, outputs, above)
            for value, grad in zip(inputs, below):
                if grad is not None:
                    known = grads.get(value._id)
                    grads[value._id] = grad if known is None else known + grad
        return grads.get(x._id)
"""


def _tape(old: str, new: str) -> str:
    return edited(_TAPE, old, new)


TAPE = Exercise(
    "tape",
    _judge_tape,
    "Record forwards, walk backwards, add up: yours agrees with GradientTape on all functions.",
    (
        "Record (op, inputs, attrs, outputs) of every op in __enter__'s callback. In which order "
        "does gradient need them?",
        "grads maps a tensor's _id to the gradient that has come back to it so far. It starts "
        "with ones for y; at the end x's entry is the answer, or there is none.",
        "For each op, from the last to the first: look up the gradients of its outputs; skip it "
        "if there are none; ask op_gradients; add each to what its input already has.",
        "Where only some outputs have a gradient, the others get tf.zeros_like(output).",
    ),
    (
        Mistake(_tape("reversed(self.ops)", "self.ops"), "Think: walk from the last op"),
        Mistake(_tape("grad if known is None else known + grad", "grad"), "the sum of what comes"),
        Mistake(_tape("tf.zeros_like(o) if g is None else g for", "g for"), "give zeros"),
        Mistake(_tape("grads.get(x._id)", "grads.get(x._id, tf.zeros_like(x))"), "gives None"),
        Mistake(_tape("tf.ones_like(y)", "tf.ones([])"), "Think"),
        Mistake(
            _tape("        op_callbacks.remove_op_callback(self.callback)", "        pass"),
            "of its own gradient",
        ),
        Mistake(_tape("attrs, tuple(outputs)", "(), tuple(outputs)"), "KeyError"),
        Mistake("MyTape = 5", "give the class"),
    ),
)
