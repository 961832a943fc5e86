"""What may kill runs in a child: its transcript is true, the same twice, and names no place."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from random import Random
from threading import Timer

import psutil
import pytest

from helpers import watch_in_child
from helpers.capture.processes import child as children
from helpers.capture.processes import fork_server, preloaded
from helpers.capture.processes.child import plain, run_child
from helpers.capture.processes.function_source import portable
from helpers.model.transcript import Transcript

pytest.importorskip("tensorflow")

TIMES = 2
LIGHT = "import json as tf"  # there at once


def one(what):
    return watch_in_child(what).model.runs[0]


def doubled(x):
    return x * TIMES


def uses_its_neighbours():
    print(json.dumps({"doubled": doubled(21)}), tf.executing_eagerly())  # noqa: F821


def raises():
    raise ValueError("no such /opt/lib/site-packages/pkg/place at 0x7f00aa")


def test_a_function_takes_what_it_uses_along():
    assert one(uses_its_neighbours).printed == '{"doubled": 42} True'


def test_an_exception_is_a_line_and_an_exit_code():
    run = one(raises)
    assert run.error == "ValueError: no such pkg/place" and run.code == 1 and run.lived
    assert run.ending == "exit code 1"


@pytest.mark.parametrize(
    ("source", "code", "printed"),
    [
        ("print('one', flush=True); import os; os.abort()", -6, "one"),
        ("print('two'); raise SystemExit(3)", 3, "two"),
        ("raise SystemExit('words')", 1, ""),
        ("import sys; sys.exit()", 0, ""),
        ("import os; os.write(1, b'raw')", 0, "raw"),
        ("import sys; sys.stdin.read(); print('no input')", 0, "no input"),
        ("def f(", 1, ""),
        ("import os; os.kill(os.getpid(), 9)", -9, ""),
        ("class E(Exception):\n    def __str__(self): return 1 / 0\nraise E", 1, ""),
    ],
)
def test_however_it_ends_is_told(source, code, printed):
    run = one(source)
    assert (run.code, run.printed) == (code, printed)


def test_what_does_not_end_is_stopped():
    assert run_child("while True: pass", seconds=1)["cut"] == "late"
    late = Transcript("", "", "", "", -9, "late")
    assert late.ending == "it did not end in time, and was stopped" and not late.lived


def test_a_signal_of_its_own_is_not_taken_for_the_limit():
    ended = [one(f"import os; os.kill(os.getpid(), {n})").ending for n in (14, 15, 35)]
    assert ended == [
        f"the process was killed: {name}" for name in ("SIGALRM", "SIGTERM", "signal 35")
    ]


def test_a_child_leaves_nothing_to_the_next():
    one("import json; json.marked = tf.marked = 1; x = 5")
    assert one("print('x' in globals(), hasattr(tf, 'marked'))").printed == "False False"


def test_a_flood_is_cut():
    flood = run_child("print('x' * 10**6); print('the end')")["printed"]
    assert len(flood) <= 20_010 and flood.endswith("the end\n")
    assert "… 980,109 bytes are left out here …" in flood
    assert max(map(len, one("print('x' * 10**5)").printed.split("\n"))) <= 400


KILLS_ITS_PARENT = "import os, time; os.kill(os.getppid(), 9); time.sleep(60)"


def test_a_child_that_kills_its_parent_is_told_and_the_next_one_lives(monkeypatch):
    monkeypatch.setattr(children, "PREAMBLE", LIGHT)
    run = one(KILLS_ITS_PARENT)
    assert run.ending == "it killed the process that watched it, and was stopped" and not run.lived
    assert one("print('next')").printed == "next"
    assert one_anew(KILLS_ITS_PARENT).ending == run.ending


def one_anew(source):
    return watch_in_child(source, imports="").model.runs[0]


@pytest.mark.skipif(not children.CAN_FORK, reason="children are started anew here")
def test_an_interrupt_leaves_no_answer_to_the_next_cell(monkeypatch):
    monkeypatch.setattr(children, "PREAMBLE", LIGHT)
    assert one("print('ready')").printed == "ready"
    before, random = state(), Random(4)
    for number in range(12):
        timer = Timer(random.uniform(0, 0.1), os.kill, (os.getpid(), signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            run_child("import time; time.sleep(0.1); print('stale'); time.sleep(60)")
        timer.join()
        assert one(f"print({number})").printed == str(number)
        assert same(before)


def same(before):
    """Return whether the state is as before; the system takes its time to forget a process."""
    until = time.monotonic() + 30
    while state() != before and time.monotonic() < until:
        time.sleep(0.01)
    return state() == before


def state():
    kernel = psutil.Process()
    return sorted(one.pid for one in kernel.children(recursive=True)), kernel.num_fds()


@pytest.mark.skipif(not children.CAN_FORK, reason="children are started anew here")
def test_an_import_that_fails_is_one_sentence():
    with pytest.raises(RuntimeError, match="no child can be forked: ModuleNotFoundError"):
        preloaded.ask("import no_such_module", "", 5)
    assert "import no_such_module" not in preloaded._PARENTS


@pytest.mark.parametrize("imports", [None, ""])
def test_whatever_it_does_it_ends_at_the_limit_with_all_it_started(monkeypatch, imports):
    monkeypatch.setattr(children, "PREAMBLE", LIGHT)
    source = """
