"""Judge two exercises of chapter 6. The learner writes a log of ops (`op_logger`) and a gradient
tape (`tape`), both with TensorFlow's *op callbacks*: functions that TensorFlow calls after each op.
Each answer runs beside TensorFlow's own log or tape, on a list of cases. `InvalidAnswer` ends a
check with a message, and `require_no_stub(value)` ends it if the learner has written nothing yet.
"""

from collections.abc import Callable, MutableSequence
from contextlib import contextmanager, suppress
from functools import cache, partial

import numpy as np

from helpers.capture.tensorflow import eager_context, op_programs
from helpers.capture.text.value import short_repr
from helpers.study.answers import InvalidAnswer, require_no_stub
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
    """Return the result of `run(answer)`; the op callbacks of the process are restored afterwards.

    `run` tries an answer in one case, and `shows` is the case in words. InvalidAnswer says that the
    answer leaves its callback behind, or removes the callback of someone else.
    """
    with eager_context.restoring_callbacks():
        other_callback = eager_context.add_idle_callback()  # someone else's, which must stay
        callbacks_before = eager_context.read_callbacks()
        # `observe` returns an error as Raised. It is raised below, after the callbacks have been
        # compared, because a callback that is left behind is the more useful message.
        result = observe(run, lambda: require_no_stub(answer()))
        callbacks_after = eager_context.read_callbacks()
        if callbacks_after != callbacks_before:
            fault = LEFT if other_callback in callbacks_after else GONE
            raise InvalidAnswer(f"{shows}: {fault}")
    if isinstance(result, Raised):
        raise result.error
    return result


def _make_case(shows: str, run: Callable, advice: str) -> JudgedCase:
    """Return a case that checks the callbacks, too.

    `shows` is the case in words, and `run(answer)` tries an answer. `advice` is added to the
    message if the answer differs from the reference.
    """
    return JudgedCase(f"for {shows}", partial(_run_alone, f"for {shows}", run), advice)


def _copy_names(log) -> list:
    """Return a copy of the names of ops in a learner's log; InvalidAnswer if the log is no list.

    The name of a graph, such as "__inference_f_12", is shortened, because its number is different
    in each run.
    """
    if not isinstance(require_no_stub(log), MutableSequence):
        must = f"get a list from `with op_logger() as log`, not {short_repr(log)}"
        raise InvalidAnswer(f"the block must be {must}")
    names = []
    for name in log:
        is_generated = str(name).startswith("__inference_")
        names.append("__inference_…" if is_generated else name)
    return names


def _run_block(op_logger):
    """Return the names that `op_logger` has logged before its block ends, and after it.

    The last op runs outside of the block, so it must not be in the log.
    """
    with op_logger() as log:
        op_programs.run_ops("MatMul")
        before = _copy_names(log)
        op_programs.run_ops("Add")
    op_programs.run_ops("MatMul")
    return {"before the block ends": before, "after": _copy_names(log)}


def _take_route(route: str, op_logger):
    """Return the log of a small program whose op takes the given route into TensorFlow's C code.

    `route` is one of `op_programs.ROUTES`.
    """
    with op_logger() as log:
        op_programs.run_routes([route])
    return _copy_names(log)


def _raise_in_block(kind: type, op_logger):
    """Return the log of a block that raises `kind`.

    The last op runs after the block, so it must not be in the log. InvalidAnswer says that the
    block swallows the exception.
    """
    try:
        with op_logger() as log:
            op_programs.run_ops("MatMul")
            raise kind("meant")
    except kind:
        op_programs.run_ops("Add")
        return _copy_names(log)
    raise InvalidAnswer(f"for a block that raises {kind.__name__}: {SWALLOWED}")


def _nest_blocks(op_logger):
    """Return the logs of a block and of the block around it, which logs all three ops."""
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
    # `op_logger` is the learner's answer. Returned is the first case in which it differs from the
    # reference, in words, or None. All routes run once before, so that tf.functions are not traced
    # inside a log.
    op_programs.run_routes(op_programs.ROUTES)
    # the case in words -> a function that tries an answer in this case
    runs = {"a @ a + a": _run_block, "a block inside a block": _nest_blocks}
    for name in op_programs.ROUTES:
        runs[name] = partial(_take_route, name)
    for kind in (ValueError, KeyboardInterrupt):
        runs[f"a block that raises {kind.__name__}"] = partial(_raise_in_block, kind)
    cases = [_make_case(shows, run, _advise_on_bytes) for shows, run in runs.items()]
    return find_difference(op_logger, eager_context.recording_op_names, cases, OWN_LOG)


