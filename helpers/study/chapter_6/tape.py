"""Chapter 6: a gradient tape over the op callback, judged by GradientTape on many functions."""

from functools import cache, partial

import numpy as np

from helpers.study.chapter_6.op_logger import SWALLOWED, leaving_callbacks
from helpers.study.check import Exercise, InvalidAnswer, tried
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


@cache
def _real_tape() -> type:
    """Return GradientTape as the exercise asks for it: it watches the point, and is asked often."""
    import tensorflow as tf

    class Real(tf.GradientTape):
        def __init__(self):
            super().__init__(persistent=True)

        def __enter__(self):
            super().__enter__().watch(_point())
            return self

    return Real


def _record(tape, run, *args):
    """Return (tape, what `run` gives while the tape writes down its ops)."""
    with tape as mine:
        if mine is None:
            raise InvalidAnswer("`with MyTape() as tape` gives None: return self from __enter__")
        return mine, run(*args)


def _slope(tape, y, x):
    """Return a tape's gradient as plain data: its dtype and its numbers, or None."""
    import tensorflow as tf

    found = tried(tape.gradient(y, x))
    if found is None:
        return None
    if not isinstance(found, (tf.Tensor, tf.IndexedSlices)):
        raise InvalidAnswer(f"gradient must return a tensor, or None, not {type(found).__name__}")
    found = tf.convert_to_tensor(found)
    return found.dtype.name, np.round(found.numpy().astype("float64"), 4).tolist()


def _differentiate(function, tape):
    mine, y = _record(tape(), function, _point())
    return _slope(mine, y, _point())


def _raise_in_block(tape):
    for kind in (ValueError, KeyboardInterrupt):
        try:
            with tape():
                raise kind
        except kind:
            continue
        raise InvalidAnswer(f"for a block that raises: {SWALLOWED}")


def _ask_again(tape):
    import tensorflow as tf

    x = _point()
    mine, (a, b) = _record(tape(), lambda: (a := tf.sin(x), a * x))
    return [_slope(mine, y, of) for y, of in ((b, x), (b, a), (a, x))]


def _nest(tape):
    x = _point()
    with tape() as outer:
        inner, y = _record(tape(), lambda: x * x * x)
        slope = inner.gradient(y, x)
    return _slope(outer, y, x), _slope(outer, slope, x), _slope(inner, y, x)


def _pick_of_list(x):
    import tensorflow as tf

    parts = tf.unstack(x)
    first, parts[0] = parts[0], tf.ones_like(x[0])
    return first * parts[1]


def _cases():
    import tensorflow as tf

    functions = (
        ("sin(x)", tf.sin, "the last op first: its gradient times what came from above"),
        ("x + 1", lambda x: x + 1.0, "start with ones of y's shape"),
        ("exp(-x)", lambda x: tf.exp(-x), "walk from the last op to the first"),
        ("x * x + x", lambda x: x * x + x, SUMS),
        ("reduce_mean(x, 1)", lambda x: tf.reduce_mean(x, 1), "keep the attributes"),
        ("2 * 3, beside sin(x)", lambda x: (tf.sin(x), tf.constant(2.0) * 3.0)[1], SKIP),
        ("floor(x) + sin(x)", lambda x: tf.floor(x) + tf.sin(x), "None: there is nothing to add"),
        ("split(x)[1]", lambda x: tf.split(x, 3, 1)[1], ZEROS),
        ("first * second of a list that changes", _pick_of_list, "keep a tuple of the outputs"),
        ("a constant", lambda x: tf.constant(3.0), "no op leads from x to it: None"),
    )
    table = [(f"for y = {words}", partial(_differentiate, f), why) for words, f, why in functions]
    table += [
        ("for a block that raises", _raise_in_block, ""),
        ("for a tape that is asked three times, for other tensors each time", _ask_again, KEPT),
        ("for two tapes, and the gradient of a gradient, y = x * x * x", _nest, KEPT),
    ]
    for shows, run, advice in table:
        yield Case(shows, leaving_callbacks(shows, run), advice)


def _judge_tape(tape):
    if not callable(tape) or hasattr(type(tape), "__enter__"):
        raise InvalidAnswer("give the class, MyTape, itself: without calling it")
    return find_difference(tape, _real_tape(), _cases(), "GradientTape")


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
