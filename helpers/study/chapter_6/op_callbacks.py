"""Chapter 6: a log of ops, and a gradient tape over the op callback, beside TensorFlow's own."""

from collections.abc import Callable, MutableSequence
from contextlib import contextmanager, suppress
from functools import cache, partial

import numpy as np

from helpers.capture.tensorflow import eager_context
from helpers.capture.text.value import short_repr
from helpers.study.check import InvalidAnswer, exercise, tried
from helpers.study.engine import Case, Raised, find_difference, observe, tf

GONE = "somebody else's callback is gone: remove only your own"
LEFT = "its callback is still there after the block: remove it whatever was raised"
SWALLOWED = "the block raised and nobody heard of it; let the exception through"
OWN = "each block needs a log of its own, whole when it ends; the fallback names its op in bytes"


def _run_alone(shows: str, run: Callable, answer: Callable):
    """Run a case; InvalidAnswer where it leaves its callback, or removes another's."""
    with eager_context.callbacks_kept():
        other, before = eager_context.bystander(), eager_context.callbacks()
        found = observe(run, lambda: tried(answer()))
        if (after := eager_context.callbacks()) != before:
            raise InvalidAnswer(f"{shows}: {LEFT if other in after else GONE}")
    if isinstance(found, Raised):
        raise found.error
    return found


def _make_case(shows: str, run: Callable, advice: str) -> Case:
    return Case(f"for {shows}", partial(_run_alone, f"for {shows}", run), advice)


def _names(log) -> list:
    """Return the names in a log, as they stand now; a generated function's without its counter."""
    if not isinstance(tried(log), MutableSequence):
        must = f"given a list, `with op_logger() as log`, not {short_repr(log)}"
        raise InvalidAnswer(f"the block must be {must}")
    return ["__inference_…" if str(name).startswith("__inference_") else name for name in log]


def _run_block(op_logger):
    with op_logger() as log:
        eager_context.run_ops("MatMul")
        before = _names(log)
        eager_context.run_ops("Add")
    eager_context.run_ops("MatMul")
    return {"before the block ends": before, "after": _names(log)}


def _take_route(route: str, op_logger):
    with op_logger() as log:
        eager_context.run_routes([route])
    return _names(log)


def _raise_in_block(kind: type, op_logger):
    try:
        with op_logger() as log:
            eager_context.run_ops("MatMul")
            raise kind("meant")
    except kind:
        eager_context.run_ops("Add")
        return _names(log)
    raise InvalidAnswer(f"for a block that raises {kind.__name__}: {SWALLOWED}")


def _nest_blocks(op_logger):
    with op_logger() as outer:
        eager_context.run_ops("MatMul")
        with op_logger() as inner:
            eager_context.run_ops("Add")
        eager_context.run_ops("MatMul")
    return {"inner": _names(inner), "outer": _names(outer)}


@exercise(
    "After op_callbacks.add_op_callback(f), f(op_type, inputs, attrs, outputs, op_name=None, "
    "graph=None) is called after each op that a wrapper of TensorFlow runs. What must happen "
    "with f when the block ends?",
    "contextlib.contextmanager makes a block of a generator. Where has the clean-up to stand, "
    "so that it also runs when the block raises, whatever it raises?",
    "Make list and callback anew in each call, yield the list inside try, and in finally "
    "remove that one callback. The fallback hands the op's name over as bytes; an op that is "
    "only written into a graph is handed over too, and belongs in the log.",
)
def op_logger(op_logger: Callable):
    """Every op on every route, through exceptions and nesting, and nothing is left behind."""
    eager_context.run_routes(eager_context.ROUTES)  # what is traced once is traced now
    runs = {"a @ a + a": _run_block, "a block inside a block": _nest_blocks}
    runs |= {name: partial(_take_route, name) for name in eager_context.ROUTES}
    for kind in (ValueError, KeyboardInterrupt):
        runs[f"a block that raises {kind.__name__}"] = partial(_raise_in_block, kind)
    cases = [_make_case(shows, run, OWN) for shows, run in runs.items()]
    return find_difference(op_logger, eager_context.reported, cases, "TensorFlow's own log")


SUMS = "a value that several ops read gets the sum of what comes back from them"
SKIP = "an op that y does not depend on is not asked for a gradient: skip it"
ZEROS = "an output that nobody used has no gradient: give zeros of its shape to the op"
KEPT = "a tape keeps what it wrote down, and only that; each tape has a list of its own"


@cache
def _point():
    return tf.constant([[0.5, 1.5, -2.0], [3.0, 0.25, 1.0]])


@contextmanager
def _real_tape():
    """Give a GradientTape as the exercise asks for it: it watches the point, and is asked often."""
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(_point())
        yield tape


def _record(tape, run, *args):
    with tape as mine:
        if mine is None:
            raise InvalidAnswer("`with MyTape() as tape` gives None: return self from __enter__")
        return mine, run(*args)


def _slope(tape, y, x):
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


def _raise_under_tape(tape):
    with suppress(ValueError):
        with tape():
            raise ValueError
        raise InvalidAnswer(f"for a block that raises: {SWALLOWED}")


def _ask_again(tape):
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
    parts = tf.unstack(x)
    first, parts[0] = parts[0], tf.ones_like(x[0])
    return first * parts[1]


@exercise(
    "Record (op, inputs, attrs, outputs) of every op in __enter__'s callback. In which order "
    "does gradient need them?",
    "grads maps a tensor's _id to the gradient that has come back to it so far. It starts "
    "with ones for y; at the end x's entry is the answer, or there is none.",
    "For each op, from the last to the first: look up the gradients of its outputs; skip it "
    "if there are none; ask op_gradients; add each to what its input already has.",
    "Where only some outputs have a gradient, the others get tf.zeros_like(output).",
    "__exit__ removes the callback, whatever was raised, and returns nothing: what was raised "
    "goes on.",
)
def tape(tape):
    """Record forwards, walk backwards, add up: yours agrees with GradientTape on all functions."""
    if not callable(tape) or hasattr(type(tape), "__enter__"):
        raise InvalidAnswer("give the class, MyTape, itself")
    functions = (
        ("sin(x)", tf.sin, "the last op first: its gradient times what came from above"),
        ("exp(-x)", lambda x: tf.exp(-x), "walk from the last op to the first"),
        ("x * x + x", lambda x: x * x + x, SUMS),
        ("reduce_mean(x, 1)", lambda x: tf.reduce_mean(x, 1), "keep the attributes"),
        ("2 * 3, beside sin(x)", lambda x: (tf.sin(x), tf.constant(2.0) * 3.0)[1], SKIP),
        ("floor(x) + sin(x)", lambda x: tf.floor(x) + tf.sin(x), "None: there is nothing to add"),
        ("split(x)[1]", lambda x: tf.split(x, 3, 1)[1], ZEROS),
        ("first * second of a list that changes", _pick_of_list, "keep a tuple of the outputs"),
        ("a constant", lambda x: tf.constant(3.0), "no op leads from x to it: None"),
    )
    cases = [_make_case(f"y = {y}", partial(_differentiate, f), why) for y, f, why in functions]
    cases += [
        _make_case("a block that raises", _raise_under_tape, ""),
        _make_case("a tape that is asked three times, for other tensors", _ask_again, KEPT),
        _make_case("two tapes, and the gradient of a gradient, y = x * x * x", _nest, KEPT),
    ]
    return find_difference(tape, _real_tape, cases, "GradientTape")
