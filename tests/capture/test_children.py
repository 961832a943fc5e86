"""What runs in a child: its result or transcript is true, the same twice, and names no place."""

import json
import re
import sys

import pytest

from helpers import call_in_child, watch_in_child
from helpers.capture.processes import child
from helpers.capture.processes.child import run_child
from helpers.capture.processes.child_texts import hide_machine
from helpers.capture.processes.portable_source import build_portable_source
from helpers.model.transcripts import Transcript

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


def test_a_function_takes_what_it_uses_along_and_it_is_the_same_twice():
    assert one(uses_its_neighbours).printed == '{"doubled": 42} True'
    assert watch_in_child(uses_its_neighbours).model == watch_in_child(uses_its_neighbours).model


def test_an_exception_is_a_line_and_an_exit_code():
    run = one(raises)
    assert run.error == "ValueError: no such pkg/place" and run.code == 1 and run.lived
    assert run.ending == "exit code 1"


@pytest.mark.parametrize(
    ("source", "code", "printed"),
    [
        ("print('one', flush=True); import os; os.abort()", -6, "one"),
        ("import sys; sys.stdin.read(); print('no input')", 0, "no input"),
        ("def f(", 1, ""),
    ],
)
@pytest.mark.parametrize("imports", [None, ""])
def test_however_it_ends_is_told(monkeypatch, source, code, printed, imports):
    monkeypatch.setattr(child, "PREAMBLE", LIGHT)
    run = watch_in_child(source, imports=imports).model.runs[0]
    assert (run.code, run.printed) == (code, printed)


def test_what_does_not_end_is_stopped():
    assert run_child("while True: pass", seconds=1)["cut"] == "late"
    late = Transcript("", "", "", "", -9, "late")
    assert "60 s" in late.ending and not late.lived


def test_a_child_leaves_nothing_to_the_next():
    one("import json; json.marked = tf.marked = 1; x = 5; open('file', 'w').close()")
    asked = "import os; print('x' in globals(), hasattr(tf, 'marked'), os.listdir())"
    assert one(asked).printed == "False False []"


@pytest.mark.parametrize("bad", [3, None, len, lambda: 1, "".join, int])
def test_what_is_no_function_is_named(bad, refused):
    refused(TypeError, "function", watch_in_child, bad)


def test_transcripts_hold_no_address_place_or_host():
    words = hide_machine(f"<f at 0x7fe640bb38c0> in {sys.prefix}/lib/site-packages/x.py on a\ttab")
    assert words == "<f> in x.py on a    tab"
    unknown = one(
        "tf.raw_ops.Neg; from tensorflow.python.eager import context, execute\n"
        "execute.execute('Negg', 1, [], (), context.context())"
    )
    assert "this machine. " in unknown.error
    assert not re.search(r"0x[0-9a-f]{6,}|/home/|/tmp/", repr(watch_in_child(raises)))


def adds(a, b):
    print("no result")
    return {"sum": a + b, "numpy": "numpy" in sys.modules}  # noqa: F821


def adds_with_its_import(a, b):
    import sys

    print("no result")
    return {"sum": a + b, "numpy": "numpy" in sys.modules}


def test_result_comes_back_from_another_interpreter(refused):
    assert call_in_child(adds_with_its_import, 1, 2) == {"sum": 3, "numpy": False}
    refused(RuntimeError, "'sys' is not defined.*notebook", call_in_child, adds, 1, 2)


def gives_a_set():
    return {1}


@pytest.mark.parametrize(
    ("fn", "error", "says"),
    [
        (raises, RuntimeError, "raises .*ValueError: no such"),
        (gives_a_set, TypeError, "gives_a_set .* set"),
        (lambda: 1, TypeError, "lambda"),
        (print, TypeError, "print"),
    ],
)
def test_what_gives_no_result_is_one_sentence(fn, error, says, refused):
    refused(error, says, call_in_child, fn)


def test_what_cannot_travel_or_has_no_source_is_refused(refused):
    space, held = {}, 5
    exec("def typed(): pass", space)

    def closes():
        return held

    refused(TypeError, "source of typed", call_in_child, space["typed"])
    refused(TypeError, "closes .*held", call_in_child, closes)
    refused(ValueError, "source of typed", build_portable_source, space["typed"])
    refused(TypeError, "call_in_child .*object", call_in_child, adds, object(), 1)


def waits():
    import threading

    threading.Event().wait()


def test_a_function_that_never_ends_is_stopped(monkeypatch, refused):
    monkeypatch.setattr(child, "SECONDS_OF_A_CALL", 1)
    refused(RuntimeError, "waits .* 1 seconds", call_in_child, waits)
