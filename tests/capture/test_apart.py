"""A function in an interpreter of its own: its result comes back, what it breaks stays there."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from random import Random

import psutil
import pytest

from helpers import call_in_child, watch_in_child
from helpers.capture.processes import call as apart
from helpers.capture.processes import preloaded
from helpers.capture.processes.interpreter import Reply
from helpers.safety import child_keeper
from helpers.safety.processes import Ended


def adds(a, b):
    import sys

    return {"sum": a + b, "numpy": "numpy" in sys.modules}


def prints_and_returns():
    print("something else")
    return [1, None]


def raises():
    raise ValueError("not today")


def dies():
    import os

    os._exit(3)


def test_result_comes_back_from_another_interpreter():
    assert call_in_child(adds, 1, 2) == {"sum": 3, "numpy": False}


def test_what_it_prints_is_no_result():
    assert call_in_child(prints_and_returns) == [1, None]


def test_its_error_is_told_in_one_line():
    with pytest.raises(RuntimeError, match="raises failed .*: ValueError: not today"):
        call_in_child(raises)


def raises_many_lines():
    raise ValueError("the first line\nthe last line")


def compiles():
    compile("1 +", "here", "eval")


def test_its_error_is_told_with_its_type():
    with pytest.raises(RuntimeError, match="ValueError: the first line\nthe last line"):
        call_in_child(raises_many_lines)
    with pytest.raises(RuntimeError, match="in its own interpreter: SyntaxError: "):
        call_in_child(compiles)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")
def test_it_goes_before_this_process_where_memory_runs_out():
    def score():
        with open("/proc/self/oom_score_adj") as file:
            return int(file.read())

    assert call_in_child(score) == 1000 > score()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody looks at its memory")
def test_a_child_that_takes_too_much_memory_is_noticed(monkeypatch):
    monkeypatch.setattr(child_keeper, "MOST", 100 << 20)
    life, end = os.pipe()
    whole = "import time; kept = bytearray({} << 20); time.sleep(60)"
    for size, why in ((200, "large"), (1, "late")):
        with subprocess.Popen([sys.executable, "-c", whole.format(size)]) as child:
            assert child_keeper._wait(child.pid, life, time.monotonic() + 3) == why
            child.kill()
    os.close(life)
    os.close(end)
    ended = Ended(-9, large=True)
    with pytest.raises(RuntimeError, match="grows took more than half of this machine's memory"):
        apart._result(Reply(ended, ()), "grows", {})


def test_its_end_is_no_end_of_this_process():
    with pytest.raises(RuntimeError, match="dies failed .*: it ended with 3"):
        call_in_child(dies)


@pytest.mark.parametrize("call", [(print,), (adds, object(), 1), (5,)])
def test_what_cannot_travel_is_refused(call):
    with pytest.raises(
        TypeError, match="call_in_child (needs a function written in Python|takes arguments)"
    ):
        call_in_child(*call)


def waits():
    import threading

    threading.Event().wait()


def test_what_never_ends_is_stopped(monkeypatch):
    monkeypatch.setattr(apart, "LONGEST", 1)
    with pytest.raises(RuntimeError, match="waits did not end within 1 seconds"):
        call_in_child(waits)


# -- nothing but the result is the result ----------------------------------------------------------


def a_thread_prints_late():
    import threading
    import time

    threading.Thread(target=lambda: (time.sleep(0.3), print("[99]"))).start()
    return [1]


def prints_at_exit():
    import atexit

    atexit.register(print, "[99]")
    return [1]


def takes_stdout_away():
    import os
    import sys

    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.stdout.close()
    return [1]


def closes_all():
    import os

    os.closerange(0, 300)
    return [1]


def writes_garbage_everywhere():
    import contextlib
    import os

    for number in range(100):
        with contextlib.suppress(OSError):
            os.write(number, b"[99]\n" * 100)
    return [1]


def prints_megabytes():
    print("x" * 10**7)
    return [1]


def returns_twice():
    import os

    return [1] if os.fork() else [99]


def leaves_a_file():
    import os
    import tempfile

    open("relative", "w").close()
    tempfile.mkdtemp()
    return [os.listdir(), os.path.dirname(os.getcwd()) == os.path.dirname(tempfile.gettempdir())]


FAIR = [a_thread_prints_late, prints_at_exit, takes_stdout_away, closes_all, prints_megabytes]
FAIR += [writes_garbage_everywhere] + ([returns_twice] if hasattr(os, "fork") else [])


@pytest.mark.parametrize("fn", FAIR)
def test_only_what_it_returns_is_the_result(fn):
    assert call_in_child(fn) == [1]


def test_it_works_in_an_empty_folder_of_its_own():
    before = sorted(os.listdir())
    assert call_in_child(leaves_a_file) == [["relative"], True]
    assert sorted(os.listdir()) == before


def leaves_politely():
    raise SystemExit


def is_interrupted():
    raise KeyboardInterrupt


def gives_a_set():
    return {1}


def gives_number_keys():
    return {1: 2}


def gives_itself():
    a = []
    a.append(a)
    return a


def gives_shared():
    shared = []
    for _ in range(60):
        shared = [shared, shared]
    return shared


async def is_async():
    return 1


def kills_its_parent():
    import os

    os.kill(os.getppid(), 9)
    import time

    time.sleep(60)


def is_killed():
    import os

    os.kill(os.getpid(), 15)


@pytest.mark.parametrize(
    ("fn", "error", "says"),
    [
        (leaves_politely, RuntimeError, "it left by SystemExit instead of returning"),
        (is_interrupted, RuntimeError, "KeyboardInterrupt"),
        (gives_a_set, TypeError, "returned a value of type set, which does not travel"),
        (gives_number_keys, TypeError, "returned a dict with a key of type int"),
        (gives_itself, TypeError, "returned what holds itself"),
        (gives_shared, TypeError, "returned what comes to more than"),
        (is_async, TypeError, "returned a value of type coroutine"),
        (kills_its_parent, RuntimeError, "it killed the process that watched it"),
        (is_killed, RuntimeError, "it was killed: SIGTERM"),
        (lambda: 1, TypeError, "not a lambda: give it a name with def"),
        (eval("lambda: 1"), TypeError, "not a lambda"),
    ],
)
def test_what_gives_no_result_is_one_sentence(fn, error, says):
    with pytest.raises(error, match=says) as caught:
        call_in_child(fn)
    assert "\n" not in str(caught.value)


def test_a_function_without_source_or_with_a_closure_is_one_sentence():
    space, held = {}, 5
    exec("def typed(): pass", space)

    def closes():
        return held

    for fn, says in ((space["typed"], "no source at hand"), (closes, "closes uses held of a")):
        with pytest.raises(TypeError, match=says):
            call_in_child(fn)


# -- nothing is left, however it ends --------------------------------------------------------------


def state():
    children = sorted(one.pid for one in psutil.Process().children(recursive=True))
    handles = len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 0
    return children, handles, threading.active_count(), sorted(os.listdir(os.environ["TMPDIR"]))


@pytest.fixture
def own_tmp(tmp_path, monkeypatch):
    import tempfile

    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def leaves_a_daemon():
    import os
    import signal
    import time

    for number in range(1, 30):
        if number not in (9, 19, 17):
            signal.signal(number, signal.SIG_IGN)
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        while True:
            time.sleep(60)
    return os.getpid()


def loops():
    import signal

    signal.alarm(0)
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64))
    while True:
        pass


@pytest.mark.skipif(sys.platform != "linux", reason="orphans come back on Linux alone")
def test_nothing_is_left_after_success_failure_limit_and_daemons(own_tmp, monkeypatch):
    monkeypatch.setattr(apart, "LONGEST", 1)
    before = state()
    for fn in (leaves_a_daemon, raises, dies, loops, kills_its_parent, leaves_a_file):
        with suppress(RuntimeError):
            call_in_child(fn)
        assert state() == before, fn.__name__


def interrupted(call, moments, seed):
    """Interrupt `call` at random moments; see each time that nothing is left."""
    random, came, before = Random(seed), 0, state()
    for _ in range(moments):
        timer = threading.Timer(random.uniform(0, 0.5), os.kill, (os.getpid(), signal.SIGINT))
        try:
            timer.start()
            call()
            timer.join()
            time.sleep(0.01)
        except KeyboardInterrupt:
            came += 1
        finally:
            timer.join()
        assert state() == before
    return came


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_an_interrupt_at_any_moment_leaves_nothing(own_tmp):
    def call():
        with suppress(RuntimeError):
            call_in_child(waits)

    assert interrupted(call, 12, seed=11) == 12


KERNEL = """
from helpers.capture.processes.call import call_in_child
from tests.capture.test_apart import loops
call_in_child(loops)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_child_ends_with_a_kernel_that_is_killed(own_tmp):
    kernel = psutil.Popen([sys.executable, "-c", KERNEL])
    until = time.monotonic() + 60
    while len(family := kernel.children(recursive=True)) < 2 and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(0.5)
    family = kernel.children(recursive=True)
    kernel.kill()
    kernel.wait()
    assert len(family) == 2 and not psutil.wait_procs(family, timeout=60)[1]
    assert os.listdir(os.environ["TMPDIR"]) == []


