"""A call is made once under all recorders, and its record has the counts of each owner."""

import functools
import sys
import types

import pytest

from helpers.capture.frameworks import journey_call
from helpers.capture.frameworks.journey_call import record_call
from helpers.capture.frameworks.journey_record import AUTOGRAPH, DYNAMO, YOU, CacheCounts

RATE = 3


def add(left, right=1):
    return left + right


def loops(count):
    total = 0
    for number in range(count):
        total += add(number) * RATE
    print("total", total)
    return len([total])


def fails():
    raise KeyError("gone")


def record(fn, *args, **kwargs):
    function = fn if type(fn) is types.FunctionType else getattr(fn, "__wrapped__", None)
    return record_call(fn, args, kwargs, function)


def test_a_plain_call_is_counted():
    call = record(loops, 3)
    assert call.has_globals
    assert call.library == ""
    assert call.frames == {YOU: 4}
    assert call.traced_frames.total() == 0
    assert call.distinct_lines == {YOU: 6}
    assert call.lines == {YOU: 13}
    assert call.operators[YOU] == 9
    assert DYNAMO not in call.operators
    assert call.names["RATE"] == 3
    assert call.values_by_name["RATE"] == RATE
    assert call.values_by_name["len"] is KeyError
    assert call.own_c_calls["builtins", "len"] == 1
    assert call.printed == "total 18\n"
    assert (call.outcome, call.is_interrupted, call.key, call.ops) == ("", False, "", ())
    assert (call.tf_function_calls, call.traces, call.nodes, call.new_dynamo_codes) == (0, 0, 0, 0)
    assert call.event_count > 0
    assert {loops.__code__, add.__code__} == set(call.codes.values())


def test_an_error_is_in_the_record():
    call = record(fails)
    assert "KeyError" in call.outcome
    assert not call.is_interrupted
    assert call.frames == {YOU: 1}


def test_keyword_arguments_reach_the_function():
    call = record(add, 1, right=2)
    assert call.outcome == ""


def test_a_function_of_c_has_no_globals_of_the_learner():
    call = record(len, [])
    assert not call.has_globals
    assert call.frames.total() == 0


def test_the_recorders_came_to_a_plain_end():
    end = record(add, 1).end
    assert (end.fault, end.stopped_after, end.set_aside) == ("", 0, "")
    assert not end.is_profiler_replaced and not end.is_tracer_replaced
    assert not end.is_profiler_heard and not end.is_profiler_found and not end.is_stopped


@functools.cache
def cached(value):
    return inner(value)


@functools.cache
def inner(value):
    return value


def clears():
    inner.cache_clear()
    inner(1)
    inner(1)


def test_answers_of_caches_are_counted_for_the_called_and_for_the_inner_ones():
    cached.cache_clear()
    inner.cache_clear()
    assert record(cached, 1).caches == CacheCounts(True, 0, 1, 0, 1, False)
    assert record(cached, 1).caches == CacheCounts(True, 1, 0, 0, 0, False)
    assert record(inner, 1).caches == CacheCounts(True, 1, 0, 0, 0, False)
    assert record(add, 1).caches == CacheCounts(False, 0, 0, 0, 0, False)


def test_a_cache_that_is_cleared_counts_no_less_than_zero():
    for value in range(5):
        inner(value)
        inner(value)
    caches = record(clears).caches
    assert caches.is_cleared
    assert (caches.inner_hits, caches.inner_misses) == (0, 0)


class Model:
    """A learner's class with a method of a framework's."""


@pytest.fixture
def framework_method():
    space = {"__name__": "keras.src.models.model"}
    exec("def fit(self): return 5", space)
    return space["fit"]


def test_the_method_of_a_framework_counts_for_the_class_of_the_learner(framework_method):
    bound = types.MethodType(framework_method, Model())
    assert record_call(bound, (), {}, framework_method).has_globals
    assert not record_call(framework_method, (None,), {}, framework_method).has_globals


def test_the_method_of_a_framework_s_own_class_is_not_the_learner_s(framework_method):
    own_class = type("Model", (), {"__module__": "keras.src.models.model"})
    bound = types.MethodType(framework_method, own_class())
    assert not record_call(bound, (), {}, framework_method).has_globals


def test_a_class_whose_module_is_gone_has_no_globals(framework_method):
    lost_class = type("Model", (), {"__module__": "no_such_module"})
    bound = types.MethodType(framework_method, lost_class())
    assert not record_call(bound, (), {}, framework_method).has_globals


def test_code_counts_for_who_wrote_its_bytecode():
    def make_code(file):
        return compile("1", file, "exec")

    codes = {
        1: make_code("cell.py"),
        2: make_code("__autograph_generated_file12.py"),
        3: make_code("__autograph_generated_file34.py"),
    }
    recorder = types.SimpleNamespace(codes=codes)
    counts = journey_call._count_by_owner({1: 2, 2: 3, 3: 10, 9: 5}, recorder, {3})
    assert counts == {YOU: 7, AUTOGRAPH: 3, DYNAMO: 10}


def test_a_tracer_of_the_program_is_as_before():
    tracers = sys.gettrace(), sys.getprofile()
    record(loops, 1)
    assert (sys.gettrace(), sys.getprofile()) == tracers
