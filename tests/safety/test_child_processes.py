"""However a child ends, how it ended is told, and nothing of it is left."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

import psutil
import pytest

from helpers.safety import children
from helpers.safety.children import ask, ask_fork, run

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
WAYS = ["ask", *(["ask_fork"] if children.CAN_FORK else [])]
needs_fork = pytest.mark.skipif(not children.CAN_FORK, reason="children are started anew here")


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
        return ask({"source": source}, seconds)
    return ask_fork("", source, seconds)


def state():
    """Return what a child could leave: processes, open files, threads, temporary folders."""
    process = psutil.Process()
    folders = [name for name in os.listdir(tempfile.gettempdir()) if name.startswith("child-")]
    children = sorted(child.pid for child in process.children(recursive=True))
    left = children, process.num_fds(), threading.active_count(), folders
    return str(left)


def assert_same(before):
    """Compare; the system takes its time to forget a process."""
    until = time.monotonic() + 30
    while state() != before and time.monotonic() < until:
        time.sleep(0.02)
    assert state() == before


ORPHAN = """
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork(): os._exit(0)
    for number in (1, 2, 15): signal.signal(number, signal.SIG_IGN)
    while True: time.sleep(60)
print("parent", flush=True)
"""
DEAF = "import signal, itertools\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64))\n"
ENDINGS = {
    "print('one', flush=True); import os; os.abort()": (-6, "one\n", ""),
    "import ctypes; ctypes.string_at(0)": (-11, "", ""),
    "print('two'); raise SystemExit(3)": (3, "two\n", ""),
    "raise SystemExit('words')": (1, "", ""),
    "raise ValueError('not today')": (1, "", "ValueError: not today"),
    "import sys; sys.stdin.read(); print('no input')": (0, "no input\n", ""),
    "import threading, time\nthreading.Timer(0.2, print, ['late']).start()": (0, "late\n", ""),
    "import atexit; atexit.register(print, 'at exit')": (0, "at exit\n", ""),
    "class E(Exception):\n    def __str__(self): return 1 / 0\nraise E": (1, "", "E: <exception"),
    ORPHAN: (0, "parent\n", ""),
    f"{DEAF}sum(itertools.count())": (-9, "", ""),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("source", ENDINGS, ids=range(len(ENDINGS)))
def test_however_it_ends_is_told_and_nothing_is_left(source, way):
    before, (code, printed, error) = state(), ENDINGS[source]
    reply = run_child(way, source, 2 if DEAF in source else 30)
    assert (reply.ended.code, reply.ended.out) == (code, printed)
    assert reply.last("error", "").startswith(error) and reply.ended.late == (DEAF in source)
    assert_same(before)


@pytest.mark.parametrize("way", WAYS)
def test_a_flood_is_cut(way):
    flood = run_child(way, "print('x' * 10**6); print('the end')").ended.out
    assert len(flood) <= 20_010 and flood.endswith("the end\n")
    assert "… 980,109 bytes are left out here …" in flood


@pytest.mark.parametrize("way", WAYS)
def test_it_works_in_an_empty_folder_that_goes_with_it_and_leaves_nothing_to_the_next(way):
    source = "import json, os, tempfile; json.marked = 1; open('a', 'w').close()\n"
    source += "places = os.getcwd(), tempfile.mkdtemp(), os.path.expanduser('~')\n"
    source += "print(os.listdir(), *places, sep='|')"
    listed, *places = run_child(way, source).ended.out.strip().split("|")
    assert listed == "['a']" and not any(map(os.path.exists, places))
    assert run_child(way, "import json; print(hasattr(json, 'marked'))").ended.out == "False\n"


@pytest.mark.parametrize("way", WAYS)
def test_a_child_that_kills_its_supervisor_is_told_and_the_next_one_lives(way):
    reply = run_child(way, "import os, time; os.kill(os.getppid(), 9); time.sleep(60)")
    assert reply.ended.lost and run_child(way, "print(1)").ended.out == "1\n"


@pytest.mark.parametrize("way", WAYS)
def test_ctrl_c_ends_the_child_and_comes(way):
    before = state()
    timer = threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        run_child(way, "import time; time.sleep(60)")
    timer.join()
    assert_same(before)


def test_a_child_that_takes_too_much_memory_is_ended(monkeypatch):
    monkeypatch.setattr(children, "MEMORY", 100 << 20)
    source = "import time; kept = bytearray(200 << 20); time.sleep(60)"
    assert run([sys.executable, "-c", source], 30).large


KERNEL = """
from helpers.safety.children import ask, ask_fork
source = "import os, subprocess, time; subprocess.Popen(['sleep', '60']); time.sleep(60)"
ask({"source": source}, 60) if "%s" == "ask" else ask_fork("", source, 60)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="orphans come back on Linux alone")
@pytest.mark.parametrize("way", WAYS)
def test_a_child_ends_with_a_kernel_that_is_killed(way, tmp_path):
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    kernel = psutil.Popen([sys.executable, "-c", KERNEL % way], cwd=ROOT, env=env)
    until, family = time.monotonic() + 60, []
    while "sleep" not in [one.name() for one in family] and time.monotonic() < until:
        time.sleep(0.1)
        family = kernel.children(recursive=True)
    kernel.kill()
    kernel.wait()
    assert len(family) > 2 and not psutil.wait_procs(family, timeout=60)[1]
    assert [name for name in os.listdir(tmp_path) if name.startswith("child-")] == []


@needs_fork
def test_a_program_without_a_guard_is_not_run_again_in_its_child(tmp_path):
    (tmp_path / "program.py").write_text(
        "from helpers.safety.children import ask_fork\nprint('once')\n"
        "print(ask_fork('', 'print(__name__)', 30).ended.out)\n"
    )
    done = subprocess.run(
        [sys.executable, tmp_path / "program.py"],
        env={**os.environ, "PYTHONPATH": ROOT},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "once\n__main__\n\n"


@needs_fork
def test_an_import_that_fails_is_told():
    assert ask_fork("import no_such", "", 5).last("failed").startswith("ModuleNotFoundError")


def test_a_command_is_run_with_its_input_its_folder_and_its_limit(tmp_path):
    code = "import os, sys; print(sys.stdin.read(), os.getcwd(), file=sys.stderr)"
    done = run([sys.executable, "-c", code], 30, given=b"in", cwd=tmp_path)
    assert done.err.split() == ["in", str(tmp_path.resolve())] and done.code == 0
    assert run([sys.executable, "-c", "while True: pass"], 0.3).late
    with pytest.raises(OSError):
        run(["no-such-program"], 1)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ([1, {"a": None, "b": (1.5, "x")}], ""),
        ({1}, "a value of type set"),
        ({1: 2}, "a dict with a key of type int"),
        (1 << 20_000, "an int of thousands of digits"),
        (json, "a value of type module"),
    ],
    ids=range(5),
)
def test_what_does_not_travel_as_json_is_told(value, says):
    assert children.why_not_json(value) == says
