"""Chapter 2, exercise 2: a training step that traced once per batch, judged on its ledger."""

from helpers.capture.tensorflow.tracing.ledger import watch
from helpers.study.check import Exercise, tried

MOST = 2


def _judge_batches(step, epoch, batches, slow_step):
    for name, given in (("step", step), ("epoch", epoch)):
        if not callable(given):
            return f"{name} must be a function, not {type(given).__name__}"
    kept = watch(step)
    found = tried(epoch(kept, batches))
    if not isinstance(found, (list, tuple)) or len(found) != len(batches):
        return f"epoch must return a list of {len(batches)} results, one per batch"
    calls = sum(entry.calls for entry in kept.model.entries)
    if calls < len(batches):
        return f"epoch called step {calls} times for {len(batches)} batches; call it for each"
    for number, (rows, value) in enumerate(zip(batches, found, strict=True)):
        expected = float(slow_step(rows, number))
        if abs(float(value) - expected) > 1e-5 * max(1, abs(expected)):
            return f"batch {number} gives {float(value):g}, and it was {expected:g} before"
    if kept.model.traces > MOST:
        return (
            f"{len(batches)} batches still make {kept.model.traces} traces; "
            f"the ledger says why: {kept.model.causes[-1]}"
        )
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
