"""depth=, only= and most= mean the same everywhere; what they leave out is counted."""

import json
import re
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
    ("limits", "followed", "left_out"),
    [
        ({}, ["a", "b", "c", "c"], []),
        ({"depth": 1}, ["a"], ["3 calls", "depth=2"]),
        ({"depth": 2}, ["a", "b", "c"], ["1 call", "depth=3"]),
        ({"only": "b"}, ["a", "b"], ["only=", "2 calls"]),
        ({"only": [b, "c"]}, ["a", "b", "c", "c"], []),
        ({"only": "test_following.py"}, ["a", "b", "c", "c"], []),
        ({"only": __name__}, ["a", "b", "c", "c"], []),
        ({"only": json}, ["a"], ["only=", "3 calls", "only="]),  # the last: it chooses no call
    ],
)
def test_calls_that_are_followed_and_what_is_left_out(limits, followed, left_out):
    began, note = calls(**limits)
    assert began == followed
    assert re.findall(r"\d+ calls?|depth=\d+|only=", note) == left_out


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
    assert {call.depth for call in flat.calls} == {0} and "depth=2" in flat.note
    named = helpers.watch_call(adds, only="relu").model
    assert named.calls and {call.name.split(".")[-1] for call in named.calls} == {"relu"}
    cut = helpers.watch_call(adds, most=1).model
    assert len(cut.calls) == 1 and f"most={len(whole.calls)}" in cut.note
    assert len(helpers.watch_ops(adds, most=1).model.rows) == 1


def test_only_follows_the_calls_of_any_library_and_says_when_there_is_none():
    found = helpers.watch_call(json.dumps, [1], only=json).model
    assert {"dumps", "JSONEncoder.encode"} <= {call.name for call in found.calls}
    assert not found.title.count("route")
    none = helpers.watch_call(json.dumps, [1], only="numpy").model
    assert not none.calls and "only=" in none.note
    assert "only=" in helpers.watch_call(json.dumps, [1]).model.note


def test_many_steps_in_a_text_say_only_what_a_terminal_can_do():
    exec("def many():\n" + " x = 1\n" * 300, space := {})
    many = helpers.watch_stack(space["many"])
    assert "cell" not in many.text() and "cell" in many._repr_mimebundle_()[0]["text/html"]


@pytest.mark.parametrize(
    ("limits", "error", "value"),
    [
        ({"depth": 0}, ValueError, "1,000,000.*0"),
        ({"depth": "1"}, TypeError, "int.*str"),
        ({"most": True}, TypeError, "int.*bool"),
        ({"only": []}, ValueError, ""),
        ({"only": [3]}, TypeError, "3"),
    ],
)
def test_other_values_are_refused_by_the_name_of_the_option(limits, error, value, refused):
    (option,) = limits
    refused(
        error, f"^{option}= of watch_frames .*{value}", RecordingLimits, "watch_frames", **limits
    )
