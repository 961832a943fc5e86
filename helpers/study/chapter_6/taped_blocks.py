"""A learner's tape -> how it fares in blocks of many kinds, beside GradientTape; None where well.

Each block's words are how its verdict begins.
"""

from contextlib import ExitStack

from helpers.capture.tensorflow.op_callbacks import callbacks
from helpers.study.chapter_6.gradients import as_tensor, difference, point


class Meant(BaseException):
    """What the judge raises inside a block; no Exception, as little as Ctrl-C is."""


def _raising(tape):
    """for a block that raises"""
    before = callbacks()
    for meant in (ValueError("meant"), Meant("meant"), GeneratorExit(), KeyboardInterrupt()):
        try:
            with tape():
                raise meant
        except type(meant) as error:
            if error is not meant:
                raise
            if callbacks() != before:
                return "its callback is still there: remove it in __exit__, whatever was raised"
        else:
            return "nobody heard of it: __exit__ must not return True"
    return None


def _two(tape):
    """for two tapes, one inside the other"""
    with tape() as outer:
        x = point()
        with tape() as inner:
            y = x * x * x
            z = y * x
    return difference(inner.gradient(z, x), 4.0 * x**3) or difference(
        outer.gradient(y, x), 3.0 * x**2
    )


def _second_order(tape):
    """for the gradient of a gradient, y = x * x * x"""
    import tensorflow as tf

    x = point()
    with tape() as outer:
        with tape() as inner:
            y = x * x * x
        slope = inner.gradient(y, x)
    with tf.GradientTape() as true_outer:
        true_outer.watch(x)
        with tf.GradientTape() as true_inner:
            true_inner.watch(x)
            y = x * x * x
        true_slope = true_inner.gradient(y, x)
    return difference(outer.gradient(slope, x), true_outer.gradient(true_slope, x))


def _asked_twice(tape):
    """for a tape that is asked three times, for other tensors each time"""
    import tensorflow as tf

    x = point()
    with tf.GradientTape(persistent=True) as true:
        true.watch(x)
        with tape() as mine:
            a = tf.sin(x)
            b = tf.split(a * x, 3, 1)[0]
    for y, of in ((b, x), (b, a), (a, x)):
        if because := difference(mine.gradient(y, of), as_tensor(true.gradient(y, of))):
            return because
    return None


def _used_twice(tape):
    """for one tape with two blocks, one after the other"""
    import tensorflow as tf

    x, mine = point(), tape()
    with mine:
        tf.exp(x)
    with mine:
        y = tf.sin(x)
    return difference(mine.gradient(y, x), tf.cos(x))


def _afterwards(tape):
    """for an op after the block"""
    import tensorflow as tf

    x = point()
    with tape() as mine:
        a = tf.sin(x)
    y = tf.exp(a)
    if mine.gradient(y, x) is not None:
        return "yours gives a gradient, GradientTape gives None: it was not written down"
    return None


def _two_at_once(tape):
    """for two tapes of which the first ends first"""
    import tensorflow as tf

    x = point()
    with ExitStack() as second:
        with tape() as early:
            late = second.enter_context(tape())
            a = tf.sin(x)
        y = a * x
    return difference(late.gradient(y, x), tf.cos(x) * x + a) or difference(
        early.gradient(a, x), tf.cos(x)
    )


SCENARIOS = (
    *(_raising, _afterwards, _asked_twice, _used_twice),
    *(_two, _two_at_once, _second_order),
)
