"""Chapter 7: a tf.function that traces at every step, and a mean that is stuck in a graph."""

import random
from collections.abc import Callable
from contextlib import suppress

from helpers.safety.arguments import real_type_name
from helpers.study.chapter_2.spied_step import CALL_PYTHON, draw, graph_ops, judge_loop, left_alone
from helpers.study.chapter_7.diagnosis import Evidence, diagnosed, parts
from helpers.study.check import InvalidAnswer, exercise, tried
from helpers.study.engine import Case, find_difference, numbers, say_first_part, tf

SHAPES = (((2, 2), 12), ((3, 2), 5), ((1, 4), 3), ((2, 2), 0))  # batches, how many


def _shows_new_objects(model) -> bool:
    causes = [cause for entry in parts(model, "entries") for cause in parts(entry, "causes")]
    return any(cause.where.startswith("progress") for cause in causes)


def _train(step, weights, batches):
    weights = numbers(weights)
    for number, rows in enumerate(map(numbers, batches)):
        weights = weights - 0.1 / max(number, 1) * rows.T @ (rows @ weights - 1)
    return weights


def _run_training(cured, step, weights, batches):
    with left_alone(batches, "cured") as given:
        return tried(cured(step, weights, given), "cured")


@exercise(
    "Which of the three arguments is different at each step, and how does TensorFlow notice? A "
    "ledger of the calls shows it. Which verb keeps one?",
    "Run step = watch_traces(train_step), then train(step, start, [rows] * 4). Each row of step "
    "names the leaf of the key that is new.",
    "A tensor's value is not part of the key. What does a step need to know about its progress? "
    "Only one number, the rate. Let the training compute it in Python before the call.",
    "tf.constant(0.1 / max(number, 1)) is that rate as a tensor.",
    seconds=30,
)
@diagnosed(
    {
        "frame": "Python runs the step's body each time, but what caused that?",
        "C call": "the C call runs a graph at each step, but why a different one each time?",
    },
    Evidence(
        "cache key",
        _shows_new_objects,
        "which argument made a step trace. Call what watch_traces returned for several batches",
    ),
)
def every_step(seam, proof, cured_step, cured: Callable):
    """One graph serves all steps of one shape, and the weights are the same."""
    dice, trials = random.Random(7), []
    for (rows, columns), count in SHAPES:
        start, *batches = (draw(dice, rows, columns) for _ in range(count + 1))
        trials.append((start[0], batches))
    names = "cured_step", "cured", "train"
    return judge_loop(names, cured_step, cured, _train, trials, _run_training)


EAGER = "eager code"
STEPS = ((0.5, 4.0), (0.5, 4.0), (0.25, -1.0), (1.0, 2.5), (0.125, 8.0))  # rate, number


class _EagerSmoother:
    def __init__(self, rate):
        self.rate, self.mean = rate, 0.0

    def update(self, x):
        self.mean = self.mean + self.rate * (float(x) - self.mean)
        return self.mean


def _shows_mean(model) -> bool:
    ops = {getattr(node, "op", "") for node in parts(model, "nodes")}
    is_graph = "ReadVariableOp" not in ops and {"Const", "AddV2", "Sub"} <= ops
    return is_graph or "hit" in parts(model, "verdicts")


@exercise(
    "How often does the line self.mean = ... run in three updates? Put a print into a copy of the "
    "class, or use watch_traces(smoother.update).",
    "Make a new smoother and draw what its second call runs: show_graph(smoother.update, "
    "tf.constant(4.0)). Where do the old mean and the rate come from in this graph?",
    "If a graph changes a value, keep it in a tf.Variable, one per object, made in __init__. A "
    "value from outside can be an argument. Make it a tensor, because a number would be a new key.",
    "update(self, x) calls a tf.function with x and tf.constant(self.rate). That one calls "
    "self.mean.assign_add(rate * (x - self.mean)) and returns self.mean.read_value().",
    seconds=20,
)
@diagnosed(
    {
        "name": "self.mean is looked up and bound, but how often does that line of Python run?",
        "frame": "`update` has a frame only while it is traced. Why does the second call make "
        "none?",
        "evaluator": "tf.function installs no other frame evaluator. It traces a rewritten copy, "
        "then runs a graph instead of the frame. How does the second call find that graph?",
    },
    Evidence(
        "cache key",
        _shows_mean,
        "what the second call runs, and with which mean. Show a graph of Smoother.update or a hit",
    ),
)
def stuck_mean(seam, proof, cured: type):
    """The means are those of eager code, also after a new rate, and one graph serves them all."""
    case = Case("with two objects, used in turn", _run_updates, say_first_part(EAGER))
    return find_difference(cured, _EagerSmoother, [case], EAGER)


def _run_updates(cls) -> dict:
    one, other, done, seen, graphs, met, now = cls(0.5), cls(0.25), [], {}, [], {}, 0.5
    for rate, number in STEPS:
        if rate != now:
            one.rate = now = rate
            done.append(f"rate {rate} set")
        done.append(f"update({number:g})")
        result, words = tried(one.update(tf.constant(number)), "cured"), ", ".join(done)
        other.update(tf.constant(1.0))
        seen |= {f"{words}: its result": _number(result), f"{words}: the mean": _number(one.mean)}
        found = [getattr(one, name, None) for name in dir(one)]
        met |= {id(f): f for f in found if hasattr(f, "experimental_get_tracing_count")}
        graphs.append(sum(each.experimental_get_tracing_count() for each in met.values()))
    python = set().union(*map(graph_ops, met.values())) & CALL_PYTHON
    return seen | {
        "the mean of the other object": _number(other.mean),
        "an attribute has a graph, which was the point": cls is _EagerSmoother or graphs[-1] > 0,
        "extra graphs, though a new rate must not be a new graph": graphs[-1] - graphs[1],
        "ops of the graph that call back into Python": sorted(python),
    }


def _number(found) -> float:
    with suppress(Exception):  # a tensor of a graph has no value outside of it
        return float(found)
    raise InvalidAnswer(f"outside the graph, a mean must be a number, not {real_type_name(found)}")
