"""Chapter 2, exercises 2 and 6: training steps that retrace too often. A *step* is a tf.function,
and a *loop* calls it once for each batch. The answer to an exercise is both. The loop must compute
what a slow reference loop computes, and the step must need few traces. These are counted by a
*ledger*, a table with a line for each call of the step.
"""

import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from helpers.capture.tensorflow.tf_functions import require_tf_function
from helpers.capture.tensorflow.trace_recorder import TraceRecorder
from helpers.capture.text.value import short_repr
from helpers.safety.limits import when_stopped
from helpers.study.answers import InvalidAnswer, require_items, require_no_stub
from helpers.study.check import exercise
from helpers.study.engine import JudgedCase, find_difference
from helpers.study.frameworks import np, tf
from helpers.study.sameness import as_numbers, is_same_result

TRACE_LIMIT = 2
RESULT_LIMIT = 1000  # results of a loop
# Kinds of ops that call a Python function from a graph.
OPS_THAT_CALL_PYTHON = {"EagerPyFunc", "PyFunc", "PyFuncStateless"}
COLUMNS = 3
TOLERANCE = 1e-4
UNSEEN_ROW_COUNTS = ((7, 1, 9, 4, 4, 2, 12), (2,), ())  # rows of the batches in each trial


@dataclass(frozen=True)
class LoopNames:
    """The names of an exercise's functions in the notebook, for verdicts."""

    #: The tf.function that the learner wrote.
    step: str
    #: The learner's loop, which calls the step.
    loop: str
    #: The slow version, which is the reference.
    reference: str


class _WatchedStep:
    """The learner's step with a ledger of its calls.

    While `doubles` is true, a call returns twice the step's results. The results of a loop that
    uses them then differ, too.
    """

    def __init__(self, step):
        """Watch `step`, a tf.function."""
        self.watched = TraceRecorder(require_tf_function(step, {}))
        self.doubles = False

    def __call__(self, *args, **kwargs):
        """Call the step, which adds a line to the ledger; return its result, perhaps doubled."""
        result = self.watched(*args, **kwargs)
        if self.doubles:
            return tf.nest.map_structure(lambda leaf: leaf * 2, result)
        return result

    def describe_fault(self, names: LoopNames, batches: str, count: int) -> str | None:
        """Return a sentence on what is wrong with the calls for `count` batches, or None.

        `names` and `batches`, such as "4 batches", are words for the sentence.
        """
        model = self.watched.model
        calls = sum(entry.calls for entry in model.entries)
        if calls != count:
            return f"{names.loop} called step {calls} times for {batches}. Call it once for each"

        if model.traces > TRACE_LIMIT:
            cause = f". The ledger shows why: {model.causes[-1]}" if model.causes else ""
            return f"{batches} still make {model.traces} traces{cause}"

        # An eager call makes no trace, so it could pass the test above.
        if any(entry.verdict == "eager" for entry in model.entries):
            must = f"{names.step} must be a tf.function and not run eagerly"
            return f"{batches} make no trace. {must}"

        # A graph that only calls the Python function back is traced once, but computes nothing
        # itself.
        python_ops = sorted(read_op_kinds(self.watched.function) & OPS_THAT_CALL_PYTHON)
        if python_ops:
            graph = f"Its graph calls back into Python through {python_ops[0]}"
            return f"{names.step} is not traced. {graph}"
        return None


@contextmanager
def require_unchanged(batches, by: str) -> Iterator[list]:
    """Give a `with` block a copy of a list of batches; raise InvalidAnswer if the block changed it.

    `by` is the name of the learner's function, for the message. At the time limit of the check,
    graphs that the block runs are cancelled, because no signal interrupts C++
    (`tensorflow/python/eager/cancellation.py`).
    """
    from tensorflow.python.eager import cancellation

    copy = list(batches)
    manager = cancellation.CancellationManager()
    with cancellation.CancellationManagerContext(manager), when_stopped(manager.start_cancel):
        yield copy
    # By identity, because == of tensors returns a tensor.
    if list(map(id, copy)) != list(map(id, batches)):
        raise InvalidAnswer(f"{by} changes the list of batches that it receives. Leave it as it is")


def read_op_kinds(function) -> set[str]:
    """Return the kinds of ops, such as "MatMul", in all graphs of a tf.function.

    The functions that the graphs call are included.
    """
    kinds = set()
    for trace in function._list_all_concrete_functions():
        graph = trace.graph.as_graph_def()
        kinds.update(node.op for node in graph.node)
        for called_function in graph.library.function:
            kinds.update(node.op for node in called_function.node_def)
    return kinds


def _require_numbers(value):
    """Return a number, array or tensor as a NumPy array; InvalidAnswer for anything else."""
    array = as_numbers(value)
    if array is None:
        raise InvalidAnswer(f"a result must consist of numbers, not {short_repr(value)}")
    return array


def draw_tensor(generator: random.Random, rows: int, columns: int):
    """Return a tensor of random numbers."""
    if rows == 0:  # tf.constant([]) would have no columns
        return tf.zeros([0, columns])
    return tf.constant([[generator.uniform(-1, 1) for _ in range(columns)] for _ in range(rows)])


def _draw_batches(generator: random.Random, row_counts: Iterable[int]) -> list:
    """Return a list of batches: a random tensor with COLUMNS columns for each number of rows."""
    return [draw_tensor(generator, rows, COLUMNS) for rows in row_counts]


