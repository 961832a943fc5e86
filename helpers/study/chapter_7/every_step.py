"""Chapter 7, case 2: a tf.function that traces at every step, for its key holds a new object.

The cure is a step and a training; the step is given to the training by the judge, who keeps a
ledger of its calls.
"""

import random

from helpers.model.traces import TraceLedger
from helpers.safety.arguments import is_a
from helpers.study.chapter_2.spied_step import Spied, doubled, left_alone, numbers, uncallable
from helpers.study.chapter_2.stoppable import stoppable
from helpers.study.chapter_7.diagnosis import Evidence, undiagnosed
from helpers.study.check import Exercise, Unfit, tried
from helpers.study.two_answers import parted

RATE = 0.1
SHAPES = (((2, 2), 12), ((3, 2), 5), ((1, 4), 3), ((2, 3), 1), ((2, 2), 0))  # batches, how many
CLOSE = 1e-4
NO_KEY = "generic TraceType"  # in TensorFlow's words
UNHASHABLE = (
    "TensorFlow finds no key for an argument of step: an object with a tensor in it has no hash. "
    "Give the tensor as an argument of its own, or in a tuple"
)


def _shows_new_objects(model: TraceLedger) -> str | None:
    """Ask for two steps of which the second traced, and for the leaf that was another."""
    causes = [cause for entry in model.entries for cause in entry.causes]
    if any(cause.where.startswith("progress") for cause in causes):
        return None
    return "let the training call what watch_traces returned, for more than one batch"


EVIDENCE = (
    Evidence("cache key", (TraceLedger,), "which argument made a step trace", _shows_new_objects),
)
ELSEWHERE = {
    "name": "'name': train_step leads to one and the same tf.function at each step",
    "frame": "'frame': Python runs the step's body each time, but who has asked for that?",
    "evaluator": "'evaluator': nobody has replaced CPython's; show_evaluator would say so",
    "registry": "'registry': the kernels are found, and compute the right numbers",
    "C call": "'C call': a graph arrives there at each step; why is it another one?",
}


def _judge_every_step(seam, proof, cured_step, cured):
    if because := undiagnosed(seam, proof, EVIDENCE, ELSEWHERE):
        return because
    if because := uncallable(cured_step=cured_step, cured=cured):
        return because
    if not hasattr(cured_step, "get_concrete_function"):  # a ledger would make it one
        return "cured_step must be a tf.function: its graph is what the training is for"
    spied = Spied(cured_step)
    for weights, batches in _trainings():
        if because := _training(cured, spied, weights, batches):
            return because
    return _for_show(cured, spied)


def _training(cured, spied, weights, batches) -> str | None:
    """Return what is wrong with one training, in its weights, its calls or its traces."""
    calls, traces, many = spied.calls, spied.traces, f"{len(batches)} batches"
    given = _trained(cured, spied, weights, batches)
    if because := _parted(given, _reference(weights, batches), many):
        return because
    if because := spied.called_wrongly(spied.calls - calls, batches, "cured", many):
        return because
    if spied.traces - traces > 2:
        return f"{many} of one shape still make {spied.traces - traces} traces{spied.cause}"
    return spied.traced_wrongly("cured_step", many) if spied.traces <= 2 else None


def _trained(cured, step, weights, batches):
    try:
        with stoppable(), left_alone(batches, "cured") as given:
            return numbers(tried(cured(step, weights, given), "cured"))
    except TypeError as error:
        if NO_KEY not in str(error):
            raise
        raise Unfit(UNHASHABLE) from None


def _reference(weights, batches):
    """Return what the broken training gives, computed by numpy in double precision."""
    weights = numbers(weights)
    for number, rows in enumerate(map(numbers, batches)):
        rate = RATE if number < 2 else RATE / number
        weights = weights - rate * rows.T @ (rows @ weights - 1)
    return weights


def _parted(given, expected, many: str) -> str | None:
    if given.shape != expected.shape:
        return f"after {many} the weights have the shape {given.shape}, not {expected.shape}"
    for place, (one, other) in enumerate(zip(given, expected, strict=True)):
        if not abs(one - other) <= CLOSE * max(1, abs(other)):
            gives = f"gives {one:g}", f"gives {other:g}"
            return parted(f"after {many} weight {place}: ", *gives, "train")
    return None


def _trainings():
    """Yield weights and batches, the same ones each time; all batches of one have one shape."""
    import tensorflow as tf

    dice = random.Random(7)
    for (rows, columns), count in SHAPES:
        drawn = [[[dice.uniform(-1, 1) for _ in range(columns)] for _ in range(rows)]]
        drawn += [[[dice.uniform(-1, 1) for _ in row] for row in drawn[0]] for _ in range(count)]
        yield tf.constant(drawn[0][0]), [tf.constant(batch) for batch in drawn[1:]]


def _for_show(cured, spied) -> str | None:
    """Return whether the step is called for show: its results not used, or made of nothing."""
    weights, batches = next(_trainings())
    before = _trained(cured, spied, weights, batches)
    spied.changed = doubled
    after = _trained(cured, spied, weights, batches)
    spied.changed = None
    if not is_a(_parted(after, before, ""), str):
        return "cured calls step, but its weights do not come from there"
    return None if spied.reads() else "cured_step gives the same for other tensors: it reads none"


EVERY_STEP = Exercise(
    "every_step",
    _judge_every_step,
    "One graph for all steps of a shape, and the same weights.",
    (
        "Which of the three arguments is another one at each step, and by what does TensorFlow "
        "tell that? A ledger of the calls says so: which verb keeps one?",
        "step = watch_traces(train_step), then train(step, start, [rows] * 4). Each row of step "
        "names the leaf of the key that was not there before.",
        "A tensor's value is no part of the key. What does a step need to know of its progress? "
        "One number, the rate: let the training work it out, in Python, before the call.",
        "tf.constant(0.1 / max(number, 1)) is that rate as a tensor.",
    ),
    seconds=30,
)
