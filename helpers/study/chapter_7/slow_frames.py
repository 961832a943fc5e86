"""Case 6: a loop whose ops leave the fast path.

What is asked of the cure is chapter 6's: values, dtypes, gradients, and the route of each op.
"""

from random import Random

import numpy as np

from helpers.capture.text.error import said
from helpers.model.calls import CallTree
from helpers.model.ledger import Ledger
from helpers.model.phrase import counted
from helpers.safety.arguments import is_a, kind_of
from helpers.study.chapter_6.loop_trial import parted
from helpers.study.chapter_7.diagnosis import Evidence, undiagnosed
from helpers.study.check import Exercise, Untried
from helpers.study.engine import within

SEED = 7
# frames, rows in each, columns; dtype of the frames, of state and gain
DRAWN = (
    (1, 2, 1, "float32", "float32"),
    (1, 1, 2, "float64", "float64"),
    (3, 2, 2, "float32", "float32"),
    (0, 2, 2, "float32", "float32"),
    (2, 4, 3, "float64", "float32"),
    (2, 1, 3, "float32", "float64"),
)


def _slow(frames, state, gain):
    """The loop of the case; the learner's own may have been changed."""
    import tensorflow as tf

    for frame in frames:
        state = tf.multiply(state, gain)
        state = tf.maximum(state, frame)
        state = tf.subtract(state, np.mean(frame))
    return state


def _shows(model) -> str | None:
    """Return None where a call of the loop is seen to fall back."""
    if is_a(model, Ledger):
        words = [verdict.word for entry in model.entries for verdict in entry.verdicts]
        return None if any("fallback" in word for word in words) else "nothing falls back there"
    if "fallback" in model.routes:
        return None
    return f"the way that it shows is: {model.route}"


EVIDENCE = (Evidence("C call", (CallTree, Ledger), "an op that leaves the fast path", _shows),)
ELSEWHERE = {
    "cache key": "there is no tf.function here, so no graph is looked up",
    "name": "each call reaches the op that was meant: it is how the op gets its arguments",
    "registry": "the kernels are the same, and so are the values: it is the way to them",
}


def _judge(seam, proof, cured):
    if not callable(cured):
        return f"cured must be a function, as slow is, not {kind_of(cured)}"
    if because := undiagnosed(seam, proof, EVIDENCE, ELSEWHERE):
        return because
    for kinds, frames, state, gain in _drawn():
        what = f"{counted(len(frames), 'frame')} of {kinds[0]} and a {kinds[1]} state of shape"
        if because := parted(cured, _slow, frames, state, gain):
            return within(f"for {what} {tuple(state.shape)}, ", because)
    return _raises_otherwise(cured)


def _drawn():
    """Yield (dtypes, frames, state, gain) that nobody has seen; a frame is a list of arrays."""
    import tensorflow as tf

    random = Random(SEED)
    for number, rows, columns, *kinds in DRAWN:
        frames = [[_numbers(random, columns, kinds[0]) for _ in range(rows)] for _ in range(number)]
        state = np.stack([_numbers(random, columns, kinds[1]) for _ in range(rows)])
        yield kinds, frames, tf.constant(state), tf.Variable(random.random(), dtype=kinds[1])
    frames, state = [[np.float32([np.nan, 1.0])]], tf.constant([1.0, -np.inf])
    yield ("float32", "float32"), frames, state, tf.Variable(-2.0)


def _numbers(random: Random, columns: int, kind: str):
    return np.array([random.uniform(-2, 2) for _ in range(columns)], kind)


def _raises_otherwise(cured) -> str | None:
    """Return what is wrong where the state does not fit the frames."""
    import tensorflow as tf

    frames, state = [[np.float32([1.0, 2.0])] * 2], tf.ones([3, 2])
    try:
        cured(frames, state, tf.Variable(1.0))
    except Untried:
        raise
    except tf.errors.InvalidArgumentError:
        return None
    except Exception as error:
        return f"for a state that does not fit, yours raised {said(error)}, slow another error"
    return "for a state that does not fit the frame, slow raises an error, and yours none"


SLOW_FRAMES = Exercise(
    "slow_frames",
    _judge,
    "The same values, dtypes and gradients, and each op on the fast path.",
    (
        "The arithmetic is the same in both loops. Where do the other calls come from? X-ray one "
        "run: watch_call(slow, frames, state, gain).",
        "Which of the three ops fall back? Ask for their routes, in order, and look at the type "
        "of the argument that C cannot read: type(frame), type(np.mean(frame)).",
        "One array instead of a list of arrays: np.stack(frame). One Python number instead of a "
        "NumPy scalar: float(...).",
    ),
)
