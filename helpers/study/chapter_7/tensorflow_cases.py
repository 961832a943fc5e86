"""Chapter 7, cases 2, 6 and 7: a tf.function that traces at every step, slow ops, a stuck mean.

Case 2: its key holds a new object. The cure is a step and a training; the step is given to the
training by the judge, who keeps a ledger of its calls. Case 6: a loop whose ops leave the fast
path; what is asked of the cure is chapter 6's. Case 7: a variable that has another value in a graph
than in eager code; the cured class is run beside the same class without a graph.
"""

import random
from collections.abc import Callable
from contextlib import suppress

import numpy as np

from helpers.model.phrase import counted
from helpers.safety.arguments import real_type_name
from helpers.study.chapter_2.spied_step import CALL_PYTHON, draw, graph_ops, judge_loop, left_alone
from helpers.study.chapter_6.loop_trial import parted
from helpers.study.chapter_7.diagnosis import Evidence, diagnosed, parts
from helpers.study.engine import (
    Case,
    InvalidAnswer,
    exercise,
    find_difference,
    numbers,
    prefix_reason,
    say_first_part,
    tried,
)

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
        "which argument made a step trace: let the training call what watch_traces returned, for "
        "more than one batch",
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


# frames, rows in each, columns; dtype of the frames, of state and gain
DRAWN = (
    (1, 2, 1, "float32", "float32"),
    (1, 1, 2, "float64", "float64"),
    (3, 2, 2, "float32", "float32"),
    (0, 2, 2, "float32", "float32"),
    (2, 4, 3, "float64", "float32"),
    (2, 1, 3, "float32", "float64"),
)


def _slow(frames, state, gain):
    import tensorflow as tf

    for frame in frames:
        state = tf.multiply(state, gain)
        state = tf.maximum(state, frame)
        state = tf.subtract(state, np.mean(frame))
    return state


def _shows_fallback(model) -> bool:
    verdicts = [
        verdict for entry in parts(model, "entries") for verdict in parts(entry, "verdicts")
    ]
    return "fallback" in parts(model, "routes") or any("fallback" in v.word for v in verdicts)


@exercise(
    "The arithmetic is the same in both loops. Where do the other calls come from? X-ray one "
    "run: watch_call(slow, frames, state, gain).",
    "Which of the three ops fall back? Ask for their routes, in order, and look at the type "
    "of the argument that C cannot read: type(frame), type(np.mean(frame)).",
    "One array instead of a list of arrays: np.stack(frame). One Python number instead of a "
    "NumPy scalar: float(...).",
)
@diagnosed(
    {
        "cache key": "there is no tf.function here, so no graph is looked up",
        "name": "each call reaches the op that was meant: it is how the op gets its arguments",
    },
    Evidence("C call", _shows_fallback, "an op that leaves the fast path"),
)
def slow_frames(seam, proof, cured: Callable):
    """The same values, dtypes and gradients, and each op on the fast path."""
    for kinds, frames, state, gain in _drawn():
        what = f"{counted(len(frames), 'frame')} of {kinds[0]} and a {kinds[1]} state of shape"
        if because := parted(cured, _slow, frames, state, gain):
            return prefix_reason(f"for {what} {tuple(state.shape)}, ", because)
    unfit = Case("for a state that does not fit the frame", _run_unfit)
    return find_difference(cured, _slow, [unfit], "slow")


def _drawn():
    """Yield (dtypes, frames, state, gain) that nobody has seen; a frame is a list of arrays."""
    import tensorflow as tf

    draw = np.random.default_rng(7).uniform
    for number, rows, columns, *kinds in DRAWN:
        frames = [[*draw(-2, 2, (rows, columns)).astype(kinds[0])] for _ in range(number)]
        state = draw(-2, 2, (rows, columns)).astype(kinds[1])
        yield kinds, frames, tf.constant(state), tf.Variable(draw(), dtype=kinds[1])
    frames, state = [[np.float32([np.nan, 1.0])]], tf.constant([1.0, -np.inf])
    yield ("float32", "float32"), frames, state, tf.Variable(-2.0)


def _run_unfit(loop) -> str:
    import tensorflow as tf

    loop([[np.float32([1.0, 2.0])] * 2], tf.ones([3, 2]), tf.Variable(1.0))
    return "a result"


