"""helpers/internals/frame_tracer.py: events are those of `sys.settrace`, and errors stay inside."""

import sys

import pytest

from helpers.internals.frame_tracer import FrameTracer, StopTracing


def program():
    total = 0
    for number in range(2):
        total += number
    try:
        raise KeyError
    except KeyError:
        return total


def recorder(events):
    """Return a tracer that notes name, event and line of what runs in this file."""

    def trace(frame, event, argument):
        if frame.f_code.co_filename != __file__:
            return None
        events.append((frame.f_code.co_name, event, frame.f_lineno))
        return trace

    return trace


def run_traced(tracer, run=program):
    """Run under a FrameTracer; return it, the result, and what its methods answer."""
    frame_tracer = FrameTracer(tracer)
    frame_tracer.start()
    try:
        result = run()
    finally:
        is_ours = frame_tracer.is_ours()
        if is_ours:
            frame_tracer.put_back()
    return frame_tracer, result, is_ours, frame_tracer.finish()


def test_events_are_those_of_settrace():
    expected, events = [], []
    earlier = sys.gettrace()
    sys.settrace(recorder(expected))
    program()
    sys.settrace(earlier)
    _, result, is_ours, is_untouched = run_traced(recorder(events))
    events = [event for event in events if event[0] == "program"]
    assert events == [event for event in expected if event[0] == "program"] and events
    assert (result, is_ours, is_untouched) == (1, True, True)
    assert sys.gettrace() is earlier


@pytest.mark.parametrize(("error", "is_kept"), [(ValueError, True), (StopTracing, False)])
def test_an_error_in_the_tracer_ends_the_tracing_and_not_the_program(error, is_kept):
    calls = []

    def failing(frame, event, argument):
        calls.append(event)
        raise error

    frame_tracer, result, *_ = run_traced(failing)
    assert result == 1 and len(calls) == 1
    assert (type(frame_tracer.error) is error) == is_kept


def test_a_tracer_that_the_program_sets_stays():
    def own(frame, event, argument):
        return None

    earlier = sys.gettrace()
    try:
        _, _, is_ours, is_untouched = run_traced(recorder([]), lambda: sys.settrace(own))
        assert not is_ours and not is_untouched
        assert sys.gettrace() is own
    finally:
        sys.settrace(earlier)


def test_the_program_does_not_find_the_tracer():
    earlier = sys.gettrace()
    _, found, *_ = run_traced(recorder([]), sys.gettrace)
    assert found is earlier


def test_a_frame_that_is_not_traced_has_its_lines_switched_on_again():
    frames = []

    def runs():
        frames.append(sys._getframe())
        return frames[0].f_trace_lines

    _, during, *_ = run_traced(lambda *event: None, runs)
    assert (during, frames[0].f_trace_lines) == (False, True)
