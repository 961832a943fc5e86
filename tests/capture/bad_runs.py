"""Run in a bare child by test_stack.py: functions that could harm the kernel that watches them."""

import json
import sys

from helpers.capture.cpython.frame_timeline import record_frames
from helpers.capture.cpython.stack_run import record_stack_run


def endless_recursion(n=0):
    return endless_recursion(n + 1)


def leaves():
    print("bye")
    sys.exit(3)


def switches_tracing_off():
    a = 1
    sys.settrace(None)
    return a + 1


def own_tracer(*found):
    return None


def replaces_the_tracer():
    sys.settrace(own_tracer)
    return [1]


def runs_long():
    n = 0
    while n < 200_000:
        n += 1
    return n


RUNS = (endless_recursion, leaves, switches_tracing_off, replaces_the_tracer, runs_long)


def watch(fn):
    """Return what watching it says, and whether the tracer is as after a plain run."""
    run = record_stack_run(fn)
    frames = record_frames(fn)
    expected = own_tracer if fn is replaces_the_tracer else None
    is_as_plain = sys.gettrace() is expected
    sys.settrace(None)
    return {
        "outcome": run.outcome, "note": run.note, "steps": len(run.steps),
        "recorded": run.recorded, "frames": frames.note, "real": run.real,
        "tracer": is_as_plain, "printed": "".join(s.printed for s in run.steps),
    }  # fmt: skip


def main():
    """Print every finding as JSON."""
    print(json.dumps({fn.__name__: watch(fn) for fn in RUNS}))
