"""A loop of eager calls, one that cures it -> where the two part: values, gradients, routes."""

from copy import deepcopy
from functools import partial

import numpy as np

from helpers.capture.frameworks.call_recorder import call_tree
from helpers.model.framework_records import CallTree
from helpers.study.check import InvalidAnswer, tried
from helpers.study.engine import Case, find_difference, same_result

CLOSE = 1e-3  # a sum in another order, and what three rows make of it; its cube for doubles
SLOPES = ("the gradient for state", "the gradient for gain")
STAYS = "all arithmetic must stay TensorFlow's"


def parted(quick, slow, rows, state, gain) -> str | None:
    """Return how a loop parts from the slow one: in values, in gradients, or in its routes."""
    doubles = {state.dtype.name, np.asarray(rows).dtype.name} == {"float64"}
    same = partial(same_result, near=CLOSE**3 if doubles else CLOSE)
    cases = [
        Case(part, partial(_run, part, rows, state, gain), STAYS if part in SLOPES else "")
        for part in ("the result", *SLOPES)
    ]
    try:
        because = find_difference(quick, slow, cases, "slow", same)
    except InvalidAnswer as error:  # returned, so that the caller can say for which input
        because = str(error)
    tree = call_tree(quick, rows, state, gain) if not because else None
    if tree and any(route != "fast path" for route in tree.routes):
        return f"yours leaves the fast path, {_where(tree)}"
    return because


def _run(part: str, rows, state, gain, loop):
    """Return one part of a loop's result as plain data; InvalidAnswer if it changes its input."""
    import tensorflow as tf

    before = deepcopy(rows), float(gain)
    with tf.GradientTape() as tape:
        tape.watch(state)
        found = tried(loop(rows, state, gain), "quick")
    if not same_result([rows, float(gain)], [*before]):
        raise InvalidAnswer("yours changes what it is given: it is another afterwards")
    if not isinstance(found, tf.Tensor):
        raise InvalidAnswer(f"yours gives no tensor ({type(found).__name__})")
    if part == "the result":
        return found.dtype.name, tuple(found.shape), _round(found)
    if not np.isfinite(found).all():
        return None  # what an op gives back for nan depends on the order of its arguments
    return _round(tape.gradient(found, state if part in SLOPES[0] else gain))


def _round(tensor):
    if tensor is None:
        return None
    digits = 12 if tensor.dtype == "float64" else 5
    return np.round(tensor.numpy().astype("float64"), digits).tolist()


def _where(tree: CallTree) -> str:
    """Return where a run leaves the fast path for the first time."""
    route = next(route for route in tree.routes if route != "fast path")
    if route not in ("fallback", "refused"):
        return f"its way is {tree.route}"
    at = next(k for k, call in enumerate(tree.calls) if call.raised and call.door)
    wrapper = next(c for c in tree.calls[at::-1] if c.depth < tree.calls[at].depth)
    return f"for the first time in {wrapper.path}: {route}"
