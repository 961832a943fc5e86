"""The record of a call gets the words of its kind; no framework runs here, only records."""

import math
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import pytest

from helpers.capture.frameworks import journey_stations
from helpers.capture.frameworks.journey_record import (
    AUTOGRAPH,
    DYNAMO,
    YOU,
    CacheCounts,
    CallRecord,
    RecordedOp,
    RecorderEnd,
)
from helpers.capture.frameworks.journey_sentences import (
    describe_lines,
    describe_runner,
)
from helpers.capture.frameworks.journey_stations import count_c_calls, list_stops
from helpers.model.journey_records import Passage

END = RecorderEnd("", 0, False, None, False, False, False, False, None, "")
NO_CACHE = CacheCounts(False, 0, 0, 0, 0, False)
NOTHING = CallRecord(
    has_globals=True,
    library="",
    codes={},
    frames=Counter(),
    traced_frames=Counter(),
    lines=Counter(),
    distinct_lines=Counter(),
    operators=Counter(),
    names=Counter(),
    values_by_name={},
    other_frames=Counter(),
    c_calls=Counter(),
    own_c_calls=Counter(),
    evaluators=frozenset(),
    tf_function_calls=0,
    traces=0,
    nodes=0,
    new_dynamo_codes=0,
    caches=NO_CACHE,
    key="",
    ops=(),
    outcome="",
    printed="",
    is_interrupted=False,
    event_count=0,
    end=END,
)
PLAIN = replace(
    NOTHING,
    frames=Counter({YOU: 2}),
    lines=Counter({YOU: 5}),
    distinct_lines=Counter({YOU: 3}),
    operators=Counter({YOU: 4}),
    names=Counter({"len": 2, "RATE": 1}),
    values_by_name={"len": KeyError, "RATE": 2.0},
    c_calls=Counter({("builtins", "len"): 3}),
    own_c_calls=Counter({("builtins", "len"): 2}),
)
GRAPH = RecordedOp("__inference_step_12", "CPU, float32")
TRACED = replace(
    NOTHING,
    frames=Counter({AUTOGRAPH: 1}),
    other_frames=Counter({"tensorflow": 1500, "keras": 3}),
    tf_function_calls=1,
    traces=1,
    nodes=4,
    key="(float32 (2, 2))",
    ops=(GRAPH,),
)
COMPILED = replace(
    NOTHING,
    frames=Counter({DYNAMO: 1}),
    evaluators=frozenset({1}),
    new_dynamo_codes=1,
    ops=(RecordedOp("aten.mm", "cpu, float32"), RecordedOp("aten.add", "cuda, float32")),
)
CALLS = {
    "nothing": NOTHING,
    "plain": PLAIN,
    "of a library": replace(PLAIN, library="textwrap"),
    "traced": TRACED,
    "graph found": replace(TRACED, frames=Counter(), traces=0, nodes=0),
    "translated": COMPILED,
    "entry found": replace(COMPILED, new_dynamo_codes=0),
    "cached": replace(NOTHING, caches=CacheCounts(True, 1, 0, 0, 0, False)),
    "inner caches": replace(PLAIN, caches=CacheCounts(False, 0, 0, 3, 1, True)),
    "no function of yours": replace(NOTHING, has_globals=False),
    "no names": replace(PLAIN, names=Counter()),
    "many names of Dynamo's": replace(
        PLAIN,
        names=Counter(
            {"__compiled_fn_1_ab": 1, "__compiled_fn_2": 1, "__import_torch": 3, "add": 1, "f": 1}
            | {"max": 1}
        ),
        values_by_name={"__import_torch": math, "add": max, "max": max, "f": 2.5},
    ),
    "no answer": replace(NOTHING, caches=CacheCounts(True, 0, 1, 0, 0, False)),
    "several answers": replace(NOTHING, caches=CacheCounts(True, 2, 1, 0, 0, False)),
    "no answer of inner caches": replace(NOTHING, caches=CacheCounts(False, 0, 0, 0, 2, False)),
    "a cleared cache": replace(NOTHING, caches=CacheCounts(False, 0, 0, 0, 0, True)),
    "a cleared called cache": replace(NOTHING, caches=CacheCounts(True, 0, 1, 0, 0, True)),
    "several tf.functions": replace(TRACED, tf_function_calls=2),
    "several traces": replace(TRACED, traces=2, key=""),
    "several calls and no trace": replace(TRACED, tf_function_calls=3, traces=0),
    "a trace without a call": replace(TRACED, tf_function_calls=0),
    "a key without a graph": replace(TRACED, traces=0, ops=()),
    "a graph of a call that raised": replace(TRACED, traces=0, outcome="ValueError: no"),
    "both AutoGraph and yours": replace(
        TRACED, frames=Counter({AUTOGRAPH: 2, YOU: 1}), lines=Counter({YOU: 1})
    ),
    "a few frames of libraries": replace(
        PLAIN, other_frames=Counter({"torch": 200, "numpy": 3}), operators=Counter()
    ),
    "hundreds of frames": replace(PLAIN, other_frames=Counter({"numpy": 201})),
    "millions of frames": replace(NOTHING, other_frames=Counter({"keras": 10**6})),
    "evaluators of others": replace(PLAIN, evaluators=frozenset({1, 2, 3})),
    "an evaluator and no frame": replace(NOTHING, evaluators=frozenset({1})),
    "an evaluator that lets it run": replace(PLAIN, evaluators=frozenset({1})),
    "CPython's evaluator": replace(PLAIN, evaluators=frozenset({2})),
    "two kernels": replace(
        NOTHING,
        nodes=1,
        ops=(
            RecordedOp("MatMul", "CPU, float32"),
            RecordedOp("MatMul", "CPU, float32"),
            RecordedOp("Shape", ""),
            RecordedOp("__forward_step_3", "GPU, half"),
        ),
    ),
    "nodes and no op": replace(NOTHING, nodes=2),
    "entry points first": replace(
        NOTHING,
        operators=Counter({YOU: 1}),
        c_calls=Counter(
            {
                ("numpy", "numpy.dot"): 250,
                ("builtins", "len"): 1,
                ("tensorflow", "TFE_Py_Execute"): 2,
                ("tensorflow", "TFE_Py_FastPathExecute"): 1,
            }
        ),
        own_c_calls=Counter({("builtins", "len"): 1, ("tensorflow", "TFE_Py_Execute"): 1}),
    ),
    "only calls of frameworks": replace(NOTHING, c_calls=Counter({("torch", "torch.add"): 200})),
    "a cache in C": replace(NOTHING, caches=CacheCounts(False, 0, 0, 1, 0, False)),
}
PASSED = {
    "nothing": (),
    "plain": ("name", "frame", "C call"),
    "of a library": ("name", "frame", "C call"),
    "traced": ("cache key", "frame", "registry"),
    "graph found": ("cache key", "registry"),
    "translated": ("frame", "evaluator", "registry"),
    "entry found": ("frame", "evaluator", "registry"),
    "cached": ("cache key",),
    "inner caches": ("name", "cache key", "frame", "C call"),
    "no function of yours": (),
    "no names": ("frame", "C call"),
    "many names of Dynamo's": ("name", "frame", "C call"),
    "no answer": ("cache key",),
    "several answers": ("cache key",),
    "no answer of inner caches": ("cache key",),
    "a cleared cache": (),
    "a cleared called cache": ("cache key",),
    "several tf.functions": ("cache key", "frame", "registry"),
    "several traces": ("cache key", "frame", "registry"),
    "several calls and no trace": ("cache key", "frame", "registry"),
    "a trace without a call": ("cache key", "frame", "registry"),
    "a key without a graph": ("cache key", "frame"),
    "a graph of a call that raised": ("cache key", "frame", "registry"),
    "both AutoGraph and yours": ("cache key", "frame", "registry"),
    "a few frames of libraries": ("name", "frame", "C call"),
    "hundreds of frames": ("name", "frame", "C call"),
    "millions of frames": (),
    "evaluators of others": ("name", "frame", "evaluator", "C call"),
    "an evaluator and no frame": ("evaluator",),
    "an evaluator that lets it run": ("name", "frame", "evaluator", "C call"),
    "CPython's evaluator": ("name", "frame", "C call"),
    "two kernels": ("registry",),
    "nodes and no op": (),
    "entry points first": ("C call",),
    "only calls of frameworks": ("C call",),
    "a cache in C": ("cache key",),
}