EAGER = "eager code"
# what is done to an object, one after another: a rate is set, or a number is taken in
RUNS = ((4.0, 4.0, -1.0, 2.5, 2.5), (4.0, "rate 0.25", 4.0, "rate 1.0", 3.0, "rate 0.125", 8.0))


class EagerSmoother:
    """The class of the case, without a graph."""

    def __init__(self, rate):
        self.rate, self.mean = rate, 0.0

    def update(self, x):
        """Return the new mean."""
        self.mean = self.mean + self.rate * (float(x) - self.mean)
        return self.mean


def _shows_mean(model) -> bool:
    ops = {getattr(node, "op", "") for node in parts(model, "nodes")}
    is_graph = "ReadVariableOp" not in ops and {"Const", "AddV2", "Sub"} <= ops
    return is_graph or "hit" in parts(model, "verdicts")


@exercise(
    "How often does the line self.mean = ... run, in three updates? Put a print into a copy "
    "of the class, or watch_traces(smoother.update).",
    "Draw what the second call runs: show_graph(smoother.update, four), of a new smoother. "
    "Where do the old mean and the rate come from in it?",
    "State that a graph is to change is a tf.Variable, made in __init__, one per object. What "
    "changes from outside can be an argument: a tensor, for a number would be a new key.",
    "update(self, x) calls a tf.function with x and tf.constant(self.rate); that does "
    "self.mean.assign_add(rate * (x - self.mean)), and returns self.mean.read_value().",
    seconds=20,
)
@diagnosed(
    {
        "name": "self.mean is looked up, and bound: but how often does that line of Python run?",
        "frame": "CPython evaluates the frames of update as they are written. How many are there?",
    },
    Evidence(
        "cache key",
        _shows_mean,
        "what the second call runs, and which mean that has: a graph of Smoother.update, or a hit",
    ),
)
def stuck_mean(seam, proof, cured):
    """The same means as in eager code, new rates included, and one graph for all."""
    if not isinstance(cured, type):
        return f"cured must be a class, as Smoother is, not {real_type_name(cured)}"
    cases = [
        Case("with rate 0.5", lambda cls, run=run: _run_updates(cls, run), say_first_part(EAGER))
        for run in RUNS
    ]
    cases.append(Case("of two objects, used in turn", _run_two, "one mean for each object"))
    return find_difference(cured, EagerSmoother, cases, EAGER) or _not_traced(cured)


def _run_updates(made, run) -> dict[str, float]:
    smoother, done, seen = made(0.5), [], {}
    for step in run:
        if isinstance(step, str):
            smoother.rate = float(step.removeprefix("rate "))
            done.append(f"{step} set")
        else:
            done.append(f"update({step:g})")
            words, result = ", ".join(done), _update(smoother, step)
            seen[f"{words}: its result"] = _number(result, "its result")
            seen[f"{words}: the mean"] = _number(smoother.mean, "the mean")
    return seen


def _run_two(made) -> list[float]:
    one, two = made(0.5), made(0.25)
    for smoother in (one, two, one, two):
        _update(smoother, 4.0)
    return [_number(smoother.mean, "the mean") for smoother in (one, two)]


def _update(smoother, number: float):
    import tensorflow as tf

    return tried(smoother.update(tf.constant(number)), "cured")


def _number(found, what: str) -> float:
    with suppress(Exception):  # a tensor of a graph has no value outside of it
        return float(found)
    raise InvalidAnswer(f"{what} is no number outside of the graph: {real_type_name(found)}")


def _not_traced(cured) -> str | None:
    smoother, traces, met = cured(0.5), [], {}
    for number, rate in ((1.0, 0.5), (2.0, 0.5), (3.0, 0.25), (5.0, 0.75), (7.0, 0.125)):
        smoother.rate = rate
        _update(smoother, number)
        found = [getattr(smoother, name, None) for name in dir(smoother)]
        met |= {id(f): f for f in found if hasattr(f, "experimental_get_tracing_count")}
        traces.append(sum(one.experimental_get_tracing_count() for one in met.values()))
    if not traces[-1]:
        return (
            "no tf.function among its attributes was called: the symptom is gone with the graph, "
            "and the graph was the point"
        )
    if traces[-1] > traces[1]:
        made = counted(traces[-1], "graph")
        return f"five updates with four rates make {made}: a new rate must not be a new graph"
    ops = set().union(*map(graph_ops, met.values()))
    if called := sorted(ops & CALL_PYTHON):
        return f"the graph calls Python back, by {called[0]}: the work is done outside it"
    return None
