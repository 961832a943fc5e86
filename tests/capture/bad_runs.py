"""Run in a bare child by test_stack.py: functions that could harm the kernel that watches them."""

import json
import sys
import threading
import time

from helpers.capture.cpython.frame_timeline import frames_timeline
from helpers.capture.cpython.stack_run import stack_run
from helpers.capture.text import value as brief
from helpers.internals import interpreter_frame


class Hostile:
    def __repr__(self):
        raise RuntimeError("repr")

    __eq__ = __bool__ = __len__ = __hash__ = __iter__ = __str__ = __format__ = __repr__

    def __getattribute__(self, name):
        raise RuntimeError("getattribute")


class Blocking:
    def __repr__(self):
        time.sleep(3600)
        return "woke up"


class Liar(list):
    def __len__(self):
        return 10**9

    def __iter__(self):
        while True:
            yield 1


def hostile():
    a, b, c, d = Hostile(), Blocking(), Liar([1]), "x" * 2_000_000
    held = [a, b, c, d, list(range(1_000_000)), {1: a}, 10**5000]
    held.append(held)
    return held


def endless_recursion(n=0):
    return endless_recursion(n + 1)


def caught_recursion():
    try:
        return endless_recursion()
    except RecursionError as error:
        return "caught"


def deep(n):
    return deep_c([n - 1]) if n else 0


def deep_c(items):
    return max(map(deep, items))


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


def traces_within():
    return len(stack_run(inner_traced).steps)


def inner_traced():
    return 1 + len("ab")


def with_locals(a=1, b=2):
    c = [a, b]
    return c


def starts_threads():
    found = []
    workers = [threading.Thread(target=found.append, args=(n,)) for n in range(4)]
    [w.start() for w in workers], [w.join() for w in workers]
    return sorted(found)


def asks():
    return input("name? ")


def runs_long():
    n = 0
    while n < 200_000:
        n += 1
    return n


def nests():
    n = 0
    for i in range(60):
        for j in range(60):
            n += j
    return n


def changes_its_locals():
    sys._getframe().f_locals["x"] = 2
    x = 1
    return x


def raises_own():
    class Own(BaseException):
        def __str__(self):
            raise RuntimeError

    raise Own(Hostile())


def deletes():
    class Noisy:
        def __del__(self):
            log.append(len(log))

    log = []
    for _ in range(3):
        Noisy()
    return log


RUNS = (hostile, endless_recursion, caught_recursion, leaves, switches_tracing_off)
RUNS += (replaces_the_tracer, traces_within, starts_threads, asks, runs_long, nests)
RUNS += (changes_its_locals, raises_own, deletes)


def watch(fn):
    """Return what watching it says, and whether the tracer is as before."""
    run = stack_run(fn)
    frames = frames_timeline(fn) if fn is not asks else run
    widest = max((len(s) for step in run.steps for s in step.stack), default=0)
    return {
        "outcome": run.outcome, "note": run.note, "steps": len(run.steps), "widest": widest,
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
    found["long words"] = max(len(brief.brief(value)) for value in hostile())
    print(json.dumps(found))
