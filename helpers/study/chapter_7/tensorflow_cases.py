"""Chapter 7: a tf.function that traces at every step, and a mean that is stuck in a graph. Both
exercises ask for a *seam* (the place where something intercepts a call), a *proof* (an exhibit that
shows it) and a *cure* (code). `@diagnosed` judges seam and proof, and the functions here run the
cure. A tf.function *traces*: it runs the Python function once to build a graph, and then runs the
graph.
"""

import random
from collections.abc import Callable, Iterable
from contextlib import suppress

from helpers.safety.arguments import real_type_name
from helpers.study.answers import InvalidAnswer, require_no_stub
from helpers.study.chapter_2.spied_step import (
    OPS_THAT_CALL_PYTHON,
    LoopNames,
    draw_tensor,
    judge_loop,
    read_op_kinds,
    require_unchanged,
)
from helpers.study.chapter_7.diagnosis import Evidence, diagnosed, read_parts
from helpers.study.check import exercise
from helpers.study.engine import JudgedCase, advise_on_first_part, find_difference
from helpers.study.frameworks import tf
from helpers.study.sameness import as_numbers

# (shape of a batch, number of batches) of each training
SHAPES = (((2, 2), 12), ((3, 2), 5), ((1, 4), 3), ((2, 2), 0))


def _shows_new_objects(model) -> bool:
    """Return whether an exhibit's model is a ledger of calls in which `progress` caused a trace.

    `progress` is the argument of the step that is a new object at each call.
    """
    for entry in read_parts(model, "entries"):
        for cause in read_parts(entry, "causes"):
            if cause.where.startswith("progress"):
                return True
    return False


def _train_with_numpy(step, weights, batches):
    """Return the weights after the training that the notebook's `train` does.

    NumPy computes in place of the `step`, so this is the reference for any step.
    """
    weights = as_numbers(weights)
    for number, batch in enumerate(batches):
        rows = as_numbers(batch)
        rate = 0.1 / max(number, 1)
        weights = weights - rate * rows.T @ (rows @ weights - 1)
    return weights


def _run_training(cured, step, weights, batches):
    """Return the weights after the learner's training.

    `cured` gets a copy of the list of batches, and must leave it alone.
    """
    with require_unchanged(batches, "cured") as copy:
        return require_no_stub(cured(step, weights, copy), "cured")


EVERY_STEP_HINTS = (
    "Which of the three arguments is different at each step, and how does TensorFlow notice? A "
    "ledger of the calls shows it. Which verb keeps one?",
    "Run step = watch_traces(train_step), then train(step, start, [rows] * 4). Each row of step "
    "names the leaf of the key that is new.",
    "A tensor's value is not part of the key. What does a step need to know about its progress? "
    "Only one number, the rate. Let the training compute it in Python before the call.",
    "tf.constant(0.1 / max(number, 1)) is that rate as a tensor.",
)
EVERY_STEP_ADVICE = {
    "frame": "Python runs the step's body each time, but what caused that?",
    "C call": "the C call runs a graph at each step, but why a different one each time?",
}
EVERY_STEP_EVIDENCE = (
    Evidence(
        "cache key",
        _shows_new_objects,
        "which argument made a step trace. Call what watch_traces returned for several batches",
    ),
)


@exercise(*EVERY_STEP_HINTS, seconds=30)
@diagnosed(EVERY_STEP_ADVICE, *EVERY_STEP_EVIDENCE)
def every_step(seam, proof, cured_step, cured: Callable):
    """One graph serves all steps of one shape, and the weights are the same."""
    # `@diagnosed` has judged seam and proof. `cured(step, weights, batches)` is the learner's loop.
    dice = random.Random(7)
    trials = []
    for (rows, columns), count in SHAPES:
        weights = draw_tensor(dice, rows, columns)[0]
        batches = [draw_tensor(dice, rows, columns) for _ in range(count)]
        trials.append((weights, batches))

    names = LoopNames("cured_step", "cured", "train")
    return judge_loop(names, cured_step, cured, _train_with_numpy, trials, _run_training)


EAGER = "eager code"
FIRST_RATE = 0.5
STEPS = ((0.5, 4.0), (0.5, 4.0), (0.25, -1.0), (1.0, 2.5), (0.125, 8.0))  # (rate, number)


class _EagerSmoother:
    """The reference for the learner's class: a running mean, in plain Python."""

    def __init__(self, rate):
        """Begin with the mean 0. `rate` is how much of the way to a new number the mean moves."""
        self.rate = rate
        self.mean = 0.0

    def update(self, x):
        """Move the mean towards `x`, and return it."""
        self.mean = self.mean + self.rate * (float(x) - self.mean)
        return self.mean


