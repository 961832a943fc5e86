"""Events of a translation become steps: what is repeated shares one, and so does a prologue."""

from types import SimpleNamespace

import pytest

from helpers.capture.torch.dynamo_breaks import list_breaks
from helpers.capture.torch.dynamo_events import RENAMED, DynamoEvent
from helpers.capture.torch.dynamo_places import ShownCode
from helpers.capture.torch.dynamo_steps import StepBuilder
from helpers.internals import dynamo_codes
from helpers.model.dynamo_records import Break
from helpers.model.graphs import Graph

GRAPH = Graph("", (), ())


def watched(x):
    return x + 1


RESUMED = watched.__code__.replace(co_name="torch_dynamo_resume_in_watched_at_3")


def instruction(offset, code=watched.__code__, opname="LOAD_FAST", **fields):
    fields = {"graph": GRAPH, "positions": (None,) * 4, "opname": opname, **fields}
    return DynamoEvent("instruction", code, 0, offset=offset, **fields)


def decision(kind):
    return DynamoEvent(kind, watched.__code__, 0, message="a reason", graph=GRAPH)


@pytest.fixture
def build(monkeypatch):
    monkeypatch.setattr(dynamo_codes, "find_original_code", lambda code: code)
    builder = StepBuilder(watched, ShownCode())
    return lambda *events: list(builder.build_steps(events))


def test_instructions_before_a_restart_are_repeated_in_one_step(build):
    tried = [instruction(offset) for offset in (0, 2, 4)]
    steps = build(*tried, decision("start over"), *tried, decision("graph"))
    assert [step.kind for step in steps] == [
        *["instruction"] * 3,
        "start over",
        "again",
        "instruction",  # the one that led to the next decision
        "graph",
    ]


def test_only_a_new_try_after_a_restart_repeats(build):
    tried = [instruction(offset) for offset in (0, 2)]
    steps = build(*tried, decision("error"), *tried)
    assert [step.kind for step in steps].count("again") == 0


def test_the_prologue_of_a_resume_function_is_one_step_with_its_jump(build):
    steps = build(
        instruction(0, RESUMED, is_prologue=True),
        instruction(2, RESUMED, is_prologue=True),
        instruction(4, RESUMED, "JUMP_FORWARD"),
        instruction(6, RESUMED),
    )
    assert [step.kind for step in steps] == ["again", "instruction"]
    assert "3" in steps[0].label


def test_an_instruction_is_in_the_lane_of_what_it_changed(build):
    steps = build(
        instruction(0, node_lines=("add = x + 1",), new_guards=("x: TENSOR_MATCH",)),
        instruction(2, new_guards=("x: TENSOR_MATCH",)),
        instruction(4),
        instruction(6, failure="no"),
    )
    assert [step.lane for step in steps] == ["graph", "guard", "stack", "break"]
    assert steps[0].made == ("add = x + 1",) and RENAMED not in steps[0].label


def breaks_at(*places, inner=""):
    return [Break("step", 1, "f(x)", "a cause", "", place=place, inner=inner) for place in places]


RECORDER = SimpleNamespace(graphs=[GRAPH], skipped={}, error=None, disabling_setting="")


def test_equal_breaks_share_a_row_that_counts_them():
    found = breaks_at("step, line 1 (a.py:1)", "step, line 1 (a.py:1)", "other, line 1 (b.py:1)")
    listing = list_breaks("", found, RECORDER)
    assert [row.count for row in listing.rows] == [2, 1] and listing.breaks == 3
    assert "count" in {column.field for column in listing.columns}


def test_in_a_block_breaks_of_one_innermost_call_share_the_row_of_the_function_itself():
    called = "step, line 1 (a.py:1), in helper (b.py:7)"
    found = breaks_at(called, "helper, line 2 (b.py:7)", inner="b.py:7 print(x)")
    (row,) = list_breaks("", found, RECORDER, in_block=True).rows
    assert row.place.startswith("helper, line 2 (b.py:7)") and "step, line 1 (a.py:1)" in row.place
    assert len(list_breaks("", found, RECORDER).rows) == 2
