"""Chapter 2, exercise 4: a training that traces at each step for three reasons, to be cured."""

import random

from helpers.study.answers import in_order
from helpers.study.chapter_2.spied_step import (
    Spied,
    doubled,
    left_alone,
    numbers,
    uncallable,
    untraced,
)
from helpers.study.chapter_2.stoppable import stoppable
from helpers.study.check import Exercise, Unfit, tried
from helpers.study.two_answers import parted

COLUMNS = 3
RATE, DECAY = 0.1, 0.9
ROWS = ((5, 2, 7, 3, 3, 1, 4, 6, 2), (1,), (), (2, 3))  # of the batches that nobody has seen
CLOSE = 1e-4


def _judge_slow_training(train_step, train, weights, batches):
    given = uncallable(train_step=train_step, train=train)
    if because := given or untraced(train_step=train_step):
        return because
    spied = Spied(train_step)
    for start, some, which in ((weights, batches, ""), *_unseen()):
        if because := _training(train, spied, start, some, which):
            return because
    return _for_show(train, spied, weights, batches)


def _training(train, spied, weights, batches, which) -> str | None:
    """Return what is wrong with one training, in weights, means, calls or traces."""
    before, many = spied.calls, f"{len(batches)} batches{which}"
    given, means = _trained(train, spied, weights, batches)
    expected, expected_means = _reference(weights, batches)
    if given.shape != expected.shape:
        return f"after {many} the weights have the shape {given.shape}, not {expected.shape}"
    if because := _apart(given.ravel(), expected.ravel(), f"after {many} weight"):
        return because
    if len(means) != len(batches):
        return f"for {many} train must return {len(batches)} means, not {len(means)}"
    if because := _apart(means, expected_means, f"with {many} the mean after batch"):
        return because
    if because := spied.called_wrongly(spied.calls - before, batches, "train", many):
        return because
    return spied.traced_wrongly("train_step", many)


def _trained(train, step, weights, batches):
    """Return the weights and the means of a training, as arrays of numbers."""
    with stoppable(), left_alone(batches, "train") as given:
        result = in_order(tried(train(step, weights, given)), 1000, "what train returns")
    if len(result) != 2:
        raise Unfit(f"train must return two things, the weights and the means, not {len(result)}")
    means = [numbers(mean) for mean in in_order(tried(result[1], "the means"), 1000, "the means")]
    if odd := [mean.size for mean in means if mean.size != 1]:
        raise Unfit(f"each mean must be one number, and one of them has {odd[0]}")
    return numbers(tried(result[0], "the weights")), [float(mean.reshape(())) for mean in means]


def _reference(weights, batches):
    """Return what the slow training gives, computed by numpy in double precision."""
    import numpy as np

    weights, rate, losses, means = numbers(weights), RATE, [], []
    for rows in map(numbers, batches):
        missed = rows @ weights - 1
        losses.append(float(np.mean(missed**2)))
        means.append(float(np.mean(losses)))
        weights = weights - rate * 2 * rows.T @ missed / missed.size
        rate *= DECAY
    return weights, means


def _apart(given, expected, what: str) -> str | None:
    """Return the first place where two rows of numbers are not close."""
    for place, (one, other) in enumerate(zip(given, expected, strict=True)):
        if abs(one - other) > CLOSE * max(1, abs(other)) or (one != one) != (other != other):
            gives = f"gives {one:g}", f"gives {other:g}"
            return parted(f"{what} {place}: ", *gives, "slow_train")
    return None


def _unseen():
    """Yield weights, batches, and words for them, the same ones each time."""
    import tensorflow as tf

    dice = random.Random(4)

    def drawn(rows, columns):
        return tf.constant([[dice.uniform(-1, 1) for _ in range(columns)] for _ in range(rows)])

    for count in ROWS:
        batches = [drawn(rows, COLUMNS) for rows in count]
        yield drawn(COLUMNS, 1), batches, " that you have not seen"


def _for_show(train, spied, weights, batches) -> str | None:
    """Return whether step is called for show: its results not used, or made of nothing."""
    before, means = _trained(train, spied, weights, batches)
    spied.changed = doubled
    after, means_after = _trained(train, spied, weights, batches)
    spied.changed = None
    if not _apart(after.ravel(), before.ravel(), "") and not _apart(means_after, means, ""):
        return "train calls step, but its results do not come from there"
    return None if spied.reads() else "step gives the same for other tensors: it reads none"


SLOW_TRAINING = Exercise(
    "slow_training",
    _judge_slow_training,
    "A trace or two for any number of batches of any length, and the same weights and means.",
    (
        "Which arguments do the rows of the ledger name? There are three.",
        "The rate is a Python number: make it a tensor before the loop and let it stay one. For "
        "the rows, reduce_retracing=True, or an input_signature with None.",
        "The length of a list is part of the key. What does the mean need to know of all the "
        "losses before? Two numbers are enough.",
        "Pass their sum and their count, two tensors, in place of the list. step returns the "
        "weights, the sum and the count; a mean is sum / count, and rate = rate * 0.9 gives a "
        "tensor if rate is one.",
    ),
)