def _advise_on_bytes(mine, real) -> str | None:
    """Return a message if the learner's log has names as bytes; else None.

    `mine` and `real` are the results of the answer and of the reference: a log, or a dict of logs.
    """
    logs = mine.values() if isinstance(mine, dict) else [mine]
    names = [name for log in logs if isinstance(log, list) for name in log]
    if not any(isinstance(name, bytes) for name in names):
        return None
    own_text = f"gives {describe_result(mine)}"
    real_text = f"gives {describe_result(real)}"
    return describe_difference("", own_text, real_text, OWN_LOG, f"; {BYTES}")


# What is special in a case; it is added to the message if the answer differs there.
SUMS = "here several ops read x, and the gradients that come back from them add up"
SKIP = "here y does not depend on the op Sin"
ZEROS = "here two of the three outputs of Split have no gradient, as if it were zeros"


@cache
def _make_point():
    """Return the x at which all slopes are compared."""
    return tf.constant([[0.5, 1.5, -2.0], [3.0, 0.25, 1.0]])


@contextmanager
def _real_tape():
    """Act as the reference for the learner's tape: TensorFlow's own tape, which watches the point.

    The tape is persistent, so that its method `gradient` can be called more than once.
    """
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(_make_point())
        yield tape


def _run_under_tape(tape, run, *args):
    """Return (the tape, the result of `run(*args)` in the block of the tape).

    The tape that is returned is what `__enter__` returns.
    """
    with tape as entered_tape:
        if entered_tape is None:
            raise InvalidAnswer("__enter__ returns None, but must return the tape")
        return entered_tape, run(*args)


def _read_slope(tape, y, x):
    """Return (dtype, rounded numbers) of `tape.gradient(y, x)`; None if the gradient is None.

    InvalidAnswer says that the gradient is neither a tensor nor None.
    """
    slope = require_no_stub(tape.gradient(y, x))
    if slope is None:
        return None
    if not isinstance(slope, (tf.Tensor, tf.IndexedSlices)):
        raise InvalidAnswer(f"gradient must return a tensor, or None, not {type(slope).__name__}")
    slope = tf.convert_to_tensor(slope)  # IndexedSlices: the gradient of some rows only
    numbers = np.round(slope.numpy().astype("float64"), 4)
    return slope.dtype.name, numbers.tolist()


def _find_slope_at_point(function, tape):
    """Return the gradient of `function(x)` with respect to x, at the point of all cases.

    `tape` is the class of the learner, or the reference.
    """
    entered_tape, y = _run_under_tape(tape(), function, _make_point())
    return _read_slope(entered_tape, y, _make_point())


def _raise_under_tape(tape):
    """Raise an error in the block of a tape; InvalidAnswer if the tape swallows the error."""
    with suppress(ValueError):
        with tape():
            raise ValueError
        # Reached only if the tape swallowed the error.
        raise InvalidAnswer(f"for a block that raises: {SWALLOWED}")


def _ask_again(tape):
    """Return three gradients of one tape.

    A call of `gradient` must not use up what the tape has recorded.
    """
    x = _make_point()

    def compute():
        a = tf.sin(x)
        return a, a * x

    entered_tape, (a, b) = _run_under_tape(tape(), compute)
    return [
        _read_slope(entered_tape, b, x),
        _read_slope(entered_tape, b, a),
        _read_slope(entered_tape, a, x),
    ]


def _nest_tapes(tape):
    """Return three gradients of nested tapes.

    These are the gradient of y by the outer tape, the gradient of the inner gradient by the outer
    tape, and the gradient of y by the inner tape.
    """
    x = _make_point()
    with tape() as outer:
        inner, y = _run_under_tape(tape(), lambda: x * x * x)
        slope = inner.gradient(y, x)
    return _read_slope(outer, y, x), _read_slope(outer, slope, x), _read_slope(inner, y, x)


def _pick_of_list(x):
    """Return a product of rows of x, and change the list in which an op returned the rows.

    A tape must have copied the outputs of the op out of the list before.
    """
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
    # `tape` is the learner's class. Returned is the first case in which it differs from the
    # reference, in words, or None.
    if not callable(tape) or hasattr(type(tape), "__enter__"):  # an instance instead of the class
        raise InvalidAnswer("pass the class MyTape itself")
    functions = (  # (y in words, a function that computes y from x, what is special in this case)
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
