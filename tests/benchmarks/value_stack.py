"""How fast the value stack is recorded, beside an opcode tracer that writes down what is at hand.

The tracer notes the offset and the locals, in the same safe words. The record holds these, and the
value stack on top of them.
"""

import gc
import sys
from functools import partial

from helpers.capture.cpython import opcode_recorder
from helpers.capture.cpython.stack_run import record
from helpers.capture.text.value import brief
from tests.benchmarks.harness import Goal, prepared

TURNS = 1500
TRACER = "a tracer that notes the locals"


def goals():
    opcode_recorder.MOST_EVENTS = 10**9
    folded = alone(record, work, (TURNS,))
    whole = alone(record, work, (TURNS,), fold=False, most=10**9)
    noted, offsets = alone(traced, locals_too), alone(traced, offset_only)
    yield Goal("the record", folded, TRACER, noted, at_most=2, rounds=9)
    yield Goal("the record, unfolded", whole, TRACER, noted, at_most=2, rounds=9)
    yield Goal("the record", folded, "a tracer that notes the offset", offsets, rounds=9)


def alone(run, *args, **options):
    """Return a side that does not clear up after the one before it."""

    @prepared
    def side():
        gc.collect()
        yield partial(run, *args, **options)

    return side


def work(n):
    total, found = 0, []
    for i in range(n):
        total += i * 2
        if i % 3:
            found = [i, total]
    return total, found


def traced(note):
    """Run under an opcode tracer; return what it noted."""
    seen, code = [], work.__code__

    def tracer(frame, event, argument):
        if frame.f_code is not code:
            return None
        if event == "call":
            frame.f_trace, frame.f_trace_opcodes, frame.f_trace_lines = tracer, True, False
        elif event == "opcode":
            seen.append(note(frame))
        return tracer

    before, own = sys.gettrace(), sys._getframe()
    own.f_trace_opcodes = True
    sys.settrace(tracer)
    try:
        work(TURNS)
    finally:
        sys.settrace(before)
        own.f_trace_opcodes = False
    return seen


def offset_only(frame):
    return frame.f_lasti


def locals_too(frame):
    return frame.f_lasti, {name: brief(value) for name, value in frame.f_locals.items()}
