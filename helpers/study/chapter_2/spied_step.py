"""Chapter 2, exercises 2 and 6: steps that retrace, judged by their ledgers."""

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
UNSEEN = ((7, 1, 9, 4, 4, 2, 12), (2,), ())  # rows of batches that the learner has not seen


class _Spied:
    """A step with its ledger. While `doubles` is set, it doubles its results."""

    def __init__(self, step):
        self.kept, self.doubles = Watched(as_function(step, {})), False

    def __call__(self, *args, **kwargs):
        result = self.kept(*args, **kwargs)
        return tf.nest.map_structure(lambda leaf: leaf * 2, result) if self.doubles else result

    def complaint(self, names, many: str, count: int) -> str | None:
        step, model = names[0], self.kept.model
        if (calls := sum(entry.calls for entry in model.entries)) != count:
            return f"{names[1]} called step {calls} times for {many}. Call it once for each"
        if model.traces > MOST:
            cause = f". The ledger shows why: {model.causes[-1]}" if model.causes else ""
            return f"{many} still make {model.traces} traces{cause}"
        if any(entry.verdict == "eager" for entry in model.entries):
            return f"{many} make no trace. {step} must be a tf.function and not run eagerly"
        if found := sorted(graph_ops(self.kept.function) & CALL_PYTHON):
            return f"{step} is not traced. Its graph calls back into Python through {found[0]}"
        return None


@contextmanager
def left_alone(batches, by: str) -> Iterator[list]:
    """Yield a list of the batches. Raise InvalidAnswer if the block changed that list.

    When its time is over, a check cancels the graphs that run in the block. No signal interrupts
    C++ (`tensorflow/python/eager/cancellation.py`).
    """
    from tensorflow.python.eager import cancellation

    given, manager = list(batches), cancellation.CancellationManager()
    with cancellation.CancellationManagerContext(manager), when_stopped(manager.start_cancel):
        yield given
    if len(given) != len(batches) or any(map(is_not, given, batches)):
        raise InvalidAnswer(f"{by} changes the list of batches that it receives. Leave it as it is")


def graph_ops(function) -> set[str]:
    """Return the kinds of ops in a tf.function's graphs, and in the functions they call."""
    found = set()
    for trace in function._list_all_concrete_functions():
        graph = trace.graph.as_graph_def()
        bodies = graph.node, *(inner.node_def for inner in graph.library.function)
        found |= {node.op for nodes in bodies for node in nodes}
    return found


def _require_numbers(value):
    if (array := numbers(value)) is None:
        raise InvalidAnswer(f"a result must consist of numbers, not {short_repr(value)}")
    return array


def draw(dice, rows: int, columns: int):
    """Return a tensor of random numbers."""
    drawn = [[dice.uniform(-1, 1) for _ in range(columns)] for _ in range(rows)]
    return tf.constant(drawn) if rows else tf.zeros([0, columns])


def judge_loop(names, step, loop, reference, trials: Iterable[tuple], run) -> str | None:
    """Return what is wrong with a step and the loop that should call it once per batch."""
    if not hasattr(step, "get_concrete_function"):
        return f"{names[0]} must be a tf.function itself, because its own traces are counted"
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
                return f"{names[1]} calls step, but does not use what step returns"
    return None


def _slow_epoch(step, batches):
    return [tf.reduce_sum(rows) / (number + 1) for number, rows in enumerate(batches)]


def _run_epoch(epoch, spied, batches) -> list[float]:
    with left_alone(batches, "epoch") as given:
        found = in_order(tried(epoch(spied, given)), 1000, "what epoch returns")
    return [value.tolist() for value in map(_require_numbers, found)]


@exercise(
    "Read the ledger of the slow version. Which two arguments differ from batch to batch?",
    "The number is a Python value, so it is part of the key. What kind of value is not?",
    "Pass tf.constant(float(number)). For the shapes, use reduce_retracing=True, or an "
    "input_signature with None for the number of rows.",
)
def batches(step, epoch: Callable, batches, slow_step):
    """Any number of batches now shares one or two traces."""
    dice = random.Random(2)
    trials = [(batches,), *(([draw(dice, n, COLUMNS) for n in rows],) for rows in UNSEEN)]
    return judge_loop(("step", "epoch", "slow_step"), step, epoch, _slow_epoch, trials, _run_epoch)


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
    "Which three arguments does the ledger name?",
    "The rate is a Python number. Make it a tensor before the loop, and keep it a tensor. For "
    "the rows, use reduce_retracing=True, or an input_signature with None.",
    "The length of a list is part of the key. What does the mean need to know about the earlier "
    "losses? Two numbers are enough.",
    "Replace the list by two tensors, the sum of the losses and their count. train_step returns "
    "the weights, the sum and the count. A mean is sum / count. If rate is a tensor, "
    "rate * 0.9 is one too.",
)
def slow_training(train_step, train: Callable, weights, batches):
    """One or two traces are now enough for any batches, with the same weights and means."""
    dice, trials = random.Random(4), [(weights, batches)]
    for rows in UNSEEN:
        trials.append((draw(dice, COLUMNS, 1), [draw(dice, n, COLUMNS) for n in rows]))
    names = "train_step", "train", "slow_train"
    return judge_loop(names, train_step, train, _slow_train, trials, _run_train)
