"""The calls of one run -> the route that each op took, read from its landmarks alone.

The generated wrappers (tensorflow/python/ops/gen_*_ops.py) try the fast path, catch what it
raises, and go on to a function named for the fallback; a tf.function goes to
tensorflow/python/eager/execute.py at once.
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
    for at, call in enumerate(calls):
        if call.name == FAST and not call.raised:
            yield "fast path"
        elif call.name == FAST and not _falls_back(calls, at):
            yield "refused"
        elif call.name in (SLOW, SLOW_CANCELABLE):
            fallback = "fallback" if _inside_fallback(calls, at) else "function"
            yield "refused" if call.raised else fallback
        elif call.name == NEW_NODE:
            yield "graph"


def _falls_back(calls: Sequence[Call], at: int) -> bool:
    """Return whether the wrapper went on to its fallback after the fast path said no."""
    depth = calls[at].depth
    for call in calls[at + 1 :]:
        if call.depth < depth:
            return False
        if call.depth == depth and call.name.endswith("_eager_fallback"):
            return True
    return False


def _inside_fallback(calls: Sequence[Call], at: int) -> bool:
    depth = calls[at].depth
    for call in reversed(calls[:at]):
        if call.depth < depth:
            depth = call.depth
            if call.name.endswith("_eager_fallback"):
                return True
    return False
