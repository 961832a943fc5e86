"""What stands in the place of sys.stdout is there for a print of another thread, too."""

import gc
import io
import subprocess
import sys
import threading
import weakref
from contextlib import redirect_stdout
from pathlib import Path

from helpers.safety.answer_limits import Limits, limited
from helpers.safety.interpreter_state import whole
from helpers.safety.output import _LATEST_BLOCKS, Shielded, redirected, shielded, still_open

REPO = Path(__file__).parents[2]


CHATTY = """
import threading
from helpers.capture.cpython.settrace import Printed
from helpers.safety.interpreter_state import whole
from helpers.safety.output import redirected

def chat():
    while not stop.is_set():
        print("tick")

def work():
    with redirected(Printed()):
        sum(range(200))

stop = threading.Event()
threads = [threading.Thread(target=chat, daemon=True) for _ in range(3)]
for thread in threads:
    thread.start()
for _ in range(1500):
    whole(work)()
stop.set()
for thread in threads:
    thread.join()
print("alive")
"""


def _own_stream():
    return weakref.ref(sys.stdout)


def test_stream_of_a_verb_outlives_it():
    stream = whole(_own_stream)()
    gc.collect()
    assert type(stream()) is Shielded and stream() is not sys.stdout


def test_stream_that_takes_what_is_printed_outlives_its_block():
    class Stream(list):
        write = list.append

    with redirected(Stream()):
        stream = _own_stream()
        print("kept")
    gc.collect()
    assert stream() == ["kept", "\n"]


def test_stream_of_a_check_outlives_it():
    with limited(Limits()):
        stream = _own_stream()
    gc.collect()
    assert stream() is not None and stream() is not sys.stdout


def test_no_stream_is_none_behind_a_shield():
    assert shielded(None) is None


def test_threads_that_print_kill_no_process():
    command = [sys.executable, "-c", CHATTY]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("alive\n")


def test_blocks_that_cross_in_two_threads_leave_the_stream_of_before():
    begun, first_ended, printed = threading.Event(), threading.Event(), io.StringIO()

    def first():
        with redirected(io.StringIO()):
            begun.set()
            other_begun.wait(10)

    def other():
        with redirected(io.StringIO()):
            other_begun.set()
            first_ended.wait(10)

    other_begun = threading.Event()
    with redirect_stdout(printed):
        before = sys.stdout
        thread = threading.Thread(target=lambda: (first(), first_ended.set()))
        thread.start()
        begun.wait(10)
        other()
        thread.join()
        assert sys.stdout is before
        print("seen")
    assert printed.getvalue() == "seen\n"


def test_streams_behind_one_another_come_to_an_end():
    one, two = io.StringIO(), io.StringIO()
    before = sys.stdout
    with redirected(one), redirected(two):
        pass
    with redirected(two), redirected(one):
        pass
    blocks = [block for block in _LATEST_BLOCKS if block._new_target in (one, two)]
    for block in blocks:
        block.behind = two if block._new_target is one else one
    assert still_open(one) in (one, two) and sys.stdout is before


def test_verb_inside_of_a_verb_leaves_the_outer_one_its_stream():
    outer = io.StringIO()
    with redirected(outer):
        whole(lambda: print("inner"))()
        with redirected(io.StringIO()):
            print("hidden")
        print("outer")
    assert outer.getvalue() == "inner\nouter\n"
