"""A check with a rehearsal says what it says without, but for what nothing else can end."""

import os
import sys
import threading
import time

import pytest

from helpers import check
from helpers.safety import rehearsal
from helpers.study.check import Exercise
from tests.a_kernel import Client
from tests.study.folded import EXERCISES, verdict
from tests.study.mistakes import MISTAKES, made
from tests.study.spoilt import IN_C, spoilt

pytestmark = [
    pytest.mark.own_process(by="chapter"),
    pytest.mark.skipif(sys.platform != "linux", reason="nothing is rehearsed elsewhere"),
]

WHOLE = os.environ.get("COURSE_SAMPLES") == "whole"
SECONDS = 0.5
# One of each chapter; TensorFlow's graphs need threads in slow_training and slow_loop.
SAMPLE = ["tangle", "slow_training", "vm_calls", "guard_set", "two_kernels", "slow_loop"]
REHEARSED = [name for name in EXERCISES if getattr(check, name).rehearsed]
TRIED = [(EXERCISES[name].chapter, name) for name in (REHEARSED if WHOLE else SAMPLE)]
# Whose answer is read, and not called: nothing in it can go on for ever.
READ = {"warm_up", "ranking", "stack_at"}


@pytest.mark.parametrize(("chapter", "name"), [one for one in TRIED if one[1] not in READ])
def test_a_loop_in_c_is_ended_and_the_next_answer_is_judged_as_ever(chapter, name, monkeypatch):
    verdict(name, EXERCISES[name].solution)  # imports what it needs
    monkeypatch.setattr(getattr(check, name), "seconds", SECONDS)
    monkeypatch.setattr(rehearsal, "MARGIN", 1)
    outcome = verdict(name, spoilt(EXERCISES[name].solution, IN_C), rehearsed=True)
    assert outcome.state == "failed"
    assert "in a call in C that lets nothing else run" in outcome.because
    monkeypatch.undo()
    outcome = verdict(name, EXERCISES[name].solution)
    assert outcome.state == "passed", outcome.because


@pytest.mark.parametrize(("chapter", "name"), TRIED)
def test_the_verdict_is_the_same_with_a_rehearsal(chapter, name):
    solution = EXERCISES[name].solution
    for answer in (solution, made(solution, *MISTAKES[name][0][1:])):
        assert verdict(name, answer, rehearsed=True) == verdict(name, answer)


ASLEEP = """
@tf.function(reduce_retracing=True)
def step(rows, number):
    tf.py_function(lambda: time.sleep(600), [], [])
    return tf.reduce_sum(rows) / (number + 1)


import time


def epoch(step, batches):
    return [step(rows, tf.constant(float(number))) for number, rows in enumerate(batches)]
"""


@pytest.mark.parametrize("chapter", ["02"])
def test_what_sleeps_in_a_thread_of_a_graph_is_not_waited_for_here(chapter, monkeypatch):
    monkeypatch.setattr(check.batches, "seconds", SECONDS)
    outcome = verdict("batches", ASLEEP, rehearsed=True)
    words = f"your code did not end within {SECONDS:g} seconds"
    assert (outcome.state, outcome.because) == ("failed", words)


@pytest.mark.parametrize("chapter", ["00"])
@pytest.mark.parametrize("target", [lambda: time.sleep(600), time.sleep])
def test_a_thread_that_would_be_left_is_started_in_the_copy_alone(chapter, target):
    def answer():
        given = () if target is not time.sleep else (600,)
        threading.Thread(target=target, args=given, daemon=True).start()

    before = threading.active_count()
    outcome = exercise()(answer).model
    assert outcome.because.startswith("your code left a thread running")
    assert threading.active_count() <= before


@pytest.mark.parametrize("chapter", ["00"])
def test_a_thread_that_comes_to_its_end_is_nobodys_business(chapter):
    outcome = exercise()(lambda: threading.Thread(target=time.sleep, args=(0.1,)).start()).model
    assert outcome.state == "passed", outcome.because


def exercise(seconds: float = 1) -> Exercise:
    return Exercise("made", lambda answer: answer(), "fine", ("a hint",), seconds)


@pytest.mark.parametrize("chapter", ["00"])
def test_what_an_endless_answer_prints_is_seen_once(chapter, capsys):
    def answer():
        print("so far")
        while True:
            pass

    outcome = exercise(0.3)(answer).model
    assert outcome.because == "your code did not end within 0.3 seconds"
    assert capsys.readouterr().out == "so far\n"


@pytest.mark.parametrize("chapter", ["00"])
def test_an_answer_that_ends_is_called_in_this_process_too(chapter, capsys):
    called = []

    def answer():
        called.append(1)
        print("once")

    assert exercise()(answer).model.state == "passed"
    assert called == [1]
    assert capsys.readouterr().out == "once\n"


@pytest.mark.parametrize("chapter", ["00"])
@pytest.mark.parametrize("end", [lambda: os._exit(0), lambda: os.kill(os.getpid(), 9)])
def test_what_ends_the_process_does_not_end_this_one(chapter, end):
    assert exercise()(end).model.because == "your code ended the process that it ran in"


IN_A_KERNEL = """
import itertools
from helpers.study.check import Exercise
exercise = Exercise("made", lambda answer: answer(), "fine", ("a hint",), 0.5)
def answer():
    print("so far")
    display("shown")
    {then}
exercise(answer)
"""


@pytest.mark.parametrize("chapter", ["00"])
def test_a_real_kernel_lives_on_and_hears_of_each_answer_once(chapter, tmp_path):
    kernel = Client(tmp_path)
    try:
        shown = kernel.run(IN_A_KERNEL.format(then="sum(itertools.count())"))
        assert shown.startswith("so far\n") and "shown" not in shown
        told = " ".join(shown.split())  # a long line is wrapped
        assert "nothing else run, in line 7 of its cell: sum(itertools.count())" in told
        shown = kernel.run(IN_A_KERNEL.format(then=""))
        assert (shown.count("so far"), shown.count("shown")) == (1, 1) and "passed" in shown
    finally:
        kernel.end()
