"""helpers/study/chapter_2: what a sequence of calls observes, and what a ledger proves."""

import pytest

tf = pytest.importorskip("tensorflow")

from helpers.study.chapter_2 import call_sequences, spied_step  # noqa: E402
from helpers.study.chapter_2.call_sequences import CHANGES_ARGUMENTS, Sequence  # noqa: E402

NAMES = spied_step.LoopNames("step", "epoch", "slow_step")


class ByType:
    """A cache of one trace for each type of its argument."""

    may_change_arguments = False

    def __init__(self, fn):
        self.fn = fn
        self.cache = {}

    def __call__(self, x):
        if type(x) not in self.cache:
            self.cache[type(x)] = self.fn(x)
        return self.cache[type(x)]


def effects(*arguments, body=call_sequences._take_one):
    calls = tuple((argument,) for argument in arguments)
    return list(Sequence("by type", body, calls).run(ByType).values())


def test_each_call_is_a_hit_or_a_trace_with_its_result():
    first, second, third = effects(1, 2, "a")
    assert first.startswith("traces, returns") and first.endswith("keeps 1 traces")
    assert second == first.replace("traces, ", "hits, ", 1)
    assert third.startswith("traces, ") and third.endswith("keeps 2 traces")


def test_an_error_is_named_by_its_type():
    (effect,) = effects([1], body=call_sequences._raise_for_lists)
    assert effect.startswith("traces, raises a KeyError")


def test_a_cache_that_runs_the_body_on_the_callers_list_is_told_apart():
    (effect,) = effects([1], body=call_sequences._append)
    assert effect == f"traces, {CHANGES_ARGUMENTS}"


@pytest.mark.parametrize(
    ("arguments", "count", "fact"),
    [
        ([[1.0], [2.0]], 2, None),
        ([[1.0], [1.0, 2.0], [1.0, 2.0, 3.0]], 3, "3 traces"),
        ([[1.0]], 2, "1 times"),
    ],
)
def test_a_ledger_proves_calls_and_traces(arguments, count, fact):
    step = spied_step._WatchedStep(tf.function(lambda x: x * 2, autograph=False))
    for argument in arguments:
        step(tf.constant(argument))
    fault = step.describe_fault(NAMES, f"{count} batches", count)
    assert fault is None if fact is None else fact in fault


def test_a_graph_that_calls_python_is_no_trace():
    def python_inside(x):
        return tf.py_function(lambda y: y * 2, [x], tf.float32)

    step = spied_step._WatchedStep(tf.function(python_inside, autograph=False))
    step(tf.constant(1.0))
    assert "PyFunc" in step.describe_fault(NAMES, "1 batches", 1)
