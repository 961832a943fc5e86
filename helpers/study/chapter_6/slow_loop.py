"""Chapter 6: which calls of a loop leave the fast path, and why; and the loop without them.

Both are judged by the X-ray: the routes of the loop that is given, and of the one that cures it.
"""

from contextlib import suppress

from helpers.capture.frameworks.call_recorder import call_tree
from helpers.capture.text.value import brief
from helpers.model.phrase import counted
from helpers.safety.arguments import is_a, kind_of
from helpers.study.answers import by_name
from helpers.study.chapter_6.loop_trial import drawn, parted
from helpers.study.check import Exercise
from helpers.study.two_answers import within

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


def _judge_slow_loop(reasons, quick, slow):
    given = by_name(reasons, TRUTH, "reasons")
    if not callable(quick):
        return f"quick must be a function, not {kind_of(quick)}"
    given_to = list(drawn())
    with suppress(Exception):  # before the graphs of slow, which a copy of the kernel cannot run
        quick(*next(drawn()))
    ways = [route for _, routes in TRUTH.values() for route in routes]
    if not callable(slow) or list(call_tree(slow, *given_to[0]).routes) != ways:
        return "slow is no longer the loop of this exercise: run the cell that defines it again"
    for call, reason in given.items():
        if because := _misread(call, reason):
            return because
    for rows, state, gain in given_to:
        if because := parted(quick, slow, rows, state, gain):
            what = f"{counted(len(rows), 'row')} and a state of shape {tuple(state.shape)}"
            return within(f"for {what}, ", because)
    return None


def _misread(call: str, reason) -> str | None:
    truth, routes = TRUTH[call]
    words = " ".join(reason.lower().split()) if is_a(reason, str) else ""
    plain = next((one for one in REASONS if one.lower() == words), None)
    if plain is None:
        return f"{call}: {brief(reason)} is none of: {', '.join(REASONS)}"
    if plain == truth:
        return None
    if truth == STAYS:
        return f"{call} stays on the fast path: C reads all that arrives there"
    if plain == STAYS:
        return f"{call} does not stay: its way in the X-ray is {', '.join(routes)}"
    return f"{call} leaves the fast path, but not for {plain!r}: what arrives at the door there?"


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
