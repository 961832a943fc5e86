"""helpers/internals/own_profilers.py: our profiler yields to the program's, and leaves no trace."""

import sys

import pytest

from helpers.internals.own_hooks import build_profiler_setter, build_tracer_setter
from helpers.internals.own_profilers import OwnProfilers


@pytest.fixture(autouse=True)
def restored():
    functions = sys.setprofile, sys.getprofile
    earlier = sys.getprofile()
    yield
    sys.setprofile, sys.getprofile = functions
    sys.setprofile(earlier)


def own_profiler(frame, event, argument):
    """Do nothing, as a profiler of the program."""


def record(run):
    """Run under an OwnProfilers; return it, its events, the result, and what `finish` says."""
    events = []
    profilers = OwnProfilers(lambda frame, event, argument: events.append((event, argument)))
    profilers.start()
    try:
        result = run()
    finally:
        is_untouched = profilers.finish()
    return profilers, events, result, is_untouched


def test_calls_are_reported_until_the_end():
    functions = sys.setprofile, sys.getprofile
    profilers, events, result, is_untouched = record(lambda: len("abc"))
    assert result == 3 and ("c_call", len) in events
    assert is_untouched and profilers.replaced_at is None
    assert (sys.setprofile, sys.getprofile) == functions and sys.getprofile() is None


def test_the_program_finds_its_own_profiler_and_not_ours():
    sys.setprofile(own_profiler)
    profilers, events, found, is_untouched = record(lambda: sys.getprofile())
    assert found is own_profiler and is_untouched and profilers.had_own
    assert sys.getprofile() is own_profiler
    assert any(event == "c_call" and argument is sys.getprofile for event, argument in events)


def test_a_profiler_that_the_program_sets_stays_and_is_noted_with_its_line():
    def sets_one():
        sys.setprofile(own_profiler)
        return len("not reported")

    profilers, events, _, is_untouched = record(sets_one)
    assert sys.getprofile() is own_profiler and not is_untouched
    code, line = profilers.replaced_at
    assert code is sets_one.__code__ and line == code.co_firstlineno + 1
    assert ("c_call", len) not in events and not profilers.is_heard


@pytest.mark.parametrize(
    ("build_setter", "read", "set_hook"),
    [
        (build_tracer_setter, sys.gettrace, sys.settrace),
        (build_profiler_setter, sys.getprofile, sys.setprofile),
    ],
    ids=["tracer", "profiler"],
)
def test_a_setter_sets_what_was_set_when_it_was_made(build_setter, read, set_hook):
    earlier = read()
    try:
        set_hook(own_profiler)
        set_again = build_setter()
        set_hook(None)
        set_again()
        assert read() is own_profiler
    finally:
        set_hook(earlier)