def _shows_mean(model) -> bool:
    """Return whether an exhibit's model proves that the mean is a constant of the graph.

    The proof is a graph that adds and subtracts constants and reads no variable. It is also a
    ledger with a hit, because at a hit the second call runs the graph of the first.
    """
    ops = {getattr(node, "op", "") for node in read_parts(model, "nodes")}
    has_constant_mean = "ReadVariableOp" not in ops and {"Const", "AddV2", "Sub"} <= ops
    has_hit = "hit" in read_parts(model, "verdicts")
    return has_constant_mean or has_hit


STUCK_MEAN_HINTS = (
    "How often does the line self.mean = ... run in three updates? Put a print into a copy of the "
    "class, or use watch_traces(smoother.update).",
    "Make a new smoother and draw what its second call runs: show_graph(smoother.update, "
    "tf.constant(4.0)). Where do the old mean and the rate come from in this graph?",
    "If a graph changes a value, keep it in a tf.Variable, one per object, made in __init__. A "
    "value from outside can be an argument. Make it a tensor, because a number would be a new key.",
    "update(self, x) calls a tf.function with x and tf.constant(self.rate). That one calls "
    "self.mean.assign_add(rate * (x - self.mean)) and returns self.mean.read_value().",
)
STUCK_MEAN_ADVICE = {
    "name": "self.mean is looked up and bound, but how often does that line of Python run?",
    "frame": "`update` has a frame only while it is traced. Why does the second call make none?",
    "evaluator": "tf.function installs no other frame evaluator. It traces a rewritten copy, "
    "then runs a graph instead of the frame. How does the second call find that graph?",
}
STUCK_MEAN_EVIDENCE = (
    Evidence(
        "cache key",
        _shows_mean,
        "what the second call runs, and with which mean. Show a graph of Smoother.update or a hit",
    ),
)


@exercise(*STUCK_MEAN_HINTS, seconds=20)
@diagnosed(STUCK_MEAN_ADVICE, *STUCK_MEAN_EVIDENCE)
def stuck_mean(seam, proof, cured: type):
    """The means are those of eager code, also after a new rate, and one graph serves them all."""
    # `@diagnosed` has judged seam and proof.
    case = JudgedCase("with two objects, used in turn", _run_updates, advise_on_first_part(EAGER))
    return find_difference(cured, _EagerSmoother, [case], EAGER)


def _run_updates(cls) -> dict:
    """Update two objects of a class in turn; return label -> observation.

    The observations are each result and each mean of the first object, the mean of the second one,
    and the number of graphs of the first one's tf.functions. A label lists all calls so far, as in
    "update(4), rate 0.25 set, update(-1): the mean".
    """
    smoother = cls(FIRST_RATE)
    other = cls(0.25)  # its mean must be its own
    values = {}
    history = []  # the calls so far, in words
    functions_by_id = {}
    graph_counts = []  # after each step, how many graphs there are
    current_rate = FIRST_RATE
    for rate, number in STEPS:
        if rate != current_rate:
            smoother.rate = rate
            current_rate = rate
            history.append(f"rate {rate} set")
        history.append(f"update({number:g})")
        label = ", ".join(history)

        result = require_no_stub(smoother.update(tf.constant(number)), "cured")
        other.update(tf.constant(1.0))
        values[f"{label}: its result"] = _as_float(result)
        values[f"{label}: the mean"] = _as_float(smoother.mean)

        functions_by_id |= _find_functions(smoother)
        graph_counts.append(_count_graphs(functions_by_id.values()))

    python_ops = set()  # such as PyFunc, by which a graph would run plain Python again
    for function in functions_by_id.values():
        python_ops |= read_op_kinds(function) & OPS_THAT_CALL_PYTHON

    values["the mean of the other object"] = _as_float(other.mean)
    has_graph = cls is _EagerSmoother or graph_counts[-1] > 0
    values["an attribute has a graph, which was the point"] = has_graph
    # The first two updates may each need a graph. Later ones must not.
    extra_graphs = graph_counts[-1] - graph_counts[1]
    values["extra graphs, though a new rate must not be a new graph"] = extra_graphs
    values["ops of the graph that call back into Python"] = sorted(python_ops)
    return values


def _find_functions(smoother) -> dict[int, object]:
    """Return id -> tf.function, for each attribute of the object that is a tf.function."""
    attributes = [getattr(smoother, name, None) for name in dir(smoother)]
    # Only a tf.function has this method.
    return {
        id(value): value for value in attributes if hasattr(value, "experimental_get_tracing_count")
    }


def _count_graphs(functions: Iterable) -> int:
    """Return how many graphs these tf.functions have traced."""
    return sum(function.experimental_get_tracing_count() for function in functions)


def _as_float(value) -> float:
    """Return a mean as a float. Raise InvalidAnswer if it is no number, or a tensor of a graph."""
    with suppress(Exception):  # a tensor of a graph has no value outside the graph
        return float(value)
    raise InvalidAnswer(f"outside the graph, a mean must be a number, not {real_type_name(value)}")
