"""Case 7: a variable that has another value in a graph than in eager code.

The cured class is run beside the same class without a graph: the means after each update, two
objects at a time, and how often it was traced.
"""

from contextlib import suppress

from helpers.model.graph import Graph
from helpers.model.phrase import counted
from helpers.model.traces import TraceLedger
from helpers.safety.arguments import kind_of
from helpers.study.chapter_2.spied_step import CALL_PYTHON, graph_ops
from helpers.study.chapter_7.diagnosis import Evidence, say_first_part, undiagnosed
from helpers.study.engine import Case, Exercise, Unfit, find_difference, tried

# what is done to an object, one after another: a rate is set, or a number is taken in
RUNS = (
    (4.0, 4.0, -1.0, 2.5, 2.5),
    (4.0, "rate 0.25", 4.0, "rate 1.0", 3.0, "rate 0.125", 8.0),
)
# ops that pass a value on, or keep it
MOVES = {
    *("Placeholder", "Const", "Identity", "IdentityN", "NoOp", "Cast", "PartitionedCall"),
    *("StatefulPartitionedCall", "ReadVariableOp", "AssignVariableOp"),
}


class EagerSmoother:
    """The class of the case, without a graph."""

    def __init__(self, rate):
        self.rate, self.mean = rate, 0.0

    def update(self, x):
        """Return the new mean."""
        self.mean = self.mean + self.rate * (float(x) - self.mean)
        return self.mean


def _shows(model) -> str | None:
    if isinstance(model, TraceLedger):
        known = "hit" in model.verdicts
        return None if known else "no call in it finds the graph of another: what of the second?"
    ops = {node.op for node in model.nodes}
    if "ReadVariableOp" in ops:
        return "the graph in it reads a variable at each run: that is no graph of Smoother"
    return None if {"Const", "AddV2", "Sub"} <= ops else "it is no graph of Smoother.update"


WANTED = "what the second call runs, and which mean that has"
EVIDENCE = (Evidence("cache key", (Graph, TraceLedger), WANTED, _shows),)
ELSEWHERE = {
    "name": "self.mean is looked up, and bound: but how often does that line of Python run?",
    "C call": "C runs each op that it is given, in eager code and in the graph",
    "frame": "CPython evaluates the frames of update as they are written. How many are there?",
}


def _judge(seam, proof, cured):
    if not isinstance(cured, type):
        return f"cured must be a class, as Smoother is, not {kind_of(cured)}"
    if because := undiagnosed(seam, proof, EVIDENCE, ELSEWHERE):
        return because
    advice = say_first_part("{2}: yours is {0:g}, eager code's is {1:g}")
    cases = [Case("with rate 0.5", lambda made, run=run: _run(made, run), advice) for run in RUNS]
    cases.append(Case("of two objects, used in turn", _run_two, "one mean for each object"))
    return find_difference(cured, EagerSmoother, cases, "eager code") or _not_traced(cured)


def _run(made, run) -> dict[str, float]:
    """Return result and mean after each update, by what was done till then."""
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
    import tensorflow as tf

    if isinstance(found, tf.Tensor) and not hasattr(found, "numpy"):
        raise Unfit(f"{what} is a tensor of the graph, which has no value outside it")
    with suppress(Exception):
        return float(found)
    raise Unfit(f"{what} is no number: {kind_of(found)}")


def _not_traced(cured) -> str | None:
    smoother, traces, met = cured(0.5), [], {}
    for number, rate in ((1.0, 0.5), (2.0, 0.5), (3.0, 0.25), (5.0, 0.75), (7.0, 0.125)):
        smoother.rate = rate
        _update(smoother, number)
        met |= {id(function): function for function in _functions(smoother)}
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
    if ops <= MOVES:
        return "the graph computes nothing: the mean is worked out outside it"
    return None


def _functions(smoother) -> list:
    """Return the tf.functions among an object's attributes."""
    found = [getattr(smoother, name, None) for name in dir(smoother)]
    return [one for one in found if hasattr(one, "experimental_get_tracing_count")]


STUCK_MEAN = Exercise(
    "stuck_mean",
    _judge,
    "The same means as in eager code, new rates included, and one graph for all.",
    (
        "How often does the line self.mean = ... run, in three updates? Put a print into a copy "
        "of the class, or watch_traces(smoother.update).",
        "Draw what the second call runs: show_graph(smoother.update, four), of a new smoother. "
        "Where do the old mean and the rate come from in it?",
        "State that a graph is to change is a tf.Variable, made in __init__, one per object. What "
        "changes from outside can be an argument: a tensor, for a number would be a new key.",
        "update(self, x) calls a tf.function with x and tf.constant(self.rate); that does "
        "self.mean.assign_add(rate * (x - self.mean)), and returns self.mean.read_value().",
    ),
    seconds=20,
)
