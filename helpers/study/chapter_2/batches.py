"""Chapter 2, exercise 2: a training step that traced once per batch, judged on its ledger."""

import random
from collections.abc import Callable

from helpers.study.chapter_2.spied_step import Spied, left_alone, numbers, untraced
from helpers.study.engine import Case, Exercise, find_difference, in_order, tried

COLUMNS = 3
ROWS = ((7, 0, 9, 4, 4, 1, 12), (2,), ())  # of the batches that nobody has seen


def _slow_epoch(step, batches):
    """The epoch of the exercise, with the slow step."""
    import tensorflow as tf

    return [tf.reduce_sum(rows) / (number + 1) for number, rows in enumerate(batches)]


def _unseen():
    import tensorflow as tf

    dice = random.Random(2)
    for count in ROWS:
        drawn = [[[dice.uniform(-5, 5) for _ in range(COLUMNS)] for _ in range(n)] for n in count]
        batches = [tf.constant(b) if b else tf.zeros([0, COLUMNS]) for b in drawn]
        yield batches, " that you have not seen"
    odd = [tf.constant([[1.0, value, 2.0]]) for value in (float("nan"), float("inf"), -0.0)]
    yield odd, " with a nan, an infinity and a negative zero"


def _run(epoch, spied, batches) -> list[float]:
    with left_alone(batches, "epoch") as given:
        found = in_order(tried(epoch(spied, given)), 1000, "what epoch returns")
    return [value.tolist() for value in map(numbers, found)]


def _judge_batches(step, epoch: Callable, batches, slow_step):
    if because := untraced("step", step):
        return because
    spied = Spied(step)
    for some, which in ((batches, ""), *_unseen()):
        many, before = f"{len(some)} batches{which}", spied.calls
        case = Case(f"for {many}", lambda made: _run(made, spied, some), _advise)  # noqa: B023
        if because := find_difference(epoch, _slow_epoch, [case], "slow_step"):
            return because
        if (times := spied.calls - before) != len(some):
            return f"epoch called step {times} times for {many}; call it once for each"
        if because := spied.traced_wrongly("step", many):
            return because
    return spied.only_for_show("epoch", lambda: _run(epoch, spied, next(_unseen())[0][-1:]))


def _advise(mine, real) -> str | None:
    if isinstance(mine, list) and len(mine) != len(real):
        return f"epoch must return {len(real)} results, one each, not {len(mine)}"
    return None


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