def judge_loop(
    names: LoopNames, step, loop, reference, trials: Iterable[tuple], run: Callable
) -> str | None:
    """Return a sentence on what is wrong with an answer's step and loop, or None.

    On each trial, the loop is compared with the reference, and the calls of the step are counted.

    Parameters
    ----------
    names
        The names of the three functions in the notebook.
    step
        The learner's tf.function.
    loop
        The learner's loop.
    reference
        The slow loop, called in the same way. Its results are right.
    trials
        For each trial the arguments of the loop after its step; the last one is the batches. The
        first trial is the one in the notebook.
    run
        `run(loop, step, *trial)` calls a loop and returns what it computes, as plain data.
    """
    if not hasattr(step, "get_concrete_function"):
        return f"{names.step} must be a tf.function itself, because its own traces are counted"

    near = partial(is_same_result, near=TOLERANCE)
    for number, trial in enumerate(trials):
        batch_count = len(trial[-1])
        batches = f"{batch_count} batches"
        if number > 0:
            batches += " that you have not seen"

        watched_step = _WatchedStep(step)
        run_trial = partial(_run_loop, run, watched_step, trial)
        case = JudgedCase(f"for {batches}", run_trial)
        reason = find_difference(loop, reference, [case], who=names.reference, same=near)
        reason = reason or watched_step.describe_fault(names, batches, batch_count)
        if reason:
            return reason

        if number == 0:
            # If the step returns other results and the loop still returns the same, it ignores
            # them.
            result = run_trial(loop)
            watched_step.doubles = True
            if is_same_result(run_trial(loop), result):
                return f"{names.loop} calls step, but does not use what step returns"
    return None


def _run_loop(run: Callable, step, trial: tuple, loop):
    """Return `run(loop, step, *trial)`. A JudgedCase passes the loop as the last argument."""
    return run(loop, step, *trial)


def _slow_epoch(step, batches):
    """Be the reference loop: return the losses of the notebook's epoch, without a step."""
    return [tf.reduce_sum(rows) / (number + 1) for number, rows in enumerate(batches)]


def _run_epoch(epoch, step, batches) -> list[float]:
    """Call an answer's `epoch`; return its losses as numbers. InvalidAnswer for anything else."""
    with require_unchanged(batches, "epoch") as copy:
        losses = require_no_stub(epoch(step, copy))
        losses = require_items(losses, RESULT_LIMIT, "what epoch returns")
    return [_require_numbers(loss).tolist() for loss in losses]


@exercise(
    "Read the ledger of the slow version. Which two arguments differ from batch to batch?",
    "The number is a Python value, so it is part of the key. What kind of value is not?",
    "Pass tf.constant(float(number)). For the shapes, use reduce_retracing=True, or an "
    "input_signature with None for the number of rows.",
)
def batches(step, epoch: Callable, batches, slow_step):
    """Any number of batches now shares one or two traces."""
    # Return None if the answer is right, else a sentence on what is wrong. The docstring is what
    # the learner reads after a pass. `slow_step` is in the notebook only for the learner.
    generator = random.Random(2)
    trials = [(batches,)]
    for row_counts in UNSEEN_ROW_COUNTS:
        trials.append((_draw_batches(generator, row_counts),))

    names = LoopNames("step", "epoch", "slow_step")
    return judge_loop(names, step, epoch, _slow_epoch, trials, _run_epoch)


def _slow_train(step, weights, samples):
    """Be the reference loop: train as in the notebook, without calling the step.

    Return (weights, the mean loss after each batch).
    """
    weights = as_numbers(weights)
    rate = 0.1
    losses = []
    means = []
    for sample in samples:
        rows = as_numbers(sample)
        errors = rows @ weights - 1
        losses.append(np.mean(errors**2))
        means.append(np.mean(losses))
        weights = weights - rate * 2 * rows.T @ errors / errors.size
        rate = rate * 0.9
    return weights, means


def _run_train(train, step, weights, batches) -> dict:
    """Call an answer's `train`; return label -> number, for the weights and the means.

    InvalidAnswer if it does not return (weights, means).
    """
    with require_unchanged(batches, "train") as copy:
        result = require_no_stub(train(step, weights, copy))
        result = require_items(result, RESULT_LIMIT, "what train returns")
    if len(result) != 2:
        raise InvalidAnswer("train must return two things, the weights and the means")

    weights = _require_numbers(require_no_stub(result[0], "the weights"))
    means = require_items(require_no_stub(result[1], "the means"), RESULT_LIMIT, "the means")

    values = {"shape of the weights": weights.shape}
    for index, weight in enumerate(weights.ravel()):
        values[f"weight {index}"] = float(weight)
    for index, mean in enumerate(means):
        values[f"the mean after batch {index}"] = _require_numbers(mean).ravel().tolist()
    return values


SLOW_TRAINING_HINTS = (
    "Which three arguments does the ledger name?",
    "The rate is a Python number. Make it a tensor before the loop, and keep it a tensor. For "
    "the rows, use reduce_retracing=True, or an input_signature with None.",
    "The length of a list is part of the key. What does the mean need to know about the earlier "
    "losses? Two numbers are enough.",
    "Replace the list by two tensors, the sum of the losses and their count. train_step returns "
    "the weights, the sum and the count. A mean is sum / count. If rate is a tensor, "
    "rate * 0.9 is one too.",
)


@exercise(*SLOW_TRAINING_HINTS)
def slow_training(train_step, train: Callable, weights, batches):
    """One or two traces are now enough for any batches, with the same weights and means."""
    # Return None if the answer is right, else a sentence on what is wrong. The docstring is what
    # the learner reads after a pass.
    generator = random.Random(4)
    trials = [(weights, batches)]
    for row_counts in UNSEEN_ROW_COUNTS:
        other_weights = draw_tensor(generator, COLUMNS, 1)
        trials.append((other_weights, _draw_batches(generator, row_counts)))

    names = LoopNames("train_step", "train", "slow_train")
    return judge_loop(names, train_step, train, _slow_train, trials, _run_train)
