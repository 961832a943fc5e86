"""A sandbox says whether a guess was right, and why; what it foretells is what TensorFlow does."""

import re

import pytest

from helpers import signature_sandbox
from helpers.study.chapter_2.signature_sandbox import SANDBOX, call_code, make_argument

pytest.importorskip("tensorflow")
SIGNATURE = "tf.function(f, input_signature=[float32, (None,)])"


@pytest.mark.long
def test_every_call_of_the_sandbox_is_foretold_twice():
    sandbox = signature_sandbox()
    all_calls = [SANDBOX.picked(**some) for some in SANDBOX.different()]
    assert len(all_calls) > 100
    for picked in all_calls + all_calls[::-1]:
        function = sandbox.function(picked)
        foretold = function.forecast((make_argument(picked),), {})
        sandbox.run("hit", **picked)
        row = function.last
        assert (foretold.verdict, foretold.note) == (row.verdict, row.note.split("; traced")[0])
        assert function.model.traces == function.experimental_get_tracing_count()


def test_a_guess_is_told_right_or_wrong_with_the_reason():
    sandbox = signature_sandbox()
    assert re.search(r"\(first trace\).* 1 of 1 ", sandbox.run("trace"))
    assert "x: shape (2,) → (3,)" in sandbox.run("hit", shape="(3,)")
    assert "1 of 3" in sandbox.run("hit", function=SIGNATURE, argument="a Python value")
    assert sandbox.function(SANDBOX.start()).model.verdicts == ("trace", "trace")
    assert sandbox.function({"function": SIGNATURE}).model.verdicts == ("error",)


@pytest.mark.parametrize(
    ("guess", "picked", "words"),
    [
        ("maybe", {}, "'maybe'"),
        ("hit", {"size": "1"}, "'size'"),
        ("hit", {"shape": "(9,)"}, r"^shape .*'\(9,\)'"),
    ],
)
def test_what_cannot_be_picked_is_named(guess, picked, words, refused):
    refused(ValueError, words, signature_sandbox().run, guess, **picked)


def test_the_exhibit_reads_the_same_before_and_after_use():
    sandbox = signature_sandbox()
    before = repr(sandbox)
    sandbox.run(sandbox.model.verdicts[0])
    data, _ = sandbox._repr_mimebundle_()
    assert repr(sandbox) == before == data["text/plain"]
    assert "application/vnd.jupyter.widget-view+json" in data


def test_the_code_is_what_would_be_typed():
    picked = SANDBOX.picked(argument="a dict of tensors", keys="a, b", shape="()")
    assert call_code(picked) == "{'a': tf.zeros((), tf.float32), 'b': tf.zeros((), tf.float32)}"


def test_a_recorded_choice_is_the_second_call_of_a_fresh_function():
    sandbox = signature_sandbox()
    again = sandbox._record_run(SANDBOX.start())
    other = sandbox._record_run({**SANDBOX.start(), "shape": "(3,)"})
    assert (again["verdict"], other["verdict"]) == ("hit", "trace")
    assert {"{guess}", "{right}", "{tries}"} <= set(re.findall(r"\{\w+\}", other["says"]))
    assert "trace" in other["says"]
    assert other["call"] == "tf.function(f)(tf.zeros((3,), tf.float32))"
