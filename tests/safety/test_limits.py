"""What goes on for ever is stopped, whatever it does and catches, and the words say why."""

import io
import signal
import sys
import threading
import time

import pytest

from helpers.safety.limits import Limits, enforce_limits, when_stopped

pytestmark = pytest.mark.own_process()  # what is thrown here would hit the runner's own threads
SOON = Limits(seconds=0.3, characters=1000, bytes=1 << 27)
TIME, PRINT = "0.3 seconds", "1,000 characters"


def stopped(run, within=SOON) -> str:
    """Return why a function was stopped; empty if it was not."""
    limit = enforce_limits(within)
    try:
        with limit:
            run()
    except KeyboardInterrupt:
        if not limit.passed_limit:
            raise
    return limit.passed_limit


def endless():
    while True:
        pass


def catching(act):
    def run():
        while True:
            try:
                act()
            except BaseException:
                continue

    return run


def growing():
    kept = []
    while True:
        kept.append("x" * 100_000 + str(len(kept)))


STOPPED = {
    "endless": (endless, TIME),
    "waiting": (lambda: threading.Event().wait(), TIME),
    "catching a sleep": (catching(lambda: time.sleep(9)), TIME),
    "printing, catching": (catching(print), PRINT),
    "growing": (growing, "0.125 GB"),
}


@pytest.mark.parametrize("name", STOPPED)
def test_what_does_not_end_is_stopped_and_everything_is_back(name, monkeypatch):
    (run, says), within = STOPPED[name], SOON
    if name == "growing":
        within = Limits(seconds=60, bytes=1 << 27)
    monkeypatch.setattr(sys, "stdout", stream := io.StringIO())
    before = sys.gettrace(), signal.getsignal(signal.SIGINT), sys.stdout, sys.stderr
    assert says in stopped(run, within)
    assert (sys.gettrace(), signal.getsignal(signal.SIGINT), sys.stdout, sys.stderr) == before
    assert len(stream.getvalue()) <= SOON.characters


def test_what_ends_in_time_is_left_alone_and_output_that_it_closes_stays_open(capsys):
    assert stopped(lambda: print("fine")) == stopped(lambda: sys.stdout.close()) == ""
    print("after")
    assert capsys.readouterr().out == "fine\nafter\n"


def test_the_learners_own_interrupt_comes_through():
    limit = enforce_limits(Limits(seconds=60))
    with pytest.raises(KeyboardInterrupt), limit:
        signal.raise_signal(signal.SIGINT)
    assert limit.interrupted and not limit.passed_limit


def test_another_thread_is_stopped_too_and_what_was_registered_is_called():
    told = []

    def run():
        with when_stopped(lambda: told.append("act")):
            endless()

    thread = threading.Thread(target=lambda: told.append(stopped(run)))
    thread.start()
    thread.join(60)
    assert "act" in told and TIME in told[-1]
