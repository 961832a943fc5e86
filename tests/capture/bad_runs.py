"""Run in a bare child by test_stack.py: functions that could harm the kernel that watches them."""

import json
import sys

from helpers.capture.cpython.frame import frames_timeline
from helpers.capture.cpython.stack_run import stack_run
from helpers.internals import interpreter_frame


def endless_recursion(n=0):
    return endless_recursion(n + 1)


def leaves():
    print("bye")
    sys.exit(3)


def switches_tracing_off():
    a = 1
    sys.settrace(None)
    return a + 1


def replaces_the_tracer():
    sys.settrace(lambda *found: None)
    return [1]


def inner_traced():
    return 1 + len("ab")


def runs_long():
    n = 0
    while n < 200_000:
        n += 1
    return n


RUNS = (endless_recursion, leaves, switches_tracing_off, replaces_the_tracer, runs_long)


def watch(fn):
    """Return what watching it says, and whether the tracer is as before."""
    run = stack_run(fn)
    frames = frames_timeline(fn)
    return {
        "outcome": run.outcome, "note": run.note, "steps": len(run.steps),
        "recorded": run.recorded, "frames": frames.note, "real": run.real,
        "tracer": sys.gettrace() is None, "printed": "".join(s.printed for s in run.steps),
    }  # fmt: skip


def with_a_wrong_layout():
    """A layout that is not the interpreter's is noticed by the self-test, before any reading."""
    right = interpreter_frame.LAYOUTS[sys.version_info[:2]]
    notes = {}
    for field in ("code", "localsplus"):
        wrong = {**vars(right), field: getattr(right, field) + 8}
        interpreter_frame.LAYOUTS[sys.version_info[:2]] = interpreter_frame.Layout(**wrong)
        interpreter_frame.doubt.cache_clear()
        run = stack_run(inner_traced)
        notes[field] = [run.real, run.note, len(run.steps[1].stack)]
    interpreter_frame.LAYOUTS[sys.version_info[:2]] = right
    interpreter_frame.doubt.cache_clear()
    return notes


def main():
    """Print every finding as JSON."""
    found = {fn.__name__: watch(fn) for fn in RUNS}
    found["wrong layout"] = with_a_wrong_layout()
    print(json.dumps(found))
