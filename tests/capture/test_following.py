"""depth=, only= and most= mean the same everywhere; what they leave out is counted."""

import json
from json.decoder import JSONDecoder

import pytest

import helpers
from helpers.capture.cpython.following import RecordingLimits


def a():
    return b() + c()


def b():
    return c()


def c():
    return 1


def calls(**limits):
    """Return the functions that `watch_frames` and `watch_stack` follow; both follow the same."""
    frames = helpers.watch_frames(a, **limits).model
    began = [step.label.split("(")[0][5:] for step in frames.steps if step.lane == "call"]
    seen = {step.call: step.function for step in helpers.watch_stack(a, **limits).model.steps}
    assert began == list(seen.values())
    return began, frames.note


@pytest.mark.parametrize(
    ("limits", "followed", "words"),
    [
        ({}, ["a", "b", "c", "c"], "It returned 2."),
        ({"depth": 1}, ["a"], "Left out below this depth: 3 calls (depth=2 shows more)."),
        ({"depth": 2}, ["a", "b", "c"], "Left out below this depth: 1 call (depth=3 shows more)."),
        ({"only": "b"}, ["a", "b"], "Left out by only=: 2 calls."),
        ({"only": [b, "c"]}, ["a", "b", "c", "c"], "It returned 2."),
        ({"only": "test_following.py"}, ["a", "b", "c", "c"], "It returned 2."),
        ({"only": __name__}, ["a", "b", "c", "c"], "It returned 2."),
        ({"only": json}, ["a"], "Left out by only=: 3 calls. No other call matches only=."),
    ],
)
def test_calls_that_are_followed_and_what_is_left_out(limits, followed, words):
    began, note = calls(**limits)
    assert began == followed and note.endswith(words)


@pytest.mark.parametrize("only", ["json", json, "decoder.py", JSONDecoder, "JSONDecoder"])
def test_only_follows_functions_of_other_modules(only):
    model = helpers.watch_frames(json.loads, "[1]", only=only).model
    assert [s.label.split("(")[0] for s in model.steps][1:3] == ["call decode", "call raw_decode"]


MOST = {
    "watch_frames": lambda most: helpers.watch_frames(a, most=most).model.steps,
    "watch_stack": lambda most: helpers.watch_stack(a, most=most).model.steps,
    "watch_names": lambda most: helpers.watch_names(long, most=most - 1).model.steps,
}


def long():
    x = 1
    x = 2
    return x


@pytest.mark.parametrize("verb", MOST)
def test_most_is_how_many_steps_there_are(verb):
    assert len(MOST[verb](2)) == 2
    assert len(MOST[verb](3)) == 3


def test_calls_into_a_framework_are_limited_too():
    import torch

    def adds():
        return torch.nn.functional.relu(torch.ones(1))

    whole = helpers.watch_call(adds).model
    flat = helpers.watch_call(adds, depth=1).model
    assert {call.depth for call in flat.calls} == {0} and "(depth=2 shows more)" in flat.note
    named = helpers.watch_call(adds, only="relu").model
    assert named.calls and {call.name.split(".")[-1] for call in named.calls} == {"relu"}
    cut = helpers.watch_call(adds, most=1).model
    assert len(cut.calls) == 1 and f"(most={len(whole.calls)} shows all)" in cut.note
    assert len(helpers.watch_ops(adds, most=1).model.rows) == 1


def test_only_follows_the_calls_of_any_library_and_says_when_there_is_none():
    found = helpers.watch_call(json.dumps, [1], only=json).model
    assert {"dumps", "JSONEncoder.encode"} <= {call.name for call in found.calls}
    assert not found.title.count("route")
    assert helpers.watch_call(json.dumps, [1], only="numpy").model.note.startswith("No call match")
    assert "only=" in helpers.watch_call(json.dumps, [1]).model.note


def test_many_steps_in_a_text_say_only_what_a_terminal_can_do():
    exec("def many():\n" + " x = 1\n" * 300, space := {})
    many = helpers.watch_stack(space["many"])
    assert "left out here" in many.text() and "run the cell" not in many.text()
    assert "run the cell to step" in many._repr_mimebundle_()[0]["text/html"]


@pytest.mark.parametrize(
    ("limits", "error", "words"),
    [
        ({"depth": 0}, ValueError, "depth= of watch_frames must be from 1 to 1,000,000, not 0"),
        ({"depth": "1"}, TypeError, "depth= of watch_frames must be an int, not str"),
        ({"most": True}, TypeError, "most= of watch_frames must be an int, not bool"),
        ({"only": []}, ValueError, "only= of watch_frames needs at least one function, module or"),
        ({"only": [3]}, TypeError, "only= of watch_frames needs a Python function, not 3"),
    ],
)
def test_other_values_are_refused_in_one_sentence(limits, error, words, refused):
    refused(error, "^" + words, RecordingLimits, "watch_frames", **limits)
