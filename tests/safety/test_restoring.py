"""What a verb has changed is put back, however it ends; what the learner's code sets stays."""

import signal
import sys
import threading
from contextlib import nullcontext

import pytest

import helpers
from helpers.safety import PACKAGE
from helpers.safety.restoring import RESTORED_PARTS, patched, preserves_interpreter_state
from helpers.safety.standard_output import StandardOutput
from tests.a_kernel import Client

pytestmark = pytest.mark.own_process


@pytest.mark.long
@pytest.mark.parametrize("ending", [None, ValueError, KeyboardInterrupt, SystemExit])
def test_everything_is_as_before_however_it_ends_but_what_the_learner_set(ending, monkeypatch):
    monkeypatch.setattr(sys, "displayhook", sys.displayhook)
    before = [kept.read() for kept in RESTORED_PARTS]

    def recorder(*event):
        return None

    recorder.__module__ = f"{PACKAGE}.capture"  # else it is a user's, and stays

    @preserves_interpreter_state
    def verb():
        for sets in (sys.settrace, sys.setprofile):
            sets(recorder)
        sys.stdout = sys.stderr = StandardOutput(sys.stdout, len)
        sys.displayhook = print
        if ending:
            raise ending
        return 3

    with pytest.raises(ending) if ending else nullcontext():
        assert verb() == 3
    assert [kept.read() for kept in RESTORED_PARTS] == before
    assert sys.displayhook is print


# One verb for each kind of recorder: tracer, machine, evaluator, op callbacks and modes, Dynamo.
WATCHING = ("watch_frames", "watch_stack", "watch_hooked", "watch_ops", "watch_compile")


@pytest.mark.parametrize("name", WATCHING)
def test_ctrl_c_ends_a_verb_and_its_recorder_is_gone(name):
    def pressed():
        signal.raise_signal(signal.SIGINT)
        return 1

    verb, code = getattr(helpers, name), pressed.__code__
    verb(lambda: 1)  # it imports its framework
    before = helpers.show_interceptions().model.taken
    with pytest.raises(KeyboardInterrupt):
        verb(pressed)
    assert helpers.show_interceptions().model.taken == before
    assert pressed.__code__ is code


def test_a_second_thread_is_refused_in_one_sentence(refused):
    found, inside, end = [], threading.Event(), threading.Event()
    held = preserves_interpreter_state(lambda: (inside.set(), end.wait(10)))
    thread = threading.Thread(target=held)
    thread.start()
    inside.wait(10)
    words = "another thread"
    refused(RuntimeError, words, preserves_interpreter_state(lambda: found.append(1)))
    end.set()
    thread.join()
    preserves_interpreter_state(lambda: preserves_interpreter_state(lambda: found.append(2))())()
    assert found == [2]


def test_patches_come_off_in_order_and_inherited_names_are_inherited_again():
    base = type("Base", (), {"x": 1})
    derived = type("Derived", (base,), {})
    with patched(derived, x=2):
        with patched(derived, x=3):
            assert derived.x == 3
        assert derived.x == 2
    assert "x" not in vars(derived) and derived.x == 1


def test_exit_in_a_verb_is_told_and_the_kernel_lives(tmp_path):
    client = Client(tmp_path)
    try:
        client.run("from helpers import predict\nfrom helpers.study.check import Exercise")
        client.run("def leaves(): exit()\njudged = Exercise('two', lambda given: given(), '', ())")
        cell = 'print(predict("Which?", ["SystemExit", "None"], run=leaves).answer)'
        assert "SystemExit" in client.run(cell)
        assert "failed" in client.run("print(judged(leaves).model.state)")
        assert client.run("print('ask_exit' in vars(get_ipython()))") == "False\n"
    finally:
        client.end()