import os, signal, sys, threading, time
signal.alarm(0)
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64))
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True: pass
    os._exit(0)
print(os.getpid(), flush=True)
os.closerange(0, 300)
threading.Thread(target=lambda: [None for _ in iter(int, 1)]).start()
while True: pass
"""
    run_child("", imports=imports)
    before = state()
    reply = run_child(source, 1, imports)
    assert reply["cut"] == "late"
    assert not psutil.pid_exists(int(reply["printed"])) and same(before)


@pytest.mark.parametrize("imports", [None, ""])
def test_it_works_in_an_empty_folder_that_goes_with_it(monkeypatch, imports):
    monkeypatch.setattr(children, "PREAMBLE", LIGHT)
    source = "import os, tempfile; open('a', 'w').close(); tempfile.mkdtemp()\n"
    source += "print(os.listdir(), os.getcwd(), tempfile.gettempdir(), sep='|')"
    here, temporary = sorted(os.listdir()), set(os.listdir(tempfile.gettempdir()))
    listed, folder, place = run_child(source, imports=imports)["printed"].strip().split("|")
    assert listed == "['a']" and os.path.dirname(folder) == os.path.dirname(place)
    assert not os.path.exists(os.path.dirname(folder)) and sorted(os.listdir()) == here
    assert os.path.basename(os.path.dirname(folder)) not in temporary


@pytest.mark.parametrize("imports", [None, ""])
def test_what_it_writes_at_its_end_is_no_exception(monkeypatch, imports):
    monkeypatch.setattr(children, "PREAMBLE", LIGHT)
    source = "import atexit, os; atexit.register(os.write, 2, b'KeyError: 99'); 1 / 0"
    assert run_child(source, imports=imports)["error"] == "ZeroDivisionError: division by zero"


@pytest.mark.skipif(not children.CAN_FORK, reason="children are started anew here")
def test_a_killed_parent_is_replaced(monkeypatch):
    monkeypatch.setattr(children, "PREAMBLE", LIGHT)
    assert one("print('once')").printed == "once"
    preloaded._PARENTS[LIGHT].process.kill()
    assert one("print('again')").printed == "again"


def test_where_nothing_forks_a_child_is_started(monkeypatch):
    monkeypatch.setattr(children, "CAN_FORK", False)
    monkeypatch.setattr(children, "PREAMBLE", LIGHT)
    assert one("print('new')").printed == "new" and one(raises).error.startswith("ValueError: ")
    assert one("import os; os.abort()").code == -6
    assert run_child("while True: pass", seconds=1)["cut"] == "late"


def test_the_parent_ends_with_whoever_asked():
    source = (
        f"from helpers.capture.processes import child; child.PREAMBLE = {LIGHT!r};"
        "child.run_child(''); from helpers.capture.processes import preloaded;"
        "print(*[one.process.pid for one in preloaded._PARENTS.values()])"
    )
    command = [sys.executable, "-c", source]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    pid = int(done.stdout)
    left = [psutil.Process(pid)] if psutil.pid_exists(pid) else []
    assert not psutil.wait_procs(left, timeout=30)[1]


KILLED = """
import os, signal, sys
from helpers.capture.processes import child, preloaded

child.PREAMBLE = f"open({sys.argv[1]!r}).readline()"
send = preloaded.Parent.send

