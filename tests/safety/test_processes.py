"""What limits a child and ends it with all that it started, with psutil and in a bare Python."""

import contextlib
import os
import pkgutil
import signal
import subprocess
import sys
import time

import psutil
import pytest

import helpers.capture.cpython
import helpers.capture.text
import helpers.mini
import helpers.safety
from helpers.safety import processes
from tests.pythons import VERSIONS, run

each_source = pytest.mark.parametrize("source", ["psutil", "the standard library"])
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /proc")
# A process that starts one in a session of its own, which starts one more; all write their numbers.
TREE = """
import os, subprocess, sys, time
depth, path, source = sys.argv[1:]
with open(path, "a") as file:
    file.write(f"{os.getpid()}\\n")
if int(depth):
    command = [sys.executable, "-c", source, str(int(depth) - 1), path, source]
    subprocess.Popen(command, start_new_session=True)
time.sleep(600)
"""


@pytest.fixture(autouse=True)
def answers(request, monkeypatch):
    """Let the standard library answer where the test asks for it."""
    if "source" in request.fixturenames and request.getfixturevalue("source") != "psutil":
        monkeypatch.setattr(processes, "psutil", None)


@pytest.fixture
def tree(tmp_path):
    """Start a tree of three processes; return the first, and the numbers of all."""
    path = tmp_path / "numbers"
    path.touch()
    command = [sys.executable, "-c", TREE, "2", str(path), TREE]
    with subprocess.Popen(command, start_new_session=True) as root:
        while len(numbers := path.read_text().split()) < 3:
            assert root.poll() is None
            time.sleep(0.01)
        yield root, [int(number) for number in numbers]
        for number in numbers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(number), signal.SIGKILL)


def is_running(number: int) -> bool:
    try:
        return psutil.Process(number).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@linux
@each_source
def test_a_tree_of_processes_ends_whole(source, tree):
    root, numbers = tree
    assert all(map(is_running, numbers))
    processes.kill_tree(root.pid)
    root.wait()
    until = time.monotonic() + 30
    while any(map(is_running, numbers)) and time.monotonic() < until:
        time.sleep(0.01)
    assert not any(map(is_running, numbers))
    processes.kill_tree(root.pid)  # one that has ended is no error
    assert processes.resident_bytes(root.pid) is None


@linux
def test_proc_and_psutil_find_the_same_descendants(tree):
    root, numbers = tree
    of_psutil = [child.pid for child in psutil.Process(root.pid).children(recursive=True)]
    assert sorted(processes._descendants(root.pid)) == sorted(of_psutil) == sorted(numbers[1:])


@linux
@each_source
def test_memory_is_that_of_the_process_and_of_the_machine(source, tree):
    root, _ = tree
    measured = psutil.Process(root.pid).memory_info().rss
    assert measured / 2 < processes.resident_bytes(root.pid) < measured * 2
    assert processes.total_bytes() == psutil.virtual_memory().total


def test_memory_is_unknown_where_nothing_tells_it(monkeypatch, tmp_path):
    monkeypatch.setattr(processes, "psutil", None)
    monkeypatch.setattr(processes, "PROC", tmp_path)
    assert processes.resident_bytes(1) is None
    assert processes._descendants(1) == []


# -- in a bare Python

ENDS = """
import os, sys, tempfile, time
from helpers.safety import children, processes
from helpers.safety.limits import Limits, enforce_limits
assert processes.psutil is None
TREE = sys.stdin.read()

class WhenStarted:
    # A limit of time that is over as soon as three processes have started.
    def __init__(self, path):
        self.path = path
        open(path, "w").close()

    def numbers(self):
        with open(self.path) as file:
            return [int(line) for line in file]

    def __le__(self, passed):
        return len(self.numbers()) == 3

    def __format__(self, form):
        return "some"

def is_running(number):
    try:
        with open(f"/proc/{number}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False

def run_file(source, seconds, words=()):
    return children.run_command([sys.executable, "-c", source, *words], seconds)

def ask(source, seconds, words=()):
    source = f"import sys; sys.argv[1:] = {words}\\n{source}"
    return children.ask_child({"source": source}, seconds).ended

def ask_fork(source, seconds, words=()):
    source = f"import sys; sys.argv[1:] = {words}\\n{source}"
    return children.ask_forked_child("", source, seconds).ended

def assert_tree_ends(way, path):
    started = WhenStarted(path)
    done = way(TREE, started, ["2", path, TREE])
    assert done.hit_time_limit and not done.hit_memory_limit, done
    while any(map(is_running, started.numbers())):  # the system takes its time to forget one
        time.sleep(0.01)

def assert_limits_hold(way):
    children.SHARE = 0.5
    assert way("print('fine')", 600).out == "fine\\n"
    assert way("while True: pass", 0.3).hit_time_limit
    children.SHARE = (100 << 20) / processes.total_bytes()
    assert way("import time; kept = bytearray(200 << 20); time.sleep(600)", 600).hit_memory_limit

with tempfile.TemporaryDirectory() as folder:
    for way in (run_file, ask, ask_fork):
        assert_limits_hold(way)
        children.SHARE = 0.5
        assert_tree_ends(way, os.path.join(folder, way.__name__))

def endless():
    while True:
        pass

def grow():
    kept = []
    while True:
        kept.append("x" * 100_000 + str(len(kept)))

for function, within, says in (
    (endless, Limits(seconds=0.3), "0.3 seconds"),
    (grow, Limits(seconds=600, bytes=1 << 27), "0.125 GB"),
):
    limit = enforce_limits(within)
    try:
        with limit:
            function()
    except KeyboardInterrupt:
        pass
    assert says in limit.passed_limit, limit.passed_limit
print("all of it")
"""


@linux
@pytest.mark.parametrize("version", VERSIONS)
def test_a_bare_python_holds_all_limits_and_leaves_nothing(version):
    assert run(version, ENDS, stdin=TREE) == "all of it\n"


ROOMS = (helpers.safety, helpers.capture.cpython, helpers.capture.text, helpers.mini)
NEEDS = {"helpers.mini.dynamo.": "torch", "helpers.mini.oneflow": "numpy"}  # what more one needs
IMPORTS = """
import importlib
for name, needed in {names!r}:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        assert error.name == needed, f"{{name}} needs {{error.name}}"
print("all of it")
"""


@pytest.mark.parametrize("version", VERSIONS)
def test_a_bare_python_imports_the_rooms_that_run_there(version):
    modules = [module.name for room in ROOMS for module in walk(room)]
    names = [
        (name, next((NEEDS[start] for start in NEEDS if name.startswith(start)), ""))
        for name in modules
    ]
    assert len(names) > 50
    assert run(version, IMPORTS.format(names=names)) == "all of it\n"


def walk(room):
    return pkgutil.walk_packages(room.__path__, f"{room.__name__}.")
