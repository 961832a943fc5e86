"""Chapter 6: which calls of a loop leave the fast path, and why; and the loop without them.

Both are judged by the X-ray: the routes of the loop that is given, and of the one that cures it.
"""

from collections.abc import Callable

import numpy as np

from helpers.capture.frameworks.call_recorder import call_tree
from helpers.model.phrase import counted
from helpers.study.chapter_6.loop_trial import parted
from helpers.study.check import Exercise, Unfit
from helpers.study.engine import check_guess, within

STAYS, LIST, SCALAR, DTYPES, FUNCTION = REASONS = (
    *("stays", "a list", "a NumPy scalar", "dtypes", "a tf.function"),
)
# call -> what becomes of it, and the routes that it takes
TRUTH = {
    "a": (STAYS, ["fast path"]),
    "b": (STAYS, ["fast path"]),
    "c": (SCALAR, ["fallback"]),
    "d": (LIST, ["fallback"]),
    "e": (LIST, ["fallback"]),
    "f": (DTYPES, ["refused", "fast path", "fast path"]),
    "g": (FUNCTION, ["function"]),
    "h": (STAYS, ["fast path"]),
}
# the rows, and the state that the loop begins with
TRIALS = (
    ([[-0.5, 1.5], [1.0, 0.25]], [0.5, -1.0]),
    ([[0.5, -1.25]], [[0.5, 2.0], [-1.0, 0.25], [1.5, -0.5]]),
    (np.zeros((0, 2)), [0.5, -1.0]),
    ([[np.nan, 1.0], [-0.5, -0.0]], [1.0, -np.inf]),
)


def _judge_slow_loop(reasons, quick: Callable, slow):
    import tensorflow as tf

    trials = [
        (np.array(rows, "float32"), tf.constant(state, "float32"), tf.Variable(0.75))
        for rows, state in TRIALS
    ]
    ways = [route for _, routes in TRUTH.values() for route in routes]
    if not callable(slow) or list(call_tree(slow, *trials[1]).routes) != ways:
        raise Unfit("slow is no longer the loop of this exercise: run the cell that defines it")
    truth = {call: reason for call, (reason, _) in TRUTH.items()}
    if because := check_guess(reasons, truth, _why, REASONS, _plain):
        return because
    for rows, state, gain in trials:
        if because := parted(quick, slow, rows, state, gain):
            what = f"{counted(len(rows), 'row')} and a state of shape {tuple(state.shape)}"
            return within(f"for {what}, ", because)
    return None


def _why(call: str, guess: str) -> str:
    truth, routes = TRUTH[call]
    if truth == STAYS:
        return "C reads all that arrives there"
    return f"its way in the X-ray is {', '.join(routes)}; what arrives at the door there?"


def _plain(reason):
    words = " ".join(reason.lower().split()) if isinstance(reason, str) else reason
    return next((one for one in REASONS if one.lower() == words), reason)


SLOW_LOOP = Exercise(
    "slow_loop",
    _judge_slow_loop,
    "Each call that leaves is found, and the cured loop gives the same, all on the fast path.",
    (
        "watch_call(slow, rows, state, gain).model.routes names the way of each op, in order. One "
        "of the calls has three of them. Which, and what are they?",
        "What C cannot read at the door here is a Python list, also one of axes, and a NumPy "
        "scalar, an np.float32. An array, a number, a variable it reads. X-ray one call alone: "
        "watch_call(tf.reverse, state, [0]).",
        "Make once, before the loop, what is the same for each row: the axis as a tensor, the size "
        "in state's dtype (tf.cast). tf.sin stays without a tf.function around it.",
        "row itself serves where row.tolist() stood, and float(row.sum()) is a Python number.",
    ),
)
