"""What a call does in the copy stays there, however it ends, and how it ended is told."""

import itertools
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil
import pytest

from helpers.safety import rehearsal
from helpers.safety.rehearsal import rehearsed

pytestmark = [
    pytest.mark.own_process(),  # of torch and TensorFlow no thread shall be here
    pytest.mark.skipif(sys.platform != "linux", reason="no copy is made elsewhere"),
]


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    monkeypatch.setattr(rehearsal, "MARGIN", 0)


def in_c():
    return sum(itertools.count())


def burning():
    while True:
        pass


def kill_itself():
    os.kill(os.getpid(), signal.SIGSEGV)


ENDS = {
    "ended": lambda: "fine",
    "idle": threading.Event().wait,
    "left": lambda: os._exit(0),
    "died": kill_itself,
}


@pytest.mark.parametrize("how", ENDS)
def test_how_a_call_ends_is_told(how):
    found = rehearsed(ENDS[how], 10)
    assert (found.how, found.words) == (how, "fine" if how == "ended" else "")


@pytest.mark.parametrize("how", ["raises", "leaves"])
def test_what_raises_has_ended(how):
    def act():
        raise (ValueError if how == "raises" else SystemExit)

    assert (rehearsed(act, 10).how, rehearsed(act, 10).words) == ("ended", "")


def test_a_loop_in_c_is_ended_and_its_line_is_told():
    found = rehearsed(in_c, 0.1)
    assert found.how == "deaf"
    assert (__file__, in_c.__code__.co_firstlineno + 1) in found.at


def test_who_sleeps_first_is_followed_to_the_loop_in_c():
    def act():
        time.sleep(3 * rehearsal.IDLE)
        return in_c()

    assert rehearsed(act, 2).how == "deaf"


def test_who_sleeps_for_good_is_given_up():
    assert rehearsed(lambda: time.sleep(3600), 1).how == "idle"


def test_what_prints_is_told_and_nothing_of_it_is_shown(capfd):
    def act():
        print("from Python")
        os.system("echo from a program")
        in_c()

    found = rehearsed(act, 0.1)
    assert found.printed.split("\n") == ["from Python", "from a program", ""]
    assert capfd.readouterr() == ("", "")


def test_what_it_changes_changes_there(tmp_path):
    names = []

    def act():
        names.append("there")
        os.environ["REHEARSED"] = "yes"
        Path("made").touch()
        return tempfile.mkdtemp()

    before = os.getcwd(), tempfile.gettempdir()
    found = rehearsed(act, 10)
    assert not names and "REHEARSED" not in os.environ
    assert (os.getcwd(), tempfile.gettempdir()) == before
    assert found.words and not os.path.exists(found.words)
    assert not os.path.exists(os.path.dirname(found.words))


def test_files_that_are_open_are_neither_written_nor_read_on_there(tmp_path):
    file = tmp_path / "file"
    file.write_text("one\ntwo\n")
    with open(file) as read, open(file, "a") as log, open(file, "r+") as both:
        log.write("three\n")
        found = rehearsed(lambda: f"{read.readline()}{log.write('x')}{log.flush()}", 10)
        assert found.words == "one\n1None"
        rehearsed(lambda: both.write("x") and both.flush(), 10)
        assert read.readline() == "one\n"
    assert file.read_text() == "one\ntwo\nthree\n"


def test_what_it_starts_is_ended_with_it():
    found = rehearsed(lambda: str(subprocess.Popen(["sleep", "600"]).pid), 10)
    until = time.monotonic() + 10
    while psutil.pid_exists(int(found.words)) and time.monotonic() < until:
        time.sleep(0.02)
    assert not psutil.pid_exists(int(found.words))


def test_a_call_that_waits_for_a_child_is_not_idle():
    assert rehearsed(lambda: str(subprocess.call(["sleep", "1.2"])), 10).words == "0"


def test_the_channels_of_this_process_are_not_its_own():
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    theirs.setblocking(False)
    before = signal.set_wakeup_fd(theirs.fileno())
    try:

        def act():
            signal.raise_signal(signal.SIGUSR1)
            theirs.send(b"there")
            return "sent"

        signal.signal(signal.SIGUSR1, lambda *given: None)
        rehearsed(act, 10)
    finally:
        signal.set_wakeup_fd(before)
        signal.signal(signal.SIGUSR1, signal.SIG_DFL)
    with pytest.raises(BlockingIOError):
        ours.recv(1)


@pytest.mark.parametrize("act", [burning, in_c])
def test_ctrl_c_ends_the_copy_and_comes(act):
    main = threading.get_ident()
    threading.Timer(0.3, signal.pthread_kill, (main, signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        rehearsed(act, 60)
    assert not psutil.Process().children()


STARTER = """
import os, sys
from helpers.safety.rehearsal import rehearsed
def act():
    with open(sys.argv[1], "w") as file: file.write(f"{os.getpid()}\\n")
    while True: pass
rehearsed(act, 600)
"""


def test_the_copy_goes_when_this_process_is_killed(tmp_path):
    file = tmp_path / "pid"
    with subprocess.Popen([sys.executable, "-c", STARTER, str(file)]) as starter:
        until = time.monotonic() + 60
        while not (file.exists() and file.read_text()) and time.monotonic() < until:
            time.sleep(0.02)
        starter.kill()
    copy = int(file.read_text())
    while psutil.pid_exists(copy) and time.monotonic() < until:
        time.sleep(0.02)
    assert not psutil.pid_exists(copy)


@pytest.mark.parametrize("where", ["another system", "another thread", "no room"])
def test_where_no_copy_can_be_made_it_is_told(where, monkeypatch):
    def no_fork():
        raise BlockingIOError("no room for another process")

    found = []
    if where == "another system":
        monkeypatch.setattr(rehearsal, "CAN_FORK", False)
    if where == "no room":
        monkeypatch.setattr(os, "fork", no_fork)
    if where == "another thread":
        thread = threading.Thread(target=lambda: found.append(rehearsed(lambda: "x", 10)))
        thread.start()
        thread.join()
    else:
        found.append(rehearsed(lambda: "x", 10))
    assert [one.how for one in found] == ["not"]


def test_a_handle_more_is_not_left_open():
    rehearsed(lambda: "", 10)
    before = psutil.Process().num_fds()
    for _ in range(3):
        rehearsed(lambda: "", 10)
    assert psutil.Process().num_fds() == before
