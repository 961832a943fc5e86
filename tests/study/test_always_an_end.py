"""Every check comes back from an answer that does not end, sleeps, prints or grows for ever.

Each exercise is given one of these, in one of its functions; `course.py test --all` gives all.
"""

import os
import re
from zlib import crc32

import pytest

from helpers import check
from helpers.safety import limits
from tests.study.folded import EXERCISES, verdict
from tests.study.mistakes import edited
from tests.study.spoilt import SPOILERS, spoilt

pytestmark = pytest.mark.own_process(by="chapter", sharing="judges")

WHOLE = os.environ.get("COURSE_SAMPLES") == "whole"
SECONDS = 0.5
TIME = f"your code did not end within {SECONDS:g} seconds"
WORDS = {
    **dict.fromkeys(("endless", "sleeping", "catching"), TIME),
    "printing": f"{TIME}|your code printed more than",  # where what is printed is judged, not shown
    "growing": f"{TIME}|your code took more than .* of memory",  # where that goes slowly
}
NOT_ASKED = {"warm_up", "ranking", "stack_at"}  # whose answers are refused by their type


def _trials():
    for name, exercise in EXERCISES.items():
        kinds = list(SPOILERS)
        first = crc32(name.encode())
        for turn in range(first, first + (len(kinds) if WHOLE else 1)):
            yield exercise.chapter, name, kinds[turn % len(kinds)], turn


@pytest.mark.parametrize(("chapter", "name", "kind", "turn"), list(_trials()))
def test_it_comes_back_and_the_next_answer_is_judged_as_ever(
    chapter, name, kind, turn, monkeypatch, capsys
):
    exercise = getattr(check, name)
    verdict(name, EXERCISES[name].solution)  # imports what it needs
    monkeypatch.setattr(exercise, "seconds", SECONDS)
    monkeypatch.setattr(limits, "GIBIBYTE", 1 << 27)
    outcome = verdict(name, spoilt(EXERCISES[name].solution, SPOILERS[kind], turn))
    assert outcome.state == "failed", outcome
    words = " must be a " if name in NOT_ASKED else WORDS[kind]
    assert re.search(words, outcome.because)
    monkeypatch.undo()
    outcome = verdict(name, EXERCISES[name].solution)
    assert outcome.state == "passed", outcome.because


@pytest.mark.parametrize("chapter", ["03"])
def test_a_handler_that_never_ends_is_no_stub(chapter, monkeypatch):
    monkeypatch.setattr(check.vm_names, "seconds", SECONDS)
    body = edited(EXERCISES["vm_names"].solution, "self.push(self.find(name))", "while True: pass")
    assert verdict("vm_names", body).because == TIME


IN_THE_GRAPH = """
@tf.function(reduce_retracing=True)
def train_step(weights, rows):
    turns = tf.constant(0)
    while turns >= 0:
        turns = turns * 1
    return weights, turns


def train(step, weights, batches):
    for rows in batches:
        weights, _ = step(weights, rows)
    return weights, []
"""


@pytest.mark.parametrize("chapter", ["02"])
def test_a_loop_that_runs_in_a_graph_comes_back_too(chapter, monkeypatch):
    monkeypatch.setattr(check.slow_training, "seconds", SECONDS)
    outcome = verdict("slow_training", IN_THE_GRAPH)
    assert (outcome.state, outcome.because) == ("failed", TIME)
