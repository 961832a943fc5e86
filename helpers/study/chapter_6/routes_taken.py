"""Judge two exercises of chapter 6 on the *route* of an op of TensorFlow, which is how a call in
Python reaches C: by the "fast path", by the slower "fallback", as a node of a "graph" and so on. In
`route` the learner guesses routes. In `slow_loop` the learner rewrites a loop so that all its ops
take the fast path.
"""

import re
from collections.abc import Callable
from copy import deepcopy
from functools import partial

import numpy as np

from helpers.capture.frameworks.call_tree import record_call_tree
from helpers.model.call_records import ROUTES
from helpers.model.phrase import format_count
from helpers.study.answers import InvalidAnswer, require_no_stub
from helpers.study.check import exercise
from helpers.study.engine import advise_by_part, find_difference, judge_guess, make_cases
from helpers.study.frameworks import tf
from helpers.study.sameness import is_same_result
from helpers.study.sentences import prefix_reason

WHY = {
    "fast path": "C itself reads everything that arrives at the door: tensors, numbers, variables",
    "fallback": "FastPathExecute raised, because C could not read an argument. Python converted it",
    "function": "the whole graph is one op, and quick_execute runs it",
    "direct": "Python called quick_execute directly, for an op that is not a function",
    "graph": "no op ran, because TensorFlow wrote a node into a graph",
    "refused": "C raised, and there was no fallback",
    "no door": "no op passed through either door or into a graph",
}


@exercise(
    "For each call, does an op run now, or does TensorFlow only write it down? Is it one op "
    "with a kernel, or a whole function?",
    "The fast path accepts tensors, and numbers and variables beside them. Which other "
    "arguments are there, and do the dtypes agree?",
    "A list of numbers that arrives at the door falls back. tf.constant makes a tensor from a "
    "number, or from such a list, without either door. If in doubt, look at "
    "watch_call(...).model.route.",
)
def route(answers, calls):
    """You can see a call's route in its code. The X-ray of each call agrees with you."""
    if not calls:
        raise InvalidAnswer("there are no calls to check. Run the cell that makes them")
    truth = {}  # name of a call -> the route that was recorded
    reasons = {}  # name of a call -> why it takes this route
    for name, call in calls.items():
        tree = _record_second_call(call)
        truth[name] = _write_plainly(tree.routes or tree.route)
        reasons[name] = WHY.get(truth[name], "")
    return judge_guess(answers, truth, reasons, among=ROUTES, plain=_write_plainly)


def _record_second_call(call):
    """Make a call twice, and return the record of the second call.

    The first call of a tf.function traces, which takes other routes. The record is what
    `watch_call` shows: its `routes` has the route of each op.
    """
    record_call_tree(call)
    return record_call_tree(call)


def _write_plainly(route):
    """Return a route in one form, so that a guess can be compared: "Fallback × 2" -> "fallback".

    A list or tuple that repeats one route becomes this route. Anything else is returned as it is.
    """
    if isinstance(route, (tuple, list)) and len(set(map(str, route))) == 1:
        route = route[0]
    if not isinstance(route, str):
        return route
    text = " ".join(route.lower().split())
    return re.sub(r" ?[x×*] ?\d+$", "", text)


NEAR = 1e-3  # allows sums in another order, over three rows
NEAR_OF_DOUBLES = NEAR**3
SLOPES = ("the gradient for state", "the gradient for gain")
NO_SLOPE = "no op of TensorFlow leads from it to the result; use TensorFlow for all arithmetic"


def find_loop_difference(quick, slow, rows, state, gain) -> str | None:
    """Return what is wrong with the learner's loop `quick`, in words, or None.

    `quick` must return the same value and the same gradients as `slow`, and all its ops must take
    the fast path. Both are called with `rows` (an array of NumPy), `state` (a tensor) and `gain`
    (a variable).
    """
    has_doubles = {state.dtype.name, np.asarray(rows).dtype.name} == {"float64"}
    # Sums in another order differ a little, and less so for doubles.
    near = partial(is_same_result, near=NEAR_OF_DOUBLES if has_doubles else NEAR)
    cases = make_cases(_run_loop, [("the loop", rows, state, gain)], _advise_on_slopes)
    try:
        reason = find_difference(quick, slow, cases, who="slow", same=near)
    except InvalidAnswer as error:  # returned, so that the caller can name the input
        return str(error)
    if reason:
        return reason

    routes = record_call_tree(quick, rows, state, gain).routes
    if any(route != "fast path" for route in routes):
        return f"quick leaves the fast path. Its routes are {', '.join(routes)}"
    return None


