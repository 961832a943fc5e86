"""helpers/study/chapter_2/call_sequences.py: each sequence shows which trace a tf.function uses."""

import re

import pytest

from helpers.study.answers import NotAttempted
from helpers.study.chapter_2.call_sequences import (
    CHANGES_ARGUMENTS,
    Sequence,
    make_key_sequences,
    make_lookup_sequences,
    make_mutation_sequences,
)
from helpers.study.chapter_2.trace_cache import _TensorFlowCache

pytest.importorskip("tensorflow")
pytestmark = pytest.mark.own_process(sharing="tensorflow")

#: For each call of each sequence: the number of the call whose trace it uses, or its error.
KEY_TRACES = [
    [1, 1],
    [1, 2, 1],
    [1, 2, 1],
    [1, 2, 1],
    [1, 1, 1],
    [1, 2, 3, 3, 1],
    [1, 2, 1],
    [1, 1, 3, 3, 5, 5, 7, 7],
    [1, 1, 3, 4],
    [1, 2, 1, 4, 5, 4, 7],
    [1, 1, 3, 1],
    [1, 1, 1, 4],
    [1, 1, 3, 4, 5],
    [1, 1, 3],
    [1, 2, 3, 1],
    [1, 2, 3, 4],
]
LOOKUP_TRACES = [
    [1, 2, 1, 4, 4, 6, 7],
    [1, 2, 3, 1, 5],
    [1, 2, 3],
    [1, 2, 2],
    [1, 2, 2, 2],
    [1, 2, 3],
    [1, 2, 3, 2, 1],
    [1, 2, 3],
    [1, 2, 3],
    [1, 2, 2],
    [1, 2, 3, 4, 4],
]
MUTATION_TRACES = [
    [1, 2],
    ["ValueError", "ValueError"],
    ["ValueError"],
    ["ValueError"],
    ["ValueError"],
    [1],
    [1],
    ["KeyError", 2, "KeyError"],
    ["ValueError", 2, "ValueError"],
]


class Untraced:
    """A cache that runs the body at each call, on the caller's own arguments."""

    may_change_arguments = False

    def __init__(self, body):
        self.body = body
        self.cache = []

    def __call__(self, *args):
        return self.body(*args)


class Twice(Untraced):
    """A cache that runs the body twice at each call."""

    def __call__(self, *args):
        return [self.body(*args), self.body(*args)]


def find_trace(effect):
    """Return the number of the call whose trace an effect names, or the name of its error."""
    trace = re.search(r"in call (\d+)", effect)
    if trace:
        return int(trace[1])
    return re.search(r"raises a (\w+)", effect)[1]


@pytest.mark.parametrize(
    ("make_sequences", "traces"),
    [
        (make_key_sequences, KEY_TRACES),
        (make_lookup_sequences, LOOKUP_TRACES),
        (make_mutation_sequences, MUTATION_TRACES),
    ],
)
def test_tensorflow_uses_these_traces(make_sequences, traces):
    effects = [sequence.run(_TensorFlowCache) for sequence in make_sequences()]
    assert [[find_trace(effect) for effect in row.values()] for row in effects] == traces


def test_an_effect_says_whether_the_body_ran_and_counts_the_traces():
    sequence = Sequence("", lambda x: x, ((1,), (1,), (2,)))
    effects = list(sequence.run(_TensorFlowCache).values())

    assert [effect.split(",")[0] for effect in effects] == ["traces", "hits", "traces"]
    assert [re.search(r"(\d+) traces$", effect)[1] for effect in effects] == ["1", "1", "2"]


def test_a_body_that_runs_twice_in_a_call_is_counted():
    sequence = Sequence("", lambda x: None, ((1,),))
    (effect,) = sequence.run(Twice).values()
    assert " 2 times" in effect


def test_a_cache_that_changes_the_arguments_is_told_so():
    sequence = Sequence("", lambda x: x.append(1), (([],),))
    (effect,) = sequence.run(Untraced).values()
    assert effect.endswith(CHANGES_ARGUMENTS)


def test_each_run_of_a_sequence_gets_its_arguments_unchanged():
    sequence = Sequence("", lambda x: x.append(1), (([],),))
    assert sequence.run(Untraced) == sequence.run(Untraced)
    assert sequence.calls == (([],),)


def test_a_cache_that_is_a_stub_is_not_attempted():
    with pytest.raises(NotAttempted):
        Sequence("", len, ()).run(lambda body: ...)