@pytest.fixture(autouse=True)
def without_frameworks(monkeypatch):
    """Answer what the stations ask TensorFlow and the slot of the evaluator."""
    owners = {1: "torch", 2: "CPython: ceval.c", 3: "debugger"}
    evaluators = {number: SimpleNamespace(owner=owner) for number, owner in owners.items()}
    monkeypatch.setattr(journey_stations.frame_hook, "evaluator_at", evaluators.__getitem__)
    monkeypatch.setattr(journey_stations, "list_graph_ops", lambda name: ("MatMul", "Relu"))


@pytest.mark.parametrize("kind", CALLS)
def test_a_call_passes_the_stations_of_its_kind(kind, snapshot):
    record = CALLS[kind]
    passage = Passage(list_stops(record))
    assert passage.passed == PASSED[kind]
    words = {stop.station: (stop.brief, stop.words) for stop in passage.stops}
    assert {**words, "lines": describe_lines(record), "ran": describe_runner(record)} == snapshot


ENDS = {
    "the profiler was replaced": (replace(END, is_profiler_replaced=True), {2, 3, 4, 6}),
    "the tracer was replaced": (replace(END, is_tracer_replaced=True), {1, 3}),
    "the profiler stopped": (replace(END, stopped_after=10), {2, 3, 4, 6}),
}


@pytest.mark.parametrize("how", ENDS)
def test_only_the_stations_of_a_recorder_that_ended_early_are_unknown(how):
    end, unknown = ENDS[how]
    for record in (NOTHING, PLAIN, COMPILED):
        stops = list_stops(replace(record, end=end))
        assert {stop.station for stop in stops if stop.words.endswith("not known")} == unknown
        for stop, known in zip(stops, list_stops(record), strict=True):
            assert stop.passed == known.passed
            if stop.station in unknown and not stop.passed:
                assert stop.brief == "not known"


def test_calls_of_c_count_if_a_framework_s_or_made_by_the_learner():
    c_calls = {("torch", "torch.add"): 7, ("builtins", "len"): 3, ("builtins", "max"): 9}
    own = {("torch", "torch.add"): 1, ("builtins", "len"): 2}
    record = replace(NOTHING, c_calls=Counter(c_calls), own_c_calls=Counter(own))
    assert count_c_calls(record) == {"torch.add": 7, "len": 2}
