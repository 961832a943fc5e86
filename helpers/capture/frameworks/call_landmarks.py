"""The calls of one run -> the route that each op took, read from its landmarks alone.

The generated wrappers (tensorflow/python/ops/gen_*_ops.py) try the fast path, catch what it
raises, and go on to a function named for the fallback. A tf.function goes to
tensorflow/python/eager/execute.py at once, and so do a few ops that are no function, such as the
Fill of constant_op.py: those are called direct.
"""

from collections.abc import Iterator, Sequence

from helpers.model.calls import Call

FAST, SLOW = "TFE_Py_FastPathExecute", "TFE_Py_Execute"
SLOW_CANCELABLE, NEW_NODE = "TFE_Py_ExecuteCancelable", "TF_FinishOperation"
DOORS = (
    "Dispatch",
    FAST,
    SLOW,
    SLOW_CANCELABLE,
    "quick_execute",
    "_apply_op_helper",
    "_create_c_op",
    "TF_NewOperation",
    "TF_AddInput",
    "TF_AddInputList",
    "TF_SetAttrValueProto",
    NEW_NODE,
)


def routes(calls: Sequence[Call]) -> Iterator[str]:
    """Yield the route of each op, read from the landmarks alone."""
    falls, inside = _falling_back(calls), _inside(calls, "_eager_fallback")
    of_function = _inside(calls, ".call_function")
    for at, call in enumerate(calls):
        if call.name == FAST and not call.raised:
            yield "fast path"
        elif call.name == FAST and not falls[at]:
            yield "refused"
        elif call.name in (SLOW, SLOW_CANCELABLE):
            ways = {"refused": call.raised, "fallback": inside[at], "function": of_function[at]}
            yield next((way for way, true in ways.items() if true), "direct")
        elif call.name == NEW_NODE:
            yield "graph"


def _falling_back(calls: Sequence[Call]) -> list[bool]:
    """Return, for each call, whether its caller went on to a fallback after it."""
    found, later = [False] * len(calls), [False]  # later: for each depth, whether one follows
    for at in range(len(calls) - 1, -1, -1):
        call = calls[at]
        later += [False] * (call.depth + 1 - len(later))
        del later[call.depth + 1 :]
        found[at] = later[call.depth]
        later[call.depth] = later[call.depth] or call.name.endswith("_eager_fallback")
    return found


def _inside(calls: Sequence[Call], ending: str) -> list[bool]:
    """Return, for each call, whether it was made inside one whose name has this ending."""
    found, above = [], []  # above: for each depth on the way down, whether such a call is on it
    for call in calls:
        del above[call.depth :]
        inside = bool(above) and above[-1]
        found.append(inside)
        above.append(inside or call.name.endswith(ending))
    return found
