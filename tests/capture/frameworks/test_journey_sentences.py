"""Whose lines ran, and what the recorders missed, in the sentences of a record."""

from collections import Counter
from dataclasses import replace

import pytest

from helpers.capture.frameworks import journey_sentences, journey_stations
from helpers.capture.frameworks.call_tree import HEARD_NOTE
from helpers.capture.frameworks.journey_record import (
    AUTOGRAPH,
    DYNAMO,
    YOU,
    CacheCounts,
    RecordedOp,
)
from helpers.capture.frameworks.journey_sentences import (
    OPS_HEARD,
    REPLACED,
    STOPPED,
    describe_interrupted_call,
    describe_lines,
    describe_runner,
    list_notes_on_recorders,
)
from tests.capture.frameworks.test_journey_stations import END, NOTHING

OWN = replace(
    NOTHING,
    frames=Counter({YOU: 2}),
    lines=Counter({YOU: 3}),
    distinct_lines=Counter({YOU: 3}),
)
PYTHON_OP = RecordedOp("__inference_step_1", "")
RECORDS = {
    "nothing of yours": replace(NOTHING, has_globals=False),
    "a library that traced": replace(NOTHING, has_globals=False, traces=1),
    "no line": NOTHING,
    "your lines": OWN,
    "your lines in a loop": replace(OWN, lines=Counter({YOU: 4})),
    "your lines and a copy": replace(OWN, frames=Counter({YOU: 1, AUTOGRAPH: 1})),
    "your lines until then": replace(OWN, end=replace(END, is_tracer_replaced=True)),
    "your lines until it stopped": replace(OWN, end=replace(END, stopped_after=10)),
    "your lines and Dynamo's": replace(OWN, frames=Counter({YOU: 1, DYNAMO: 2})),
    "traced lines": replace(OWN, traced_frames=Counter({YOU: 2}), nodes=1),
    "some traced lines": replace(OWN, traced_frames=Counter({YOU: 1}), nodes=3),
    "a copy": replace(NOTHING, frames=Counter({AUTOGRAPH: 1}), nodes=2),
    "a copy that ran": replace(NOTHING, frames=Counter({AUTOGRAPH: 1}), nodes=2, ops=(PYTHON_OP,)),
    "a new compilation": replace(NOTHING, frames=Counter({DYNAMO: 1}), new_dynamo_codes=1),
    "an old compilation": replace(NOTHING, frames=Counter({DYNAMO: 1})),
    "an old graph": replace(NOTHING, tf_function_calls=1),
    "a graph that raised": replace(NOTHING, tf_function_calls=1, outcome="ValueError"),
    "a graph that calls Python": replace(NOTHING, tf_function_calls=1, ops=(PYTHON_OP,)),
    "a cache": replace(NOTHING, caches=CacheCounts(True, 1, 0, 0, 0, False)),
}


@pytest.fixture(autouse=True)
def graphs_that_call_python(monkeypatch):
    """Let every graph have an op that calls Python."""
    monkeypatch.setattr(journey_stations, "list_graph_ops", lambda name: ("MatMul", "PyFunc"))


@pytest.mark.parametrize("kind", RECORDS)
def test_a_record_has_the_sentences_of_its_kind(kind, snapshot):
    record = RECORDS[kind]
    assert (describe_lines(record), describe_runner(record)) == snapshot


def test_an_interrupt_has_its_start_and_its_count():
    sentence = describe_interrupted_call(replace(NOTHING, event_count=12), "In the first call, y")
    assert sentence.startswith("In the first call, you interrupted")
    assert "12 events" in sentence
    assert describe_interrupted_call(replace(NOTHING, event_count=1), "Y").endswith("1 event.")


CODE = list_notes_on_recorders.__code__
PLACE = (CODE, 7)
FILE = " (journey_sentences.py:7)"
NOTES = {
    "the profiler was replaced": (
        {"is_profiler_replaced": True, "profiler_replaced_at": PLACE},
        [REPLACED.format("profiler", FILE, "calls")],
    ),
    "the profiler was replaced somewhere": (
        {"is_profiler_replaced": True},
        [REPLACED.format("profiler", "", "calls")],
    ),
    "the profiler was heard": ({"is_profiler_heard": True}, [HEARD_NOTE]),
    "the recorder of ops was heard": ({"is_op_recorder_heard": True}, [OPS_HEARD]),
    "it stopped": ({"stopped_after": 1234}, [STOPPED.format(1234)]),
    "the tracer was replaced": (
        {"is_tracer_replaced": True, "tracer_replaced_at": PLACE},
        [REPLACED.format("tracer", FILE, "lines")],
    ),
    "a tracer was set aside": ({"set_aside": "Set aside."}, ["Set aside."]),
}


@pytest.fixture
def list_notes(monkeypatch):
    """Return the function, without the sentence on hooks that the code of a function may see."""
    monkeypatch.setattr(
        journey_sentences, "describe_visible_hooks", lambda code, names, found: f"{found}"
    )

    def list_own_notes(first, second):
        *notes, hooks = list_notes_on_recorders(
            replace(NOTHING, end=first), replace(NOTHING, end=second), CODE
        )
        assert hooks == "()"
        return [note for note in notes if note]

    return list_own_notes


@pytest.mark.parametrize("kind", NOTES)
def test_what_a_recorder_missed_is_noted_once_whichever_call_it_was(kind, list_notes):
    changes, notes = NOTES[kind]
    end = replace(END, **changes)
    assert list_notes(end, END) == notes
    assert list_notes(END, end) == notes
    assert list_notes(end, end) == notes
    assert list_notes(END, END) == []


def test_the_sentence_on_the_second_call_is_preferred(list_notes):
    first, second = (replace(END, set_aside=text) for text in ("First.", "Second."))
    assert list_notes(first, second) == ["Second."]


def test_a_profiler_that_was_found_is_among_the_hooks(monkeypatch):
    found_names = []

    def note_names(code, names, found):
        found_names.append(found)
        assert code is CODE
        return ""

    monkeypatch.setattr(journey_sentences, "describe_visible_hooks", note_names)
    found = replace(NOTHING, end=replace(END, is_profiler_found=True))
    for calls in ((NOTHING, NOTHING), (found, NOTHING), (NOTHING, found)):
        list_notes_on_recorders(*calls, CODE)
    assert [bool(names) for names in found_names] == [False, True, True]
    assert all("getprofile" in name for names in found_names for name in names)
