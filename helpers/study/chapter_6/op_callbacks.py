"""Chapter 6: a log of ops and a gradient tape over the op callback, as in TensorFlow."""

from collections.abc import Callable, MutableSequence
from contextlib import contextmanager, suppress
from functools import cache, partial

import numpy as np

from helpers.capture.tensorflow import eager_context, op_programs
from helpers.capture.text.value import short_repr
from helpers.study.answers import InvalidAnswer, require_attempt
from helpers.study.check import exercise
from helpers.study.engine import JudgedCase, find_difference
from helpers.study.frameworks import tf
from helpers.study.observations import Raised, observe
from helpers.study.sentences import describe_difference, describe_result

GONE = "someone else's callback is gone. Remove only your own"
LEFT = "your callback is still there after the block. Remove it whatever the block raises"
SWALLOWED = "the exception of the block was swallowed. Let it propagate"
OWN_LOG = "TensorFlow's own log"
BYTES = "your log has names as bytes, as the fallback passes them"


def _run_alone(shows: str, run: Callable, answer: Callable):
    """Return `run(answer)` of a case, with the callbacks restored afterwards.

    InvalidAnswer if the answer leaves its callback behind, or removes that of someone else.
    `shows` is the case in words.
    """
    with eager_context.restoring_callbacks():
        other = eager_context.add_idle_callback()  # someone else's, which must stay
        before = eager_context.read_callbacks()
        # An error is raised only after the callbacks have been compared.
        result = observe(run, lambda: require_attempt(answer()))
        after = eager_context.read_callbacks()
        if after != before:
            raise InvalidAnswer(f"{shows}: {LEFT if other in after else GONE}")
    if isinstance(result, Raised):
        raise result.error
    return result


def _make_case(shows: str, run: Callable, advice: str) -> JudgedCase:
    """Return a case that runs with the callbacks restored; `shows` is the case in words."""
    return JudgedCase(f"for {shows}", partial(_run_alone, f"for {shows}", run), advice)


def _copy_names(log) -> list:
    """Return a copy of the names in a log; InvalidAnswer if the log is no list.

    The name of a function that TensorFlow generated is shortened, because it contains a counter.
    """
    if not isinstance(require_attempt(log), MutableSequence):
        must = f"get a list from `with op_logger() as log`, not {short_repr(log)}"
        raise InvalidAnswer(f"the block must be {must}")
    names = []
    for name in log:
        is_generated = str(name).startswith("__inference_")
        names.append("__inference_…" if is_generated else name)
    return names


def _run_block(op_logger):
    """Return the log in the middle of a block, and the log after an op outside of the block."""
    with op_logger() as log:
        op_programs.run_ops("MatMul")
        before = _copy_names(log)
        op_programs.run_ops("Add")
    op_programs.run_ops("MatMul")
    return {"before the block ends": before, "after": _copy_names(log)}


def _take_route(route: str, op_logger):
    """Return the log of a program that takes one of `op_programs.ROUTES` into TensorFlow."""
    with op_logger() as log:
        op_programs.run_routes([route])
    return _copy_names(log)


def _raise_in_block(kind: type, op_logger):
    """Return the log of a block that raises; InvalidAnswer if the exception does not come out."""
    try:
        with op_logger() as log:
            op_programs.run_ops("MatMul")
            raise kind("meant")
    except kind:
        op_programs.run_ops("Add")
        return _copy_names(log)
    raise InvalidAnswer(f"for a block that raises {kind.__name__}: {SWALLOWED}")


def _nest_blocks(op_logger):
    """Return the logs of a block and of the block around it."""
    with op_logger() as outer:
        op_programs.run_ops("MatMul")
        with op_logger() as inner:
            op_programs.run_ops("Add")
        op_programs.run_ops("MatMul")
    return {"inner": _copy_names(inner), "outer": _copy_names(outer)}


OP_LOGGER_HINTS = (
    "After op_callbacks.add_op_callback(f), TensorFlow calls f(op_type, inputs, attrs, outputs, "
    "op_name=None, graph=None) after each op that one of its wrappers runs. What must happen "
    "with f when the block ends?",
    "contextlib.contextmanager turns a generator into a block. Where must the clean-up go, so "
    "that it runs whatever the block raises?",
    "In each call, make a new list and a new callback. Yield the list inside try, and remove "
    "that one callback in finally. The fallback passes the op's name as bytes. The callback "
    "also gets an op that is only written into a graph, and that op belongs in the log.",
)


@exercise(*OP_LOGGER_HINTS)
def op_logger(op_logger: Callable):
    """Your log has each op on each route, also with exceptions and nesting, and cleans up."""
    op_programs.run_routes(op_programs.ROUTES)  # trace what needs tracing now
    runs = {"a @ a + a": _run_block, "a block inside a block": _nest_blocks}
    for name in op_programs.ROUTES:
        runs[name] = partial(_take_route, name)
    for kind in (ValueError, KeyboardInterrupt):
        runs[f"a block that raises {kind.__name__}"] = partial(_raise_in_block, kind)
    cases = [_make_case(shows, run, _advise_on_bytes) for shows, run in runs.items()]
    return find_difference(op_logger, eager_context.recording_op_names, cases, OWN_LOG)


def _advise_on_bytes(mine, real) -> str | None:
    """Return both logs and the cause if the answer's has names as bytes; else None."""
    logs = mine.values() if isinstance(mine, dict) else [mine]
    names = [name for log in logs if isinstance(log, list) for name in log]
    if not any(isinstance(name, bytes) for name in names):
        return None
    own_text = f"gives {describe_result(mine)}"
    real_text = f"gives {describe_result(real)}"
    return describe_difference("", own_text, real_text, OWN_LOG, f"; {BYTES}")


