"""The record of a call gets the words of its kind; no framework runs here, only records."""

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
from helpers.capture.frameworks.journey_sentences import describe_lines, describe_runner
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
}


@pytest.fixture(autouse=True)
def without_frameworks(monkeypatch):
    """Answer what the stations ask TensorFlow and the slot of the evaluator."""
    evaluators = {1: SimpleNamespace(owner="torch"), 2: SimpleNamespace(owner="CPython: ceval.c")}
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
