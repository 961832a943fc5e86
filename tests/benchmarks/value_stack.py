"""How fast the stack is recorded, as ratios in one run.

The unit is an opcode tracer that writes down what Python offers by itself: the offset and the
locals, in the same safe words. The record holds these, and the value stack on top of them.
"""

import gc
import sys
from time import process_time

import pytest

from helpers.capture import recorder
from helpers.capture.brief import brief
from helpers.capture.stack import record

ROUNDS = 3
ENOUGH = 0.5


def work(n):
    total, found = 0, []
    for i in range(n):
        total += i * 2
        if i % 3:
            found = [i, total]
    return total, found


def bare(fn, *args, note):
    """Run under an opcode tracer; return how many instructions it saw."""
    seen, code = [], fn.__code__

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
        fn(*args)
    finally:
        sys.settrace(before)
        own.f_trace_opcodes = False
    return len(seen)


def offset_only(frame):
    return frame.f_lasti


def offset_and_locals(frame):
    return frame.f_lasti, {name: brief(value) for name, value in frame.f_locals.items()}


def speed(run):
    """Return instructions per second of CPU time, the best of a few rounds."""
    best = 0.0
    for _ in range(ROUNDS):
        gc.collect()
        start = process_time()
        count = run()
        best = max(best, count / (process_time() - start))
    return best


def test_recording_the_stack_is_at_least_half_as_fast_as_noting_the_locals(monkeypatch, request):
    if request.config.getoption("benchmark_disable", False):
        pytest.skip("benchmarks are switched off")
    monkeypatch.setattr(recorder, "MOST_EVENTS", 10**9)
    n = 1500
    noted = speed(lambda: bare(work, n, note=offset_and_locals))
    empty = speed(lambda: bare(work, n, note=offset_only))
    ours = speed(lambda: record(work, (n,)).events)
    whole = speed(lambda: len(record(work, (n,), fold=False, most=10**9).moments))
    said = f"with the stack {ours / noted:.2f} and {ours / empty:.2f}, unfolded {whole / noted:.2f}"
    print(f"of a tracer that notes the locals, and of one that notes the offset: {said}")
    assert ours >= ENOUGH * noted and whole >= ENOUGH * noted
