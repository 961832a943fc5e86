"""Chapter 2, exercises 2 and 4: training steps that traced at each call, judged on their ledgers.

A step may be called for show, its result thrown away.
"""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from operator import is_not

from helpers.capture.tensorflow.trace_ledger import watch
from helpers.safety.limits import when_stopped
from helpers.study.engine import (
    Case,
    Exercise,
    InvalidAnswer,
    find_difference,
    in_order,
    same_result,
    tried,
)

MOST = 2  # traces
CALL_PYTHON = {"EagerPyFunc", "PyFunc", "PyFuncStateless"}
EAGER = (
    "tf.config.run_functions_eagerly(True) is on, so nothing is traced; switch it off with "
    "tf.config.run_functions_eagerly(False)"
)
COLUMNS, CLOSE = 3, 1e-4
UNSEEN = ((7, 1, 9, 4, 4, 2, 12), (2,), ())  # rows of the batches that nobody has seen


def untraced(name: str, step) -> str | None:
    """Say that a step is no tf.function: the ledger would make one of its own."""
    if not callable(step):
        return f"{name} must be a function, not {type(step).__name__}"
    if not hasattr(step, "get_concrete_function"):
        return f"{name} must be a tf.function itself: its own traces are counted"
    return None


class Spied:
    """A step with its ledger; its results are doubled on their way while `doubles` is set."""

    def __init__(self, step):
        import tensorflow as tf

        if tf.config.functions_run_eagerly():
            raise InvalidAnswer(EAGER)
        self.kept, self.doubles = watch(step), False

    def __call__(self, *args, **kwargs):
        """Call the step."""
        import tensorflow as tf

        result = self.kept(*args, **kwargs)
        return tf.nest.map_structure(lambda leaf: leaf * 2, result) if self.doubles else result

    @property
    def calls(self) -> int:
        """Return how often it was called."""
        return sum(entry.calls for entry in self.kept.model.entries)

    @property
    def traces(self) -> int:
        """Return how many traces were made in its calls."""
        return self.kept.model.traces

    @property
    def cause(self) -> str:
        """Return why it traced last, in the ledger's words."""
        causes = self.kept.model.causes
        return f"; the ledger says why: {causes[-1]}" if causes else ""

    def traced_wrongly(self, name: str, many: str) -> str | None:
        """Say that it, by its `name`, has made too many traces by now, or none."""
        if self.traces > MOST:
            return f"{many} still make {self.traces} traces{self.cause}"
        if any(entry.verdict == "eager" for entry in self.kept.model.entries):
            return f"{many} make no trace: {name} must be a tf.function that is not run eagerly"
        if found := sorted(graph_ops(self.kept.function) & CALL_PYTHON):
            return f"{name} is not traced: its graph calls Python back, by {found[0]}"
        return None

    def only_for_show(self, by: str, run) -> str | None:
        """Say that its results are not used; `run()` runs the whole."""
        before, self.doubles = run(), True
        after, self.doubles = run(), False
        if same_result(after, before):
            return f"{by} calls step, but its results do not come from there"
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


def numbers(value):
    """Return a value of whatever array type as an array of numbers. InvalidAnswer if it is none."""
    import numpy as np

    try:
        if value is not None:  # which would become a nan
            return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, NotImplementedError):
        pass
    kind = getattr(getattr(value, "dtype", None), "name", type(value).__name__)
    raise InvalidAnswer(f"a result must be made of numbers, not {kind}")


def _draw(dice, rows: int, columns: int):
    import tensorflow as tf

    drawn = [[dice.uniform(-1, 1) for _ in range(columns)] for _ in range(rows)]
    return tf.constant(drawn) if rows else tf.zeros([0, columns])


def _judge_loop(names, step, loop, reference, trials, run) -> str | None:
    """Return what is wrong with a step and the loop that calls it, once for each batch.

    `names`: of the step, the loop and the reference. `trials`: (what the loop is given beside the
    step, with the batches last; words).
    """
    if because := untraced(names[0], step):
        return because
    spied = Spied(step)
    for given, which in trials:
        many, before = f"{len(given[-1])} batches{which}", spied.calls
        case = Case(f"for {many}", lambda made: run(made, spied, *given))  # noqa: B023
        near = partial(same_result, near=CLOSE)
        if because := find_difference(loop, reference, [case], names[2], near):
            return because
        if (times := spied.calls - before) != len(given[-1]):
            return f"{names[1]} called step {times} times for {many}; call it once for each"
        if because := spied.traced_wrongly(names[0], many):
            return because
    return spied.only_for_show(names[1], lambda: run(loop, spied, *trials[0][0]))


# -- exercise 2: one number and one shape too many


def _slow_epoch(step, batches):
    import tensorflow as tf

    return [tf.reduce_sum(rows) / (number + 1) for number, rows in enumerate(batches)]


def _run_epoch(epoch, spied, batches) -> list[float]:
    with left_alone(batches, "epoch") as given:
        found = in_order(tried(epoch(spied, given)), 1000, "what epoch returns")
    return [value.tolist() for value in map(numbers, found)]


def _judge_batches(step, epoch: Callable, batches, slow_step):
    import tensorflow as tf

    dice, unseen = random.Random(2), " that you have not seen"
    trials = [((batches,), "")]
    trials += [(([_draw(dice, n, COLUMNS) for n in rows],), unseen) for rows in UNSEEN]
    odd = [tf.constant([[1.0, value, 2.0]]) for value in (float("nan"), float("inf"), -0.0)]
    trials.append(((odd,), " with a nan, an infinity and a negative zero"))
    names = "step", "epoch", "slow_step"
    return _judge_loop(names, step, epoch, _slow_epoch, trials, _run_epoch)


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

# -- exercise 4: three reasons to trace at each step


def _slow_train(step, weights, samples):
    """The training of the exercise, in double precision."""
    import numpy as np

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
        raise InvalidAnswer(
            f"train must return two things, the weights and the means, not {len(result)}"
        )
    weights, means = numbers(tried(result[0], "the weights")), tried(result[1], "the means")
    found = {"shape of the weights": weights.shape}
    found |= {f"weight {at}": float(weight) for at, weight in enumerate(weights.ravel())}
    means = [numbers(mean).reshape(-1).tolist() for mean in in_order(means, 1000, "the means")]
    return found | {f"the mean after batch {at}": mean for at, mean in enumerate(means)}


def _judge_slow_training(train_step, train: Callable, weights, batches):
    dice, unseen = random.Random(4), " that you have not seen"
    trials = [((weights, batches), "")]
    for rows in UNSEEN:
        some = [_draw(dice, n, COLUMNS) for n in rows]
        trials.append(((_draw(dice, COLUMNS, 1), some), unseen))
    names = "train_step", "train", "slow_train"
    return _judge_loop(names, train_step, train, _slow_train, trials, _run_train)


SLOW_TRAINING = Exercise(
    "slow_training",
    _judge_slow_training,
    "A trace or two for any number of batches of any length, and the same weights and means.",
    (
        "Which arguments do the rows of the ledger name? There are three.",
        "The rate is a Python number: make it a tensor before the loop and let it stay one. For "
        "the rows, reduce_retracing=True, or an input_signature with None.",
        "The length of a list is part of the key. What does the mean need to know of all the "
        "losses before? Two numbers are enough.",
        "Pass their sum and their count, two tensors, in place of the list. step returns the "
        "weights, the sum and the count; a mean is sum / count, and rate = rate * 0.9 gives a "
        "tensor if rate is one.",
    ),
)
