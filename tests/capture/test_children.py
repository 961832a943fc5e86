"""What may kill runs in a child: its transcript is true, the same twice, and names no place."""

import json
import re
import subprocess
import sys
from functools import cache

import psutil
import pytest

from helpers import watch_child
from helpers.capture import children
from helpers.capture.children import plain, run_child
from helpers.capture.portable import portable
from helpers.model.transcript import Transcript

pytest.importorskip("tensorflow")

TIMES = 2
LIGHT = "import json as tf"  # there at once


def one(what):
    return watch_child(what).model.runs[0]


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
    assert run_child("while True: pass", seconds=1)["code"] == -14
    assert Transcript("", "", "", "", -14).ending == "it did not end in time, and was stopped"


def test_a_child_leaves_nothing_to_the_next():
    one("import json; json.marked = tf.marked = 1; x = 5")
    assert one("print('x' in globals(), hasattr(tf, 'marked'))").printed == "False False"


def test_a_flood_is_cut():
    flood = run_child("print('x' * 10**6); print('the end')")["printed"]
    assert len(flood) <= 20_010 and flood.endswith("the end\n")
    assert max(map(len, one("print('x' * 10**5)").printed.split("\n"))) <= 400


@pytest.mark.skipif(not children.CAN_FORK, reason="children are started anew here")
def test_a_killed_parent_is_replaced(monkeypatch):
    monkeypatch.setattr(children, "PREAMBLE", LIGHT)
    monkeypatch.setattr(children, "_parent", cache(children._Parent))
    assert one("print('once')").printed == "once"
    children._parent()._process.kill()
    assert one("print('again')").printed == "again"


def test_where_nothing_forks_a_child_is_started(monkeypatch):
    monkeypatch.setattr(children, "CAN_FORK", False)
    monkeypatch.setattr(children, "PREAMBLE", LIGHT)
    assert one("print('new')").printed == "new" and one(raises).error.startswith("ValueError: ")
    assert one("import os; os.abort()").code == -6
    assert run_child("while True: pass", seconds=1)["code"] == -15


def test_the_parent_ends_with_whoever_asked():
    source = (
        f"from helpers.capture import children; children.PREAMBLE = {LIGHT!r};"
        "children.run_child(''); print(children._parent()._process.pid)"
    )
    command = [sys.executable, "-c", source]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    pid = int(done.stdout)
    left = [psutil.Process(pid)] if psutil.pid_exists(pid) else []
    assert not psutil.wait_procs(left, timeout=30)[1]


@pytest.mark.parametrize("bad", [3, None, len, lambda: 1, "".join, int])
def test_what_is_no_function_is_named(bad):
    with pytest.raises(TypeError, match="no function made by def|a child runs a function or"):
        watch_child(bad)


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
    assert not re.search(r"0x[0-9a-f]{6,}|/home/|/tmp/", repr(watch_child(raises)))


def test_it_is_the_same_twice():
    assert watch_child(uses_its_neighbours).model == watch_child(uses_its_neighbours).model


def test_a_run_is_found_by_its_label():
    runs = watch_child(raises, "1").model
    assert runs.of("raises()").code == 1
    with pytest.raises(KeyError, match="'other'; there are raises()"):
        runs.of("other")
