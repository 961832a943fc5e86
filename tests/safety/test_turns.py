"""Verbs in several threads take turns: what they keep is one for the whole process."""

import gc
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from helpers.safety import turns
from helpers.safety.interpreter_state import whole
from helpers.safety.kept_state import KEPT
from helpers.safety.patches import patched

pytestmark = pytest.mark.own_process


# A collection lets the other thread ask: as what frees a tensor does, which waits for TensorFlow.
TWO_THREADS_ASK = """
import faulthandler, gc, queue, threading
from helpers.safety.current_frames import current_frames

faulthandler.dump_traceback_later(120, exit=True)
main, wanted, asked = threading.get_ident(), queue.SimpleQueue(), queue.SimpleQueue()

def ask_when_wanted():
    while wanted.get():
        asked.put(current_frames())

def let_the_other_ask(*_):
    if threading.get_ident() == main:
        wanted.put(True)
        asked.get()

other = threading.Thread(target=ask_when_wanted)
other.start()
gc.callbacks.append(let_the_other_ask)
kept = []  # what is freed would count against the threshold
for threshold in range(1, 9):
    gc.set_threshold(threshold)
    kept += [current_frames() for _ in range(10)]
print(gc.isenabled())
gc.disable()
print(bool(current_frames()), gc.isenabled())
wanted.put(False)
other.join()
"""


class Owner:
    name = "as it was"


def in_threads(*calls):
    """Run calls side by side; return what came of each."""
    found = [None] * len(calls)

    def run(number, call):
        try:
            found[number] = call()
        except Exception as error:
            found[number] = error

    threads = [threading.Thread(target=run, args=each) for each in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_no_verb_sees_what_another_has_patched_and_all_is_as_before():
    before = [kept.read() for kept in KEPT]

    def verb(value):
        @whole
        def patching():
            gc.disable()
            sys.setrecursionlimit(5000 + value)
            with patched(Owner, name=value):
                for _ in range(20):
                    time.sleep(0.001)
                    assert Owner.name == value and sys.getrecursionlimit() == 5000 + value
            return value

        return patching

    assert in_threads(*map(verb, range(8))) == list(range(8))
    assert Owner.name == "as it was"
    assert [k.name for k, old in zip(KEPT, before, strict=True) if not k.same(k.read(), old)] == []


def test_a_verb_inside_of_a_verb_does_not_wait_for_those_that_wait_for_it():
    inside = whole(lambda: "inside")

    @whole
    def outside():
        time.sleep(0.05)  # so that the others have come
        return inside()

    assert in_threads(*[outside] * 4) == ["inside"] * 4


def test_a_verb_that_waits_for_a_thread_that_waits_for_it_says_so(monkeypatch):
    monkeypatch.setattr(turns, "LONGEST_STILL", 0.2)
    inside, limit = whole(lambda: "inside"), sys.getrecursionlimit()
    with patched(Owner, name="meanwhile"):
        [error] = whole(lambda: in_threads(inside))()
        assert Owner.name == "meanwhile"
    assert isinstance(error, RuntimeError) and "verbs take turns" in str(error)
    assert sys.getrecursionlimit() == limit and inside() == "inside"


def test_a_verb_of_a_thread_that_is_gone_is_not_waited_for():
    [left] = in_threads(turns.Turn)
    turns.TURNS.append(left)
    try:
        assert whole(lambda: "at once")() == "at once"
    finally:
        left.leave()


def test_interrupts_and_errors_leave_no_turn_taken():
    @whole
    def fails():
        raise KeyError

    with pytest.raises(KeyError):
        fails()
    assert turns.TURNS == []


def test_two_interrupts_of_a_verb_that_waits_leave_no_turn_taken(monkeypatch):
    handler, begun, there = signal.getsignal(signal.SIGINT), threading.Event(), threading.Event()
    other = threading.Thread(target=whole(lambda: begun.set() or there.wait()))

    def pressed(then):
        def press(*args):
            signal.raise_signal(signal.SIGINT)
            return then(*args)

        return press

    other.start()
    begun.wait()
    monkeypatch.setattr(turns, "sleep", pressed(time.sleep))
    monkeypatch.setattr(turns.Turn, "leave", pressed(turns.Turn.leave))
    try:
        with pytest.raises(KeyboardInterrupt):
            whole(lambda: "never")()
        assert [turn.thread for turn in turns.TURNS] == [other.ident]
    finally:
        monkeypatch.undo()
        there.set()
        other.join()
    assert turns.TURNS == [] and signal.getsignal(signal.SIGINT) is handler


def test_frames_are_asked_for_without_a_collection_which_would_hang_two_threads():
    child = [sys.executable, "-c", TWO_THREADS_ASK]
    root = Path(__file__).parents[2]
    ended = subprocess.run(child, cwd=root, capture_output=True, text=True, timeout=300)
    assert (ended.stdout, ended.stderr) == ("True\nTrue False\n", "")