def writes_to_its_home():
    import os
    from pathlib import Path

    Path("~/left").expanduser().write_text("here")
    return [str(Path.home()), os.environ["XDG_CACHE_HOME"]]


def has_the_cache_of(name):
    import os

    return os.environ[name]


def test_home_of_a_child_goes_with_its_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    home, cache = call_in_child(writes_to_its_home)
    assert not os.path.lexists(home) and not list(tmp_path.iterdir())
    assert cache == str(tmp_path / ".cache")


def test_caches_of_a_child_stay_where_they_are(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert call_in_child(has_the_cache_of, "XDG_CACHE_HOME") == str(tmp_path)


@pytest.mark.parametrize("home", ["", "relative"])
def test_child_bears_a_home_that_is_none(home, monkeypatch):
    monkeypatch.setenv("HOME", home)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert call_in_child(adds, 1, 2)["sum"] == 3


SAME_FOLDER = """import os
print(os.path.dirname(os.getcwd()) == os.path.dirname(os.path.expanduser("~")))"""


def test_plain_child_has_a_home_too():
    assert watch_in_child(SAME_FOLDER, imports="").model.runs[0].printed == "True"


def test_interpreter_that_finds_no_modules_of_its_own_is_one_sentence(monkeypatch):
    monkeypatch.setattr(preloaded, "_PARENTS", {})
    monkeypatch.setenv("PYTHONHOME", "/nowhere")
    for call in (lambda: call_in_child(adds, 1, 2), lambda: watch_in_child("print(1)", imports="")):
        with pytest.raises(RuntimeError, match="no interpreter starts .*PYTHONHOME is '/nowhere'"):
            call()
    if preloaded.CAN_FORK:
        with pytest.raises(RuntimeError, match="ended before .*PYTHONHOME is '/nowhere'"):
            watch_in_child("print(1)")


def test_working_folder_that_is_gone_is_not_needed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    tmp_path.rmdir()
    assert call_in_child(adds, 1, 2)["sum"] == 3


def test_a_name_of_the_notebook_is_said_to_be_out_of_sight():
    with pytest.raises(RuntimeError, match="name 'SAME_FOLDER' is not defined, for it sees no"):
        call_in_child(uses_a_name_of_the_notebook)


def uses_a_name_of_the_notebook():
    return SAME_FOLDER
