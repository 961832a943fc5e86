"""Chapter 2, exercise 4: a training that traces at each step for three reasons, to be cured."""

import random
from collections.abc import Callable

from helpers.study.chapter_2.spied_step import Spied, left_alone, numbers, untraced
from helpers.study.engine import (
    Case,
    Exercise,
    Raised,
    Unfit,
    find_difference,
    in_order,
    parted,
    same_result,
    tried,
)

COLUMNS, CLOSE = 3, 1e-4
ROWS = ((5, 2, 7, 3, 3, 1, 4, 6, 2), (1,), ())  # of the batches that nobody has seen


def _slow_train(step, weights, samples):
    """The training of the exercise, in double precision."""
    import numpy as np

    weights, rate, losses, means = numbers(weights), 0.1, [], []
    for rows in map(numbers, samples):
        missed = rows @ weights - 1
        losses.append(np.mean(missed**2))
        means.append(np.mean(losses))
        weights, rate = weights - rate * 2 * rows.T @ missed / missed.size, rate * 0.9
    return weights, means


def _unseen():
    """Yield weights, batches, and words for them, the same ones each time."""
    import tensorflow as tf

    dice = random.Random(4)

    def draw(rows, columns):
        return tf.constant([[dice.uniform(-1, 1) for _ in range(columns)] for _ in range(rows)])

    for count in ROWS:
        batches = [draw(rows, COLUMNS) for rows in count]
        yield draw(COLUMNS, 1), batches, " that you have not seen"


def _run(train, spied, weights, batches) -> tuple:
    """Return the weights and the means of a training."""
    with left_alone(batches, "train") as given:
        result = in_order(tried(train(spied, weights, given)), 1000, "what train returns")
    if len(result) != 2:
        raise Unfit(f"train must return two things, the weights and the means, not {len(result)}")
    means = [numbers(mean) for mean in in_order(tried(result[1], "the means"), 1000, "the means")]
    return numbers(tried(result[0], "the weights")), [mean.reshape(-1).tolist() for mean in means]


def _judge_slow_training(train_step, train: Callable, weights, batches):
    if because := untraced("train_step", train_step):
        return because
    spied = Spied(train_step)
    for start, some, which in ((weights, batches, ""), *_unseen()):
        many, before = f"{len(some)} batches{which}", spied.calls

        def run(made, start=start, some=some):
            return _run(made, spied, start, some)

        case = Case(f"after {many}", run, _advise)
        if because := find_difference(train, _slow_train, [case], "slow_train", _is_close):
            return because
        if (times := spied.calls - before) != len(some):
            return f"train called step {times} times for {many}; call it once for each"
        if because := spied.traced_wrongly("train_step", many):
            return because
    return spied.only_for_show("train", lambda: _run(train, spied, weights, batches))


def _is_close(mine, real) -> bool:
    return same_result(mine, real, CLOSE)


def _advise(mine, real) -> str | None:
    """Name the first number that differs."""
    if isinstance(mine, Raised):
        return None
    if mine[0].shape != real[0].shape:
        return f"the weights have the shape {mine[0].shape}, not {real[0].shape}"
    if len(mine[1]) != len(real[1]):
        return f"train must return {len(real[1])} means, not {len(mine[1])}"
    rows = (
        ("weight", mine[0].ravel(), real[0].ravel()),
        ("the mean after batch", mine[1], real[1]),
    )
    for what, some, others in rows:
        for place, (one, other) in enumerate(zip(some, others, strict=True)):
            if not _is_close(one, other):
                return parted(f"{what} {place}: ", f"gives {one}", f"gives {other}", "slow_train")
    return None


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
