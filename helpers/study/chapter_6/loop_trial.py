"""A loop of eager calls, one that cures it -> where the two part: values, gradients, routes."""

from copy import deepcopy
from functools import partial
from random import Random

import numpy as np

from helpers.capture.frameworks.call_recorder import call_tree
from helpers.capture.text.error import said
from helpers.model.calls import CallTree
from helpers.safety.arguments import is_a, kind_of
from helpers.study.check import Untried, tried
from helpers.study.two_answers import parted as apart

# how many rows, the state's axes before the columns, how many columns
SIZES = ((1, (), 1), (1, (), 2), (2, (3,), 2), (0, (), 2), (3, (2,), 3), (2, (), 0), (1, (3,), 2))
CLOSE = 1e-3  # a sum in another order, and what three rows make of it; its cube for doubles
SEED = 6


def drawn():
    """Yield (rows, state, gain): other numbers of rows and columns, and states of two axes."""
    import tensorflow as tf

    random = Random(SEED)
    for number, axes, columns in SIZES:
        rows = _numbers(random, (number, columns))
        yield rows, tf.constant(_numbers(random, (*axes, columns))), tf.Variable(random.random())
    rows = np.array([[np.nan, 1.0], [-0.5, -0.0]], "float32")
    yield rows, tf.constant([1.0, -np.inf]), tf.Variable(-2.0)


def _numbers(random: Random, shape: tuple):
    count = int(np.prod(shape))
    return np.array([random.uniform(-2, 2) for _ in range(count)], "float32").reshape(shape)


def parted(quick, slow, rows, state, gain) -> str | None:
    """Return how a loop parts from the slow one, in values or routes."""
    import tensorflow as tf

    before = deepcopy(rows), float(gain)
    theirs, true = _with_gradients(slow, rows, state, gain)
    try:
        mine, slopes = _with_gradients(quick, rows, state, gain)
    except Untried:
        raise
    except Exception as error:
        return f"yours raised {said(error)}"
    if not (_same(rows, before[0]) and float(gain) == before[1]):
        return "yours changes what it is given: it is another afterwards"
    if not is_a(mine, tf.Tensor) or (mine.dtype, mine.shape) != (theirs.dtype, theirs.shape):
        return apart("", f"gives {_kind(mine)}", f"gives {_kind(theirs)}", "slow")
    doubles = {theirs.dtype.name, np.asarray(rows).dtype.name} == {"float64"}
    close = CLOSE**3 if doubles else CLOSE
    if not _alike(mine, theirs, close):
        digits = 12 if doubles else 4
        gives = (f"gives {_values(tensor, digits)}" for tensor in (mine, theirs))
        return apart("", *gives, "slow")
    # What an op gives back for nan depends on the order of its arguments, which is free.
    for name in true if np.isfinite(theirs).all() else ():
        if not _alike(slopes[name], true[name], close):
            gives = f"gives {_values(slopes[name])}", f"gives {_values(true[name])}"
            why = ": all arithmetic must stay TensorFlow's"
            return apart(f"the gradient for {name}: ", *gives, "slow", why)
    tree = call_tree(quick, rows, state, gain)
    if any(route != "fast path" for route in tree.routes):
        return f"yours leaves the fast path, {_where(tree)}"
    return None


def _with_gradients(loop, rows, state, gain) -> tuple:
    """Return what a loop gives, and its gradients by what they are for."""
    import tensorflow as tf

    with tf.GradientTape() as tape:
        tape.watch(state)
        found = tried(loop(rows, state, gain), "quick")
    if not is_a(found, tf.Tensor):
        return found, {}
    return found, dict(zip(("state", "gain"), tape.gradient(found, (state, gain)), strict=True))


def _alike(mine, theirs, close: float) -> bool:
    if mine is None or theirs is None:
        return mine is theirs
    return np.allclose(mine, theirs, close, close, equal_nan=True)


def _same(rows, before) -> bool:
    return len(rows) == len(before) and all(
        map(partial(np.array_equal, equal_nan=True), rows, before)
    )


def _where(tree: CallTree) -> str:
    """Return where a run leaves the fast path for the first time."""
    route = next(route for route in tree.routes if route != "fast path")
    if route not in ("fallback", "refused"):
        return f"its way is {tree.route}"
    at = next(k for k, call in enumerate(tree.calls) if call.raised and call.door)
    depth = tree.calls[at].depth
    wrapper = next(c for c in tree.calls[at::-1] if c.depth < depth)
    return f"for the first time in {wrapper.path}: {route}"


def _kind(found) -> str:
    import tensorflow as tf

    if not is_a(found, tf.Tensor):
        return "None" if found is None else f"no tensor ({kind_of(found)})"
    return f"a {found.dtype.name} tensor of shape {tuple(found.shape)}"


def _values(tensor, digits: int = 4) -> str:
    if tensor is None:
        return "None"
    return str(np.round(tensor.numpy().astype("float64"), digits).tolist())
