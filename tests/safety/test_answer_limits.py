"""What goes on for ever is stopped, whatever it does and catches, and the words say why."""

import io
import itertools
import os
import signal
import sys
import threading
import time
from contextlib import contextmanager

import pytest

from helpers.safety import answer_limits
from helpers.safety.answer_limits import Limits, limited, when_stopped
from helpers.safety.interpreter_state import whole

pytestmark = pytest.mark.own_process()  # what is thrown here would hit the runner's own threads

SOON = Limits(seconds=0.3, characters=1000, bytes=1 << 28)
TIME, PRINT = "did not end within 0.3 seconds", "printed more than 1,000 characters"


@whole
def stopped(run, within=SOON) -> str:
    """Return why a function was stopped; empty if it was not."""
    limit = limited(within)
    try:
        with limit:
            run()
    except KeyboardInterrupt:
        if not limit.because:
            raise
    except MemoryError:
        pass
    return limit.because


def _busy():
    for _ in range(10_000):
        pass


def endless():
    while True:
        pass


def catching():
    while True:
        try:
            _busy()
        except BaseException:
            continue


def catching_in_its_sleep():
    while True:
        try:
            time.sleep(60)
        except BaseException:
            continue


def waiting():
    threading.Event().wait()


def locked():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def printing():
    while True:
        print("again")


def printing_and_catching():
    while True:
        try:
            print("again")
        except BaseException:
            continue


@pytest.mark.parametrize(
    "run", [endless, catching, catching_in_its_sleep, waiting, locked, lambda: time.sleep(60)]
)
def test_what_does_not_end_is_stopped(run):
    assert TIME in stopped(run)


@pytest.mark.parametrize("run", [printing, printing_and_catching])
def test_what_prints_without_end_is_stopped_and_what_was_printed_is_cut(run, monkeypatch):
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    stream = sys.stdout
    assert PRINT in stopped(run)
    assert len(stream.getvalue()) <= SOON.characters
    assert sys.stdout is stream


def test_what_grows_is_stopped_by_its_memory():
    kept = []

    def growing():
        while True:
            kept.append("x" * 100_000 + str(len(kept)))

    assert "of memory" in stopped(growing, Limits(seconds=60, bytes=1 << 27))
    kept.clear()


@pytest.mark.skipif(sys.platform != "linux", reason="the address space has no limit here")
def test_a_loop_in_c_that_grows_is_stopped_by_the_system():
    within = Limits(seconds=60, bytes=1 << 27)
    assert "of memory" in stopped(lambda: list(itertools.count()), within)
    assert len(bytes(1 << 30)) == 1 << 30, "afterwards there is room again"


@pytest.mark.parametrize(("load", "slower"), [(0.0, 1), (1.0, 1), (4.0, 4), (None, 1)])
def test_a_machine_where_others_are_at_work_has_more_time_to_wait(monkeypatch, load, slower):
    def loads():
        if load is None:
            raise OSError
        return load, load, load

    monkeypatch.setattr(os, "getloadavg", loads, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    assert answer_limits._others() == slower


def test_what_ends_in_time_is_left_alone():
    assert stopped(lambda: print("fine")) == ""


def test_blocks_are_ended_and_what_they_changed_is_put_back():
    seen = []

    @contextmanager
    def changed():
        try:
            yield
        finally:
            seen.append("back")

    def run():
        with changed():
            endless()

    tracer, handler = sys.gettrace(), signal.getsignal(signal.SIGINT)
    assert TIME in stopped(run)
    assert seen == ["back"]
    assert (sys.gettrace(), signal.getsignal(signal.SIGINT)) == (tracer, handler)


def test_the_learners_own_interrupt_comes_through():
    def run():
        signal.raise_signal(signal.SIGINT)
        endless()

    with pytest.raises(KeyboardInterrupt):
        stopped(run, Limits(seconds=60))


def test_nothing_comes_after_the_end():
    for _ in range(20):
        stopped(lambda: time.sleep(0.3))
        time.sleep(0.01)


def test_an_interrupt_at_any_moment_of_it_leaves_nothing():
    resource = pytest.importorskip("resource")

    def now():
        limit = resource.getrlimit(resource.RLIMIT_AS)
        return (
            limit,
            sys.stdout,
            sys.stderr,
            signal.getsignal(signal.SIGINT),
            list(answer_limits._OPEN),
        )

    @whole
    def block():
        with limited(Limits(seconds=60)):
            pass

    before, came, left = now(), 0, 0
    for moment in itertools.count(1):  # the line, call or return at which Ctrl-C comes
        left = moment

        def trace(frame, event, given):
            nonlocal left
            left -= frame.f_globals["__name__"].endswith((".answer_limits", ".with_blocks"))
            if left == 0:
                left = -1
                signal.getsignal(signal.SIGINT)(signal.SIGINT, frame)  # as if it came in there
            return trace

        sys.settrace(trace)
        try:
            block()
        except KeyboardInterrupt:
            came += 1
        finally:
            sys.settrace(None)
        if left > 0:
            break
        assert now() == before, moment
    assert came > moment / 2


def test_another_thread_than_the_main_one_is_stopped_too():
    found = []
    thread = threading.Thread(target=lambda: found.append(stopped(endless)))
    thread.start()
    thread.join(60)
    assert found and TIME in found[0]


def test_where_the_house_is_at_work_a_press_waits(monkeypatch):
    monkeypatch.setattr(answer_limits, "HOUSE", __file__)
    assert TIME in stopped(endless), "and comes when that goes on for too long"


def test_what_was_registered_is_called_once_the_block_is_stopped_and_not_otherwise():
    told = []

    def run():
        with when_stopped(lambda: told.append("act")):
            endless()

    assert TIME in stopped(run) and told
    told.clear()
    with when_stopped(lambda: told.append("act")):
        assert TIME in stopped(endless) and not told


def test_a_block_that_changes_sys_modules_is_stopped_too(monkeypatch):
    def run():
        monkeypatch.setattr(sys, "modules", {})
        try:
            time.sleep(60)
        finally:
            monkeypatch.undo()

    assert TIME in stopped(run)
