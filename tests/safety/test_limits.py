"""What goes on for ever is stopped, whatever it does and catches, and the words say why."""

import io
import itertools
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

import psutil
import pytest

from helpers.safety import limits
from helpers.safety.limits import Limits, limited, rehearsed, when_stopped

pytestmark = pytest.mark.own_process()  # what is thrown here would hit the runner's own threads
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux alone does this")
SOON = Limits(seconds=0.3, characters=1000, bytes=1 << 28)
TIME, PRINT = "did not end within 0.3 seconds", "printed more than 1,000 characters"


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


def locked():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


@pytest.mark.parametrize(
    "run", [endless, locked, catching(lambda: time.sleep(9)), catching(lambda: sum(range(10**6)))]
)
def test_what_does_not_end_is_stopped_and_everything_is_back(run):
    before = sys.gettrace(), signal.getsignal(signal.SIGINT), sys.stdout, sys.stderr
    assert TIME in stopped(run)
    assert (sys.gettrace(), signal.getsignal(signal.SIGINT), sys.stdout, sys.stderr) == before


@pytest.mark.parametrize("run", [lambda: [print(9) for _ in iter(int, 1)], catching(print)])
def test_what_prints_without_end_is_stopped_and_what_was_printed_is_cut(run, monkeypatch):
    monkeypatch.setattr(sys, "stdout", stream := io.StringIO())
    assert PRINT in stopped(run)
    assert len(stream.getvalue()) <= SOON.characters


@on_linux
@pytest.mark.parametrize("kind", ["python", "in C"])
def test_what_grows_is_stopped(kind):
    def growing():
        kept = []
        while True:
            kept.append("x" * 100_000 + str(len(kept)))

    run = growing if kind == "python" else lambda: list(itertools.count())
    assert "of memory" in stopped(run, Limits(seconds=60, bytes=1 << 27))
    assert len(bytes(1 << 30)) == 1 << 30, "afterwards there is room again"


def test_what_ends_in_time_is_left_alone_and_output_that_it_closes_stays_open(capsys):
    assert stopped(lambda: print("fine")) == stopped(lambda: sys.stdout.close()) == ""
    print("after")
    assert capsys.readouterr().out == "fine\nafter\n"


def test_the_learners_own_interrupt_comes_through():
    limit = limited(Limits(seconds=60))
    with pytest.raises(KeyboardInterrupt), limit:
        signal.raise_signal(signal.SIGINT)
    assert limit.interrupted and not limit.because


def test_another_thread_than_the_main_one_is_stopped_too():
    found = []
    thread = threading.Thread(target=lambda: found.append(stopped(endless)))
    thread.start()
    thread.join(60)
    assert found and TIME in found[0]


def test_what_was_registered_is_called_if_the_block_is_stopped():
    told = []

    def run():
        with when_stopped(lambda: told.append("act")):
            endless()

    assert TIME in stopped(run) and told


# -- a try in a copy


@pytest.fixture
def soon(monkeypatch):
    monkeypatch.setattr(limits, "MARGIN", 0)


def in_c():
    return sum(itertools.count())


ENDS = {
    "ended": lambda: "fine",
    "idle": threading.Event().wait,
    "left": lambda: os._exit(0),
    "died": lambda: os.kill(os.getpid(), signal.SIGSEGV),
}


@on_linux
@pytest.mark.parametrize("how", ENDS)
def test_how_a_call_ends_in_the_copy_is_told(how, soon):
    found = rehearsed(ENDS[how], 10)
    assert (found.how, found.words) == (how, "fine" if how == "ended" else "")


@on_linux
def test_a_loop_in_c_is_ended_its_line_and_what_it_printed_are_told(soon, capfd):
    def act():
        print("from Python")
        os.system("echo from a program")
        in_c()

    found = rehearsed(act, 0.1)
    assert found.how == "deaf" and (__file__, in_c.__code__.co_firstlineno + 1) in found.at
    assert found.printed.split("\n") == ["from Python", "from a program", ""]
    assert capfd.readouterr() == ("", "")


@on_linux
def test_what_it_changes_and_starts_goes_with_it(soon):
    names, before = [], psutil.Process().num_fds()

    def act():
        names.append(os.environ.setdefault("REHEARSED", "yes"))
        return f"{tempfile.mkdtemp()} {subprocess.Popen(['sleep', '600']).pid}"

    folder, pid = rehearsed(act, 10).words.split()
    until = time.monotonic() + 10
    while psutil.pid_exists(int(pid)) and time.monotonic() < until:
        time.sleep(0.02)
    assert not psutil.pid_exists(int(pid)) and not os.path.exists(os.path.dirname(folder))
    assert not names and "REHEARSED" not in os.environ
    assert psutil.Process().num_fds() == before


@on_linux
def test_ctrl_c_ends_the_copy_and_comes():
    main = threading.get_ident()
    threading.Timer(0.3, signal.pthread_kill, (main, signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        rehearsed(in_c, 60)
    assert not psutil.Process().children()