def _advise_on_slopes(mine, real):
    """Return a message on two results that differ.

    A gradient that is None in the learner's result `mine` gets NO_SLOPE as the explanation.
    """
    advice = {}
    for name in SLOPES:
        if type(mine) is dict and mine.get(name, name) is None:  # there, and None
            advice[name] = NO_SLOPE
    return advise_by_part(advice, "slow")(mine, real)


def _run_loop(rows, state, gain, loop) -> dict:
    """Return the result and the gradients of a loop as plain data, in a dict.

    `loop` is the learner's loop or the slow one. InvalidAnswer says that the loop changes its
    input, or returns no tensor.
    """
    before = [deepcopy(rows), float(gain)]
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(state)
        result = require_no_stub(loop(rows, state, gain), "quick")
    if not is_same_result([rows, float(gain)], before):
        raise InvalidAnswer("quick must not change rows or gain")
    if not isinstance(result, tf.Tensor):
        raise InvalidAnswer(f"quick must return a tensor, not {type(result).__name__}")
    values = {"the result": (result.dtype.name, tuple(result.shape), _round_tensor(result))}
    # Gradients of NaN depend on the order of an op's arguments, so they are not compared.
    if np.isfinite(result).all():
        for name, source in zip(SLOPES, (state, gain), strict=True):
            values[name] = _round_tensor(tape.gradient(result, source))
    return values


def _round_tensor(tensor):
    """Return the numbers of a tensor in nested lists, rounded; None if there is no tensor.

    Doubles keep more digits.
    """
    if tensor is None:
        return None
    digits = 12 if tensor.dtype == "float64" else 5
    return np.round(tensor.numpy().astype("float64"), digits).tolist()


REASONS = ("stays", "a list", "a NumPy scalar", "dtypes", "a tf.function")
TRUTH = {  # call -> the right answer, and the routes that it takes
    "a": ("stays", ["fast path"]),
    "b": ("stays", ["fast path"]),
    "c": ("a NumPy scalar", ["fallback"]),
    "d": ("a list", ["fallback"]),
    "e": ("a list", ["fallback"]),
    "f": ("dtypes", ["refused", "fast path", "fast path"]),
    "g": ("a tf.function", ["function"]),
    "h": ("stays", ["fast path"]),
}
TRIALS = (  # the rows, and the first state of the loop
    ([[-0.5, 1.5], [1.0, 0.25]], [0.5, -1.0]),
    ([[0.5, -1.25]], [[0.5, 2.0], [-1.0, 0.25], [1.5, -0.5]]),
    (np.zeros((0, 2)), [0.5, -1.0]),
    ([[np.nan, 1.0], [-0.5, -0.0]], [1.0, -np.inf]),
)


@exercise(
    "watch_call(slow, rows, state, gain).model.routes lists the routes in order. One of the "
    "calls has three routes. Which call is it, and what are the routes?",
    "At the door, C can read an array, a number or a variable. Here it cannot read a Python "
    "list, not even one of axes, or a NumPy scalar, an np.float32. X-ray one call alone: "
    "watch_call(tf.reverse, state, [0]).",
    "Make what is the same for each row once, before the loop: the axis as a tensor, and the size "
    "in state's dtype (tf.cast). tf.sin stays without a tf.function around it.",
    "Use row itself instead of row.tolist(). float(row.sum()) is a Python number.",
)
def slow_loop(reasons, quick: Callable, slow: Callable):
    """You found each call that leaves. Your loop returns the same, all on the fast path."""
    # First the guess, why some calls of the slow loop leave the fast path; then the loop `quick`.
    truth = {call: reason for call, (reason, _) in TRUTH.items()}
    fault = judge_guess(reasons, truth, _say_why, among=REASONS)
    if fault:
        return fault

    for values, first_state in TRIALS:
        rows = np.array(values, "float32")
        state = tf.constant(first_state, "float32")
        gain = tf.Variable(0.75)
        fault = find_loop_difference(quick, slow, rows, state, gain)
        if fault:
            what = f"{format_count(len(rows), 'row')} and a state of shape {tuple(state.shape)}"
            return prefix_reason(f"for {what}, ", fault)
    return None


def _say_why(call: str, guess: str) -> str:
    """Return why a guess is wrong, for the message: the routes that the call really takes."""
    routes = ", ".join(TRUTH[call][1])
    return f"its route in the X-ray is {routes}. What arrives at the door there?"
