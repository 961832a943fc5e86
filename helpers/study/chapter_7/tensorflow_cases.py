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
    "Which of the three arguments is another one at each step, and by what does TensorFlow "
    "tell that? A ledger of the calls says so: which verb keeps one?",
    "step = watch_traces(train_step), then train(step, start, [rows] * 4). Each row of step "
    "names the leaf of the key that was not there before.",
    "A tensor's value is no part of the key. What does a step need to know of its progress? "
    "One number, the rate: let the training work it out, in Python, before the call.",
    "tf.constant(0.1 / max(number, 1)) is that rate as a tensor.",
    seconds=30,
)
@diagnosed(
    {
        "frame": "'frame': Python runs the step's body each time, but who has asked for that?",
        "C call": "'C call': a graph arrives there at each step; why is it another one?",
    },
    Evidence(
        "cache key",
        _shows_new_objects,
        "which argument made a step trace: call what watch_traces gave, for more than one batch",
    ),
)
def every_step(seam, proof, cured_step, cured: Callable):
    """One graph for all steps of a shape, and the same weights."""
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
    "How often does the line self.mean = ... run, in three updates? Put a print into a copy "
    "of the class, or watch_traces(smoother.update).",
    "Draw what the second call runs, of a new smoother: show_graph(smoother.update, "
    "tf.constant(4.0)). Where do the old mean and the rate come from in it?",
    "State that a graph is to change is a tf.Variable, made in __init__, one per object. What "
    "changes from outside can be an argument: a tensor, for a number would be a new key.",
    "update(self, x) calls a tf.function with x and tf.constant(self.rate); that does "
    "self.mean.assign_add(rate * (x - self.mean)), and returns self.mean.read_value().",
    seconds=20,
)
@diagnosed(
    {
        "name": "self.mean is looked up, and bound: but how often does that line of Python run?",
        "frame": "`update` has a frame only while it is traced. Why does the second call make "
        "none?",
        "evaluator": "tf.function is no other frame evaluator: it traces a rewritten copy, and "
        "then runs a graph in place of the frame. How does the second call find one?",
    },
    Evidence(
        "cache key",
        _shows_mean,
        "what the second call runs, and which mean that has: a graph of Smoother.update, or a hit",
    ),
)
def stuck_mean(seam, proof, cured: type):
    """The same means as in eager code, new rates included, and one graph for all."""
    case = Case("of two objects, used in turn", _run_updates, say_first_part(EAGER))
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
        "its attribute has a graph, which was the point": cls is _EagerSmoother or graphs[-1] > 0,
        "graphs more, though a new rate must not be a new graph": graphs[-1] - graphs[1],
        "ops of the graph that call Python back": sorted(python),
    }


def _number(found) -> float:
    with suppress(Exception):  # a tensor of a graph has no value outside of it
        return float(found)
    raise InvalidAnswer(f"a mean is no number outside of the graph: {real_type_name(found)}")
