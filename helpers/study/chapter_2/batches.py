"""Chapter 2, exercise 2: a training step that traced once per batch, judged on its ledger."""

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
from helpers.study.check import Exercise, tried
from helpers.study.two_answers import parted

COLUMNS = 3
ROWS = ((7, 0, 9, 4, 4, 1, 12), (2,), ())  # of the batches that nobody has seen


def _judge_batches(step, epoch, batches, slow_step):
    if because := uncallable(step=step, epoch=epoch) or untraced(step=step):
        return because
    spied = Spied(step)
    for some, which in ((batches, ""), *_unseen()):
        if because := _epoch(epoch, spied, some, which):
            return because
    return _for_show(epoch, spied)


def _epoch(epoch, spied, batches, which) -> str | None:
    """Return what is wrong with one epoch, in results, calls or traces."""
    before, found = spied.calls, _results(epoch, spied, batches)
    many = f"{len(batches)} batches{which}"
    if len(found) != len(batches):
        return f"for {many} epoch must return {len(batches)} results, one each, not {len(found)}"
    if because := spied.called_wrongly(spied.calls - before, batches, "epoch", many):
        return because
    for number, (rows, value) in enumerate(zip(batches, found, strict=True)):
        value, expected = numbers(value), _slow(rows, number)
        if value.size != 1:
            return f"batch {number} of {many}: yours gives {value.size} numbers, not one"
        if not _close(float(value.reshape(())), expected):
            gives = f"gives {float(value.reshape(())):g}", f"gives {expected:g}"
            return parted(f"batch {number} of {many}: ", *gives, "slow_step")
    return spied.traced_wrongly("step", many)


def _results(epoch, step, batches) -> list:
    with stoppable(), left_alone(batches, "epoch") as given:
        return in_order(tried(epoch(step, given)), 1000, "what epoch returns")


def _unseen():
    import tensorflow as tf

    dice = random.Random(2)
    for count in ROWS:
        yield (
            [
                tf.constant([[dice.uniform(-5, 5) for _ in range(COLUMNS)] for _ in range(rows)])
                if rows
                else tf.zeros([0, COLUMNS])
                for rows in count
            ],
            " that you have not seen",
        )
    odd = [tf.constant([[1.0, value, 2.0]]) for value in (float("nan"), float("inf"), -0.0)]
    yield odd, " with a nan, an infinity and a negative zero"


def _slow(rows, number) -> float:
    import tensorflow as tf

    return float(tf.reduce_sum(rows) / (number + 1))


def _close(value: float, expected: float) -> bool:
    if value == expected or (value != value and expected != expected):
        return True
    return abs(value - expected) <= 1e-5 * max(1, abs(expected))


def _for_show(epoch, spied) -> str | None:
    """Return whether step is called for show: its results not used, or made of nothing."""
    batches = next(_unseen())[0][-1:]
    before = float(numbers(_results(epoch, spied, batches)[0]).reshape(()))
    spied.changed = doubled
    after = float(numbers(_results(epoch, spied, batches)[0]).reshape(()))
    spied.changed = None
    if _close(before, after):
        return "epoch calls step, but its results do not come from there"
    return None if spied.reads() else "step gives the same for other rows: it does not read them"


BATCHES = Exercise(
    "batches",
    _judge_batches,
    "However many batches there are, they share a trace or two.",
    (
        "Read the ledger of the slow version: which two leaves differ from batch to batch?",
        "The number is a Python value, so it is part of the key. What is not part of a key?",
        "Pass tf.constant(float(number)), and let tf.function be told about the shapes: "
        "reduce_retracing=True, or an input_signature with None for the number of rows.",
    ),
)
