"""Chapter 7, case 2: a tf.function that traces at every step, for its key holds a new object.

The cure is a step and a training; the step is given to the training by the judge, who keeps a
ledger of its calls.
"""

import random
from collections.abc import Callable

from helpers.model.traces import TraceLedger
from helpers.study.chapter_2.spied_step import Spied, left_alone, numbers, untraced
from helpers.study.chapter_7.diagnosis import Evidence, undiagnosed
from helpers.study.engine import Case, Exercise, Unfit, find_difference, same_result, tried

SHAPES = (((2, 2), 12), ((3, 2), 5), ((1, 4), 3), ((2, 2), 0))  # batches, how many
NO_KEY = "generic TraceType"  # in TensorFlow's words
UNHASHABLE = (
    "TensorFlow finds no key for an argument of step: an object with a tensor in it has no hash. "
    "Give the tensor as an argument of its own, or in a tuple"
)


def _shows_new_objects(model: TraceLedger) -> str | None:
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


def _train(step, weights, batches):
    weights = numbers(weights)
    for number, rows in enumerate(map(numbers, batches)):
        weights = weights - 0.1 / max(number, 1) * rows.T @ (rows @ weights - 1)
    return weights


def _run(cured, step, weights, batches):
    try:
        with left_alone(batches, "cured") as given:
            return numbers(tried(cured(step, weights, given), "cured")).tolist()
    except TypeError as error:
        if NO_KEY not in str(error):
            raise
        raise Unfit(UNHASHABLE) from None


def _trainings():
    import tensorflow as tf

    dice = random.Random(7)
    for (rows, columns), count in SHAPES:
        drawn = [
            tf.constant([[dice.uniform(-1, 1) for _ in range(columns)] for _ in range(rows)])
            for _ in range(count + 1)
        ]
        yield drawn[0][0], drawn[1:]


def _judge_every_step(seam, proof, cured_step, cured: Callable):
    because = undiagnosed(seam, proof, EVIDENCE, ELSEWHERE) or untraced("cured_step", cured_step)
    if because:
        return because
    spied = Spied(cured_step)
    for weights, batches in _trainings():
        calls, traces, many = spied.calls, spied.traces, f"{len(batches)} batches"

        def run(made, weights=weights, batches=batches):
            return _run(made, spied, weights, batches)

        case = Case(f"the weights after {many}", run)
        same = lambda mine, real: same_result(mine, real, 1e-4)  # noqa: E731
        if because := find_difference(cured, _train, [case], "train", same):
            return because
        if (times := spied.calls - calls) != len(batches):
            return f"cured called step {times} times for {many}; call it once for each"
        if spied.traces - traces > 2:
            return f"{many} of one shape still make {spied.traces - traces} traces{spied.cause}"
        if spied.traces <= 2 and (because := spied.traced_wrongly("cured_step", many)):
            return because
    return spied.only_for_show("cured", lambda: _run(cured, spied, *next(_trainings())))


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