# What is so in a case, whatever the answer does.
SUMS = "here several ops read x, and the gradients that come back from them add up"
SKIP = "here y does not depend on the op Sin"
ZEROS = "here two of the three outputs of Split have no gradient, as if it were zeros"


@cache
def _make_point():
    """Return the x at which all slopes are compared."""
    return tf.constant([[0.5, 1.5, -2.0], [3.0, 0.25, 1.0]])


@contextmanager
def _real_tape():
    """Act as the learner's tape: TensorFlow's own, whose `gradient` can be asked more than once."""
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(_make_point())
        yield tape


def _run_under_tape(tape, run, *args):
    """Return what entering a tape gives, which must be the tape, and `run(*args)` in its block."""
    with tape as entered:
        if entered is None:
            raise InvalidAnswer("__enter__ returns None, but must return the tape")
        return entered, run(*args)


def _read_slope(tape, y, x):
    """Return dtype and numbers of `tape.gradient(y, x)`, or None; InvalidAnswer for no tensor."""
    slope = require_attempt(tape.gradient(y, x))
    if slope is None:
        return None
    if not isinstance(slope, (tf.Tensor, tf.IndexedSlices)):
        raise InvalidAnswer(f"gradient must return a tensor, or None, not {type(slope).__name__}")
    slope = tf.convert_to_tensor(slope)  # IndexedSlices: the gradient of some rows only
    numbers = np.round(slope.numpy().astype("float64"), 4)
    return slope.dtype.name, numbers.tolist()


def _find_slope_at_point(function, tape):
    """Return the gradient of `function(x)` for x, at the one point."""
    entered, y = _run_under_tape(tape(), function, _make_point())
    return _read_slope(entered, y, _make_point())


def _raise_under_tape(tape):
    """Raise an error in the block of a tape; InvalidAnswer if it does not come out."""
    with suppress(ValueError):
        with tape():
            raise ValueError
        # Reached only if the tape swallowed the error.
        raise InvalidAnswer(f"for a block that raises: {SWALLOWED}")


def _ask_again(tape):
    """Return three gradients of one tape: one question must not use up the record."""
    x = _make_point()

    def compute():
        a = tf.sin(x)
        return a, a * x

    entered, (a, b) = _run_under_tape(tape(), compute)
    return [
        _read_slope(entered, b, x),
        _read_slope(entered, b, a),
        _read_slope(entered, a, x),
    ]


def _nest_tapes(tape):
    """Return three gradients: y's and the inner gradient's by the outer tape, y's by the inner."""
    x = _make_point()
    with tape() as outer:
        inner, y = _run_under_tape(tape(), lambda: x * x * x)
        slope = inner.gradient(y, x)
    return _read_slope(outer, y, x), _read_slope(outer, slope, x), _read_slope(inner, y, x)


def _pick_of_list(x):
    """Change the list that an op returned: a tape must have kept the outputs themselves."""
    parts = tf.unstack(x)
    first = parts[0]
    parts[0] = tf.ones_like(x[0])
    return first * parts[1]


def _compute_beside(x):
    """Run an op of x whose result is dropped; what is returned does not depend on x."""
    tf.sin(x)
    return tf.constant(2.0) * 3.0


@exercise(
    "Add a callback in __enter__, and let it record (op, inputs, attrs, outputs) of every op. In "
    "which order does gradient need them?",
    "grads maps a tensor's _id to the gradient that has come back to it so far. It starts with "
    "ones for y. At the end, the answer is x's entry, or None if x has no entry.",
    "Go through the ops from the last to the first. Look up the gradients of the op's outputs, "
    "and skip the op if there are none. Call op_gradients. Add each result to what its input has.",
    "If only some outputs have a gradient, use tf.zeros_like(output) for the others.",
    "__exit__ removes the callback, whatever the block raised. It returns nothing, so that the "
    "exception propagates.",
)
def tape(tape):
    """Record forwards, walk backwards, add up. Your tape agrees with GradientTape on each test."""
    if not callable(tape) or hasattr(type(tape), "__enter__"):
        raise InvalidAnswer("pass the class MyTape itself")
    functions = (
        ("sin(x)", tf.sin, "here one op leads from x to y"),
        (
            "exp(-x)",
            lambda x: tf.exp(-x),
            "here Neg runs first, then Exp, and gradients come back from Exp",
        ),
        ("x * x + x", lambda x: x * x + x, SUMS),
        (
            "reduce_mean(x, 1)",
            lambda x: tf.reduce_mean(x, 1),
            "here the gradient needs an attribute of the op",
        ),
        ("2 * 3, beside sin(x)", _compute_beside, SKIP),
        (
            "floor(x) + sin(x)",
            lambda x: tf.floor(x) + tf.sin(x),
            "here the gradient of Floor is None",
        ),
        ("split(x)[1]", lambda x: tf.split(x, 3, 1)[1], ZEROS),
        (
            "first * second of a list that changes",
            _pick_of_list,
            "here the list that unstack returned changes afterwards",
        ),
        ("a constant", lambda x: tf.constant(3.0), "here no op leads from x to y"),
    )
    cases = []
    for y, function, advice in functions:
        cases.append(_make_case(f"y = {y}", partial(_find_slope_at_point, function), advice))
    cases += [
        _make_case("a block that raises", _raise_under_tape, ""),
        _make_case("a tape whose gradient is called three times", _ask_again, ""),
        _make_case("two tapes, and the gradient of a gradient, y = x * x * x", _nest_tapes, ""),
    ]
    return find_difference(tape, _real_tape, cases, "GradientTape")
