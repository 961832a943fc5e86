"""helpers/capture/cpython/settrace.py: what a call prints and how it ends under a tracer."""

import sys

import pytest

from helpers.capture.cpython import settrace
from helpers.capture.cpython.settrace import MOST_PRINTED, TAIL, Printed, call_traced, run_to_end
from helpers.capture.cpython.unwrapping import find_watched_function


def trace_nothing(frame, event, argument):
    return None


def end_of(fn, *args, enough=lambda: False, tracer=trace_nothing):
    """Return the result of a call under a tracer; what a verb would raise again is not raised."""
    watched = find_watched_function(fn, "verb", args)
    return call_traced(tracer, Printed(), watched, args, {}, enough)


def test_of_what_is_printed_the_beginning_and_the_end_are_kept():
    printed = Printed()
    assert printed.write("ab") == 2 and printed.text() == "ab" and printed.note == ""
    assert printed.write("c" * MOST_PRINTED) == MOST_PRINTED
    assert printed.write("the end") == len("the end")
    assert printed.size == len(printed.text()) == MOST_PRINTED
    assert printed.text(3) == "abc" and printed.total == MOST_PRINTED + 9
    assert len(printed.tail) == TAIL and printed.tail.endswith("cthe end")
    assert f"{MOST_PRINTED:,}" in printed.note


def test_a_result_says_what_the_call_returned_or_raised():
    returned = end_of(lambda: 3)
    assert (returned.words, returned.kind, returned.raised) == ("3", "int", False)
    raised = end_of(lambda: 1 // 0)
    assert (raised.kind, raised.raised) == ("ZeroDivisionError", True)
    assert not returned.lost and not raised.lost


def test_the_functions_own_generator_is_run_and_another_is_not():
    def own():
        yield 1
        return 2

    def passes_on(generator):
        return generator

    result = end_of(own)
    assert result.is_generator_run and result.words == "2"
    generator = own()
    assert not end_of(passes_on, generator).is_generator_run and next(generator) == 1
    rounds = iter([False, True])
    assert end_of(own, enough=lambda: next(rounds)).is_generator_run and next(rounds, None) is None


def test_a_tracer_of_the_program_stays_and_the_loss_is_told():
    before = sys.gettrace()
    try:
        lost = end_of(lambda: sys.settrace(trace_nothing)).lost
        assert sys.gettrace() is trace_nothing and lost == settrace.TRACER_LOST
    finally:
        sys.settrace(before)

    def breaks(frame, event, argument):
        raise KeyError("ours")

    assert "KeyError" in end_of(lambda: max([1], key=abs), tracer=breaks).lost
    assert sys.gettrace() is before


def test_run_to_end_returns_the_error_and_raises_nothing():
    assert run_to_end(lambda: None) == ""
    assert run_to_end(lambda: 1 // 0).startswith("ZeroDivisionError")
    with pytest.raises(KeyboardInterrupt):  # no verb is running that could show something first
        run_to_end(interrupt)


def interrupt():
    raise KeyboardInterrupt
