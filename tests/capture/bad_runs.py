"""Run in a bare child by test_stack.py: functions that could harm the kernel that watches them."""

import json
import sys

from helpers.capture.cpython.frame_timeline import frames_timeline
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


def with_locals(a=1, b=2):
    c = [a, b]
    return c


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
    for field in ("code", "localsplus", "stacktop", "frame_object"):
        wrong = {**vars(right), field: getattr(right, field) + 8}
        interpreter_frame.LAYOUTS[sys.version_info[:2]] = interpreter_frame.Layout(**wrong)
        interpreter_frame.doubt.cache_clear()
        run = stack_run(inner_traced)
        notes[field] = [run.real, run.note, run.steps[1].stack]
    interpreter_frame.LAYOUTS[sys.version_info[:2]] = right
    interpreter_frame.doubt.cache_clear()
    return notes


def with_wrong_depths():
    """A code object whose depth disagrees with CPython's own pointer is recomputed."""
    from helpers.capture.cpython import opcode_recorder

    class Off(opcode_recorder.Tables):
        def __init__(self, *found):
            super().__init__(*found)
            self.slots = {offset: max(n - 1, 0) for offset, n in self.slots.items()}

    kept, opcode_recorder.Tables = opcode_recorder.Tables, Off
    run = stack_run(with_locals)
    opcode_recorder.Tables = kept
    return [run.real, run.note, run.outcome]


def with_a_debugger():
    """A tracer that is set goes on after the run, here and in the frames above."""
    events = []

    def debugger(frame, event, argument):
        if frame.f_code is inner_traced.__code__:
            events.append(event)
            return debugger
        return None

    sys.settrace(debugger)
    stack_run(inner_traced)
    kept = sys.gettrace() is debugger
    inner_traced()
    sys.settrace(None)
    return {"kept": kept, "events": events}


def main():
    """Print every finding as JSON."""
    found = {fn.__name__: watch(fn) for fn in RUNS}
    found["wrong layout"], found["debugger"] = with_a_wrong_layout(), with_a_debugger()
    found["wrong depths"] = with_wrong_depths()
    print(json.dumps(found))
