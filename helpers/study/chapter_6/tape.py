"""Chapter 6: a gradient tape over the op callback, judged by GradientTape on many functions."""

from functools import cache

import numpy as np

from helpers.capture.text.error import said
from helpers.study.chapter_6.op_logger import SWALLOWED, leaving_callbacks
from helpers.study.check import Exercise, Unfit, Untried
from helpers.study.engine import Case, find_difference

SUMS = "a value that several ops read gets the sum of what comes back from them"
SKIP = "an op that y does not depend on is not asked for a gradient: skip it"
ZEROS = "an output that nobody used has no gradient: give zeros of its shape to the op"
KEPT = "a tape keeps what it wrote down, and only that; each tape has a list of its own"


@cache
def _point():
    """Return the tensor at which gradients are compared: float32 (2, 3)."""
    import tensorflow as tf

    return tf.constant([[0.5, 1.5, -2.0], [3.0, 0.25, 1.0]])


class _Real:
    """GradientTape, as the exercise asks for it: it watches the point, and is asked many times."""

    def __enter__(self):
        import tensorflow as tf

        self._tape = tf.GradientTape(persistent=True)
        self._tape.__enter__()
        self._tape.watch(_point())
        return self

    def __exit__(self, *error):
        self._tape.__exit__(*error)

    def gradient(self, y, x):
        return self._tape.gradient(y, x)


def _functions():
    """Return (words, function, advice) for functions of a tensor of two rows and three columns."""
    import tensorflow as tf

    return (
        ("sin(x)", tf.sin, "the last op first: its gradient times what came from above"),
        ("x + 1", lambda x: x + 1.0, "start with ones of y's shape"),
        ("exp(-x)", lambda x: tf.exp(-x), "walk from the last op to the first"),
        ("x * x + x", lambda x: x * x + x, SUMS),
        ("reduce_mean(x, 1)", lambda x: tf.reduce_mean(x, 1), "keep the attributes"),
        ("2 * 3, beside sin(x)", lambda x: (tf.sin(x), tf.constant(2.0) * 3.0)[1], SKIP),
        ("floor(x) + sin(x)", lambda x: tf.floor(x) + tf.sin(x), "None: there is nothing to add"),
        ("split(x)[1]", lambda x: tf.split(x, 3, 1)[1], ZEROS),
        ("first * second of a list that changes", _of_a_list, "keep a tuple of the outputs"),
        ("a constant", lambda x: tf.constant(3.0), "no op leads from x to it: None"),
    )


def _of_a_list(x):
    import tensorflow as tf

    parts = tf.unstack(x)
    first, parts[0] = parts[0], tf.ones_like(x[0])
    return first * parts[1]


def _recorded(tape, run, *args):
    """Return (tape, what `run` gives while the tape writes down its ops)."""
    try:
        with tape as mine:
            if mine is None:
                raise Unfit("`with MyTape() as tape` gives None: return self from __enter__")
            return mine, run(*args)
    except (Unfit, Untried):
        raise
    except Exception as error:
        raise Unfit(f"while its ops are written down, yours raised {said(error)}") from None


def _slope(tape, y, x):
    """Return a tape's gradient as plain data: its dtype and its numbers, or None."""
    import tensorflow as tf

    found = tape.gradient(y, x)
    if found is ...:
        raise Untried
    if found is None:
        return None
    if not isinstance(found, (tf.Tensor, tf.IndexedSlices)):
        raise Unfit(f"gradient must return a tensor, or None, not {type(found).__name__}")
    found = tf.convert_to_tensor(found)
    return found.dtype.name, np.round(found.numpy().astype("float64"), 4).tolist()


def _of_function(function):
    def run(tape):
        mine, y = _recorded(tape(), function, _point())
        return _slope(mine, y, _point())

    return run


def _raising(tape):
    for kind in (ValueError, KeyboardInterrupt):
        try:
            with tape():
                raise kind
        except kind:
            continue
        raise Unfit(f"for a block that raises: {SWALLOWED}")


def _asked_again(tape):
    import tensorflow as tf

    x = _point()
    mine, (a, b) = _recorded(tape(), lambda: (a := tf.sin(x), a * x))
    return [_slope(mine, y, of) for y, of in ((b, x), (b, a), (a, x))]


def _nested(tape):
    x = _point()
    with tape() as outer:
        inner, y = _recorded(tape(), lambda: x * x * x)
        slope = inner.gradient(y, x)
    return _slope(outer, y, x), _slope(outer, slope, x), _slope(inner, y, x)


SCENARIOS = (
    ("for a block that raises", _raising, ""),
    ("for a tape that is asked three times, for other tensors each time", _asked_again, KEPT),
    ("for two tapes, and the gradient of a gradient, y = x * x * x", _nested, KEPT),
)


def _cases():
    own = [(f"for y = {words}", _of_function(f), advice) for words, f, advice in _functions()]
    for shows, run, advice in [*own, *SCENARIOS]:
        yield Case(shows, leaving_callbacks(shows, run), advice)


def _judge_tape(tape):
    if not callable(tape) or hasattr(type(tape), "__enter__"):
        raise Unfit("give the class, MyTape, itself: without calling it")
    return find_difference(tape, _Real, _cases(), "GradientTape")


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
        "__exit__ removes the callback, whatever was raised, and returns nothing: what was raised "
        "goes on.",
    ),
)
