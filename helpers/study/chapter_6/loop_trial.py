"""A loop of eager calls, one that cures it -> where the two part: values, gradients, routes."""

from copy import deepcopy
from functools import partial

import numpy as np

from helpers.capture.frameworks.call_recorder import call_tree
from helpers.capture.text.error import said
from helpers.model.calls import CallTree
from helpers.study.check import Unfit, Untried, tried, where_raised
from helpers.study.engine import Case, find_difference, same_result

CLOSE = 1e-3  # a sum in another order, and what three rows make of it; its cube for doubles


def parted(quick, slow, rows, state, gain) -> str | None:
    """Return how a loop parts from the slow one: in values, in gradients, or in its routes."""
    doubles = {state.dtype.name, np.asarray(rows).dtype.name} == {"float64"}
    same = partial(same_result, near=CLOSE**3 if doubles else CLOSE)
    runs = {part: partial(_run, part, rows, state, gain) for part in ("the result", *_SLOPES)}
    why = dict.fromkeys(_SLOPES, "all arithmetic must stay TensorFlow's")
    cases = [Case(part, run, why.get(part, "")) for part, run in runs.items()]
    try:
        because = find_difference(partial(_call, quick), slow, cases, "slow", same)
    except Unfit as error:  # returned, so that the caller can say for which input
        because = str(error)
    if because:
        return because
    tree = call_tree(quick, rows, state, gain)
    if any(route != "fast path" for route in tree.routes):
        return f"yours leaves the fast path, {_where(tree)}"
    return None


_SLOPES = ("the gradient for state", "the gradient for gain")


def _call(quick, *given):
    """Call the learner's loop; Unfit says what it raised, and in which line."""
    try:
        return quick(*given)
    except (Untried, Unfit):
        raise
    except Exception as error:
        raise Unfit(f"yours raised {said(error)}{where_raised(error)}") from None


def _run(part: str, rows, state, gain, loop):
    """Return one part of what a loop gives as plain data; Unfit where it changes what is given."""
    import tensorflow as tf

    before = deepcopy(rows), float(gain)
    with tf.GradientTape() as tape:
        tape.watch(state)
        found = tried(loop(rows, state, gain), "quick")
    if not same_result([rows, float(gain)], [*before]):
        raise Unfit("yours changes what it is given: it is another afterwards")
    if not isinstance(found, tf.Tensor):
        raise Unfit(f"yours gives no tensor ({type(found).__name__})")
    if part == "the result":
        return found.dtype.name, tuple(found.shape), _numbers(found)
    if not np.isfinite(found).all():
        return None  # what an op gives back for nan depends on the order of its arguments
    return _numbers(tape.gradient(found, state if part.endswith("state") else gain))


def _numbers(tensor):
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
    depth = tree.calls[at].depth
    wrapper = next(c for c in tree.calls[at::-1] if c.depth < depth)
    return f"for the first time in {wrapper.path}: {route}"