def send_and_die(parent, request, handles):
    send(parent, request, handles)
    print(parent.process.pid, os.listdir(os.environ["TMPDIR"]), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

preloaded.Parent.send = send_and_die
child.run_child("")
"""


@pytest.mark.skipif(not preloaded.CAN_FORK, reason="forks")
def test_a_folder_goes_if_the_kernel_is_killed_while_the_parent_imports(tmp_path):
    go, place = tmp_path / "go", tmp_path / "tmp"
    place.mkdir()
    os.mkfifo(go)  # the import ends when a line comes
    command = [sys.executable, "-c", KILLED, str(go)]
    env = {**os.environ, "TMPDIR": str(place)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
    pid, folders = done.stdout.split(maxsplit=1)
    assert "child-" in folders and done.returncode == -signal.SIGKILL
    parent, line = psutil.Process(int(pid)), os.open(go, os.O_RDWR)
    os.write(line, b"\n")
    assert not psutil.wait_procs([parent], timeout=60)[1]
    os.close(line)
    until = time.monotonic() + 60
    while os.listdir(place) and time.monotonic() < until:  # its last child is nobody's to wait for
        time.sleep(0.01)
    assert os.listdir(place) == []


def test_a_request_that_is_cut_in_the_middle_is_the_end():
    asker, parent = socket.socketpair()
    asker.sendall(b'{"source": "pri')
    asker.close()
    assert fork_server.receive(parent) is None
    parent.close()


@pytest.mark.parametrize("bad", [3, None, len, lambda: 1, "".join, int])
def test_what_is_no_function_is_named(bad):
    with pytest.raises(TypeError, match="no function made by def|a child runs a function or"):
        watch_in_child(bad)


class Session:
    def run(self):
        return "the session's"


session, run, far, itself = Session(), 5, float("inf"), []
itself.append(itself)
again = doubled


def run_is_an_attribute():
    return Session().run(), far, again(1), itself


def test_the_name_of_an_attribute_is_no_global():
    source = portable(run_is_an_attribute)
    assert "run = 5" not in source and "far = float('inf')" in source
    assert "again = doubled" in source and "itself =" not in source


class Makes:
    """An object that has every attribute, and runs code to make it."""

    def __getattr__(self, name):
        raise AssertionError("its own code was run")


makes = Makes()


def uses_what_makes():
    return makes


def test_what_a_function_uses_is_not_run():
    assert portable(uses_what_makes).count("makes") == 2


@pytest.mark.parametrize("words", [{"title": 5}, {"imports": 5}, {"title": object()}])
def test_wrong_words_are_named(words):
    with pytest.raises(TypeError, match="(title|imports) must be text, not"):
        watch_in_child("1", **words)
    with pytest.raises(TypeError, match="needs a function, or a piece of source"):
        watch_in_child()


def test_a_function_without_source_is_named():
    space = {}
    exec("def typed(): pass", space)
    with pytest.raises(ValueError, match="the source of typed is not at hand"):
        portable(space["typed"])


def test_transcripts_hold_no_address_place_or_host():
    words = plain(f"<f at 0x7fe640bb38c0> in {sys.prefix}/lib/site-packages/x.py on a\ttab")
    assert words == "<f> in x.py on a    tab"
    unknown = one(
        "tf.raw_ops.Neg; from tensorflow.python.eager import context, execute\n"
        "execute.execute('Negg', 1, [], (), context.context())"
    )
    assert "registered in binary running on this machine. " in unknown.error
    assert not re.search(r"0x[0-9a-f]{6,}|/home/|/tmp/", repr(watch_in_child(raises)))


def test_it_is_the_same_twice():
    assert watch_in_child(uses_its_neighbours).model == watch_in_child(uses_its_neighbours).model


def test_a_run_is_found_by_its_label():
    runs = watch_in_child(raises, "1").model
    assert runs.of("raises()").code == 1
    with pytest.raises(KeyError, match="'other'; there are raises()"):
        runs.of("other")


@pytest.mark.parametrize("imports", [None, ""])
def test_child_ends_as_python_does_with_its_threads_and_what_atexit_has(monkeypatch, imports):
    monkeypatch.setattr(children, "PREAMBLE", LIGHT)
    source = (
        "import atexit, threading, time\n"
        "atexit.register(print, 'bye')\n"
        "def late(): time.sleep(0.2); print('late')\n"
        "threading.Thread(target=late).start()\n"
        "print('main over')\n"
    )
    reply = run_child(source, imports=imports)
    assert reply["printed"].split() == ["main", "over", "late", "bye"] and reply["code"] == 0
