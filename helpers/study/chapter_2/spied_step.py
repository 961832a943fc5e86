"""Chapter 2, exercises 2 and 6: steps that traced at each call, judged on their ledgers."""

import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from operator import is_not

from helpers.capture.tensorflow.trace_ledger import Watched, as_function
from helpers.capture.text.value import short_repr
from helpers.safety.limits import when_stopped
from helpers.study.check import InvalidAnswer, exercise, tried
from helpers.study.engine import Case, find_difference, in_order, np, numbers, same_result, tf

MOST = 2  # traces
CALL_PYTHON = {"EagerPyFunc", "PyFunc", "PyFuncStateless"}
COLUMNS, CLOSE = 3, 1e-4
UNSEEN = ((7, 1, 9, 4, 4, 2, 12), (2,), ())  # rows of the batches that nobody has seen


class _Spied:
    """A step with its ledger; its results are doubled on their way while `doubles` is set."""

    def __init__(self, step):
        self.kept, self.doubles = Watched(as_function(step, {})), False

    def __call__(self, *args, **kwargs):
        result = self.kept(*args, **kwargs)
        return tf.nest.map_structure(lambda leaf: leaf * 2, result) if self.doubles else result

    def complaint(self, names, many: str, count: int) -> str | None:
        step, model = names[0], self.kept.model
        if (calls := sum(entry.calls for entry in model.entries)) != count:
            return f"{names[1]} called step {calls} times for {many}; call it once for each"
        if model.traces > MOST:
            cause = f"; the ledger says why: {model.causes[-1]}" if model.causes else ""
            return f"{many} still make {model.traces} traces{cause}"
        if any(entry.verdict == "eager" for entry in model.entries):
            return f"{many} make no trace: {step} must be a tf.function that is not run eagerly"
        if found := sorted(graph_ops(self.kept.function) & CALL_PYTHON):
            return f"{step} is not traced: its graph calls Python back, by {found[0]}"
        return None


@contextmanager
def left_alone(batches, by: str) -> Iterator[list]:
    """Give a list of the batches; InvalidAnswer if that is another one when the block ends.

    A check cancels the graphs that run in the block when its time is over: C++ hears no signal
    (`tensorflow/python/eager/cancellation.py`).
    """
    from tensorflow.python.eager import cancellation

    given, manager = list(batches), cancellation.CancellationManager()
    with cancellation.CancellationManagerContext(manager), when_stopped(manager.start_cancel):
        yield given
    if len(given) != len(batches) or any(map(is_not, given, batches)):
        raise InvalidAnswer(f"{by} changes the list of batches that it is given; leave it as it is")


def graph_ops(function) -> set[str]:
    """Return the kinds of the ops in a tf.function's graphs, and in the functions of those."""
    found = set()
    for trace in function._list_all_concrete_functions():
        graph = trace.graph.as_graph_def()
        bodies = graph.node, *(inner.node_def for inner in graph.library.function)
        found |= {node.op for nodes in bodies for node in nodes}
    return found


def _require_numbers(value):
    if (array := numbers(value)) is None:
        raise InvalidAnswer(f"a result must be made of numbers, not {short_repr(value)}")
    return array


def draw(dice, rows: int, columns: int):
    """Return a tensor of random numbers."""
    drawn = [[dice.uniform(-1, 1) for _ in range(columns)] for _ in range(rows)]
    return tf.constant(drawn) if rows else tf.zeros([0, columns])


def judge_loop(names, step, loop, reference, trials: Iterable[tuple], run) -> str | None:
    """Return what is wrong with a step and the loop that calls it, once for each batch."""
    if not hasattr(step, "get_concrete_function"):
        return f"{names[0]} must be a tf.function itself: its own traces are counted"
    near = partial(same_result, near=CLOSE)
    for number, given in enumerate(trials):
        spied, many = _Spied(step), f"{len(given[-1])} batches"
        many += " that you have not seen" * (number > 0)
        case = Case(f"for {many}", lambda made: run(made, spied, *given))  # noqa: B023
        because = find_difference(loop, reference, [case], names[2], near)
        if because := because or spied.complaint(names, many, len(given[-1])):
            return because
        if number == 0:
            before, spied.doubles = run(loop, spied, *given), True
            if same_result(run(loop, spied, *given), before):
                return f"{names[1]} calls step, but its results do not come from there"
    return None


# -- exercise 2: one number and one shape too many


def _slow_epoch(step, batches):
    return [tf.reduce_sum(rows) / (number + 1) for number, rows in enumerate(batches)]


def _run_epoch(epoch, spied, batches) -> list[float]:
    with left_alone(batches, "epoch") as given:
        found = in_order(tried(epoch(spied, given)), 1000, "what epoch returns")
    return [value.tolist() for value in map(_require_numbers, found)]


@exercise(
    "Read the ledger of the slow version: which two leaves differ from batch to batch?",
    "The number is a Python value, so it is part of the key. What is not part of a key?",
    "Pass tf.constant(float(number)), and let tf.function be told about the shapes: "
    "reduce_retracing=True, or an input_signature with None for the number of rows.",
)
def batches(step, epoch: Callable, batches, slow_step):
    """However many batches there are, they share a trace or two."""
    dice = random.Random(2)
    trials = [(batches,), *(([draw(dice, n, COLUMNS) for n in rows],) for rows in UNSEEN)]
    return judge_loop(("step", "epoch", "slow_step"), step, epoch, _slow_epoch, trials, _run_epoch)


# -- exercise 6: three reasons to trace at each step


def _slow_train(step, weights, samples):
    weights, rate, losses, means = numbers(weights), 0.1, [], []
    for rows in map(numbers, samples):
        missed = rows @ weights - 1
        losses.append(np.mean(missed**2))
        means.append(np.mean(losses))
        weights, rate = weights - rate * 2 * rows.T @ missed / missed.size, rate * 0.9
    return weights, means


def _run_train(train, spied, weights, batches) -> dict:
    with left_alone(batches, "train") as given:
        result = in_order(tried(train(spied, weights, given)), 1000, "what train returns")
    if len(result) != 2:
        raise InvalidAnswer("train must return two things, the weights and the means")
    weights = _require_numbers(tried(result[0], "the weights"))
    means = in_order(tried(result[1], "the means"), 1000, "the means")
    found = {"shape of the weights": weights.shape}
    found |= {f"weight {at}": float(weight) for at, weight in enumerate(weights.ravel())}
    for at, mean in enumerate(map(_require_numbers, means)):
        found[f"the mean after batch {at}"] = mean.ravel().tolist()
    return found


@exercise(
    "Which arguments do the rows of the ledger name? There are three.",
    "The rate is a Python number: make it a tensor before the loop and let it stay one. For "
    "the rows, reduce_retracing=True, or an input_signature with None.",
    "The length of a list is part of the key. What does the mean need to know of all the "
    "losses before? Two numbers are enough.",
    "Pass their sum and their count, two tensors, in place of the list. step returns the "
    "weights, the sum and the count; a mean is sum / count, and rate = rate * 0.9 gives a "
    "tensor if rate is one.",
)
def slow_training(train_step, train: Callable, weights, batches):
    """A trace or two for any number of batches of any length, and the same weights and means."""
    dice, trials = random.Random(4), [(weights, batches)]
    for rows in UNSEEN:
        trials.append((draw(dice, COLUMNS, 1), [draw(dice, n, COLUMNS) for n in rows]))
    names = "train_step", "train", "slow_train"
    return judge_loop(names, train_step, train, _slow_train, trials, _run_train)
