"""However a child ends, how it ended is told, and nothing of it is left."""

import io
import os
import signal
import sys
import tempfile
import threading
import time

import psutil
import pytest

from helpers import watch_in_child
from helpers.capture.processes import child
from helpers.safety import child_side, children, progress
from helpers.safety.children import ask_child, ask_forked_child, run_command
from tests.without import ROOT

WAYS = ["ask", *(["ask_fork"] if children.CAN_FORK else [])]
each_way = pytest.mark.parametrize("way", WAYS)


@pytest.fixture(scope="module", autouse=True)
def servers(tmp_path_factory):
    """Start what stays for as long as this process: the fork server, multiprocessing's tracker."""
    before, tempfile.tempdir = tempfile.tempdir, str(tmp_path_factory.mktemp("own"))
    for way in WAYS:
        run_child(way, "")
    yield
    tempfile.tempdir = before


def run_child(way: str, source: str, seconds: float = 30):
    if way == "ask":
        return ask_child({"source": source}, seconds)
    return ask_forked_child("", source, seconds)


def state() -> str:
    """Return what a child could leave: processes, open files, threads, temporary folders.

    A browser of other tests in this process starts helpers when it likes, so it is left out.
    """
    process = psutil.Process()
    folders = [name for name in os.listdir(tempfile.gettempdir()) if name.startswith("child-")]
    own = [child for child in process.children() if child.name() != "node"]
    pids = sorted(c.pid for child in own for c in [child, *child.children(recursive=True)])
    return str((pids, process.num_fds(), threading.active_count(), folders))


def assert_same(before: str):
    """Compare; the system takes its time to forget a process."""
    until = time.monotonic() + 30
    while state() != before and time.monotonic() < until:
        time.sleep(0.02)
    assert state() == before


STARTING = "import subprocess\nsubprocess.Popen(['sleep', '60'])\nprint('parent')"
ENDINGS = {
    "print('one', flush=True); import os; os.abort()": (-6, "one\n", ""),
    "import ctypes; ctypes.string_at(0)": (-11, "", ""),
    "print('two'); raise SystemExit(3)": (3, "two\n", ""),
    "raise ValueError('not today')": (1, "", "ValueError: not today"),
    "import threading, time\nthreading.Timer(0.2, print, ['late']).start()": (0, "late\n", ""),
    STARTING: (0, "parent\n", ""),
    "import itertools; sum(itertools.count())": (-9, "", ""),
}


@each_way
@pytest.mark.parametrize("source", ENDINGS, ids=range(len(ENDINGS)))
def test_however_it_ends_is_told_and_nothing_is_left(source, way):
    before, (code, printed, error) = state(), ENDINGS[source]
    endless = "count()" in source
    reply = run_child(way, source, 2 if endless else 30)
    assert (reply.ended.code, reply.ended.out) == (code, printed)
    assert reply.last("error", "").startswith(error) and reply.ended.hit_time_limit == endless
    assert_same(before)


@each_way
def test_it_works_in_an_empty_folder_that_goes_with_it_and_a_flood_is_cut(way):
    source = "import json, os, tempfile; json.marked = 1; open('a', 'w').close()\n"
    source += "places = os.getcwd(), tempfile.mkdtemp(), os.path.expanduser('~')\n"
    source += "print(os.listdir(), *places, sep='|')"
    listed, *places = run_child(way, source).ended.out.strip().split("|")
    assert listed == "['a']" and not any(map(os.path.exists, places))
    assert run_child(way, "import json; print(hasattr(json, 'marked'))").ended.out == "False\n"
    source = "print('x' * 10**6, end='the end')"
    flood = run_child(way, source).ended.out
    *_, shown, last_line = flood.splitlines()
    assert len(flood) <= 20_010 and shown.endswith("x") and "980,107" in last_line


@each_way
def test_ctrl_c_ends_the_child_and_comes(way):
    before = state()
    timer = threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        run_child(way, "import time; time.sleep(60)")
    timer.join()
    assert_same(before)


def test_a_child_that_takes_too_much_memory_is_ended(monkeypatch):
    monkeypatch.setattr(children, "SHARE", (100 << 20) / psutil.virtual_memory().total)
    source = "import time; kept = bytearray(200 << 20); time.sleep(60)"
    assert run_command([sys.executable, "-c", source], 30).hit_memory_limit


KERNEL = """
from helpers.safety.children import ask_child, ask_forked_child
source = "open({path!r}, 'w').write(str(__import__('os').getpid())); __import__('time').sleep(60)"
ask_child({{"source": source}}, 60) if {way!r} == "ask" else ask_forked_child("", source, 60)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it takes a while")
@each_way
def test_a_child_ends_with_a_kernel_that_is_killed(way, tmp_path):
    path, until = tmp_path / "pid", time.monotonic() + 60
    kernel = psutil.Popen([sys.executable, "-c", KERNEL.format(path=str(path), way=way)], cwd=ROOT)
    while not (path.exists() and path.read_text()) and time.monotonic() < until:
        time.sleep(0.1)
    child = psutil.Process(int(path.read_text()))
    kernel.kill()
    kernel.wait()
    while child.is_running() and child.status() != "zombie" and time.monotonic() < until:
        time.sleep(0.1)
    assert time.monotonic() < until


def test_a_command_is_run_with_its_input_its_folder_and_its_limit(tmp_path):
    code = "import os, sys; print(sys.stdin.read(), os.getcwd(), file=sys.stderr)"
    done = run_command([sys.executable, "-c", code], 30, given=b"in", cwd=tmp_path)
    assert done.err.split() == ["in", str(tmp_path.resolve())] and done.code == 0
    assert run_command([sys.executable, "-c", "while True: pass"], 0.3).hit_time_limit
    with pytest.raises(OSError):
        run_command(["no-such-program"], 1)


def test_what_does_not_travel_as_json_is_told():
    assert child_side.why_not_json([1, {"a": None, "b": (1.5, "x")}]) == ""
    for value, says in (({1}, "type set"), ({1: 2}, "a key of type int")):
        assert says in child_side.why_not_json(value)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("silent", [0.0, 100.0])
def test_who_waits_is_told_what_for_and_how_long_at_most(monkeypatch, silent):
    terminal, said = Terminal(), []
    monkeypatch.setattr(children, "SILENT", silent)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(
        children.time, "sleep", lambda seconds: said.append(progress.read_activity())
    )
    with progress.report_activity("start 2 of 6"):
        run_command([sys.executable, "-c", "import time; time.sleep(0.2)"], 63)
    [activity] = set(said)
    outer, _, waiting = activity.partition(", ")
    assert outer == "start 2 of 6" and waiting.endswith("63 s") and progress.read_activity() == ""
    assert terminal.getvalue().count("63 s") == (0 if silent else 1)


def test_a_limit_that_ends_a_child_is_named(monkeypatch):
    monkeypatch.setattr(child, "SECONDS", 1)
    late = watch_in_child("print(1, flush=True)\nwhile True: pass", imports="").model.runs[0]
    assert "1 s" in late.ending and late.printed == "1"
    monkeypatch.setattr(children, "MOST_PRINTED", 1000)
    monkeypatch.setattr(child, "SECONDS", 60)
    flood = watch_in_child("while True: print(1)", imports="").model.runs[0]
    assert "printed" in flood.ending and flood.printed.startswith("1\n1\n")
