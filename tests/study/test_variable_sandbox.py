"""The what-if says whether a guess was right, and why, and draws the graph."""

import pytest

from helpers import variable_sandbox
from helpers.study.chapter_6.variable_programs import EITHER

pytest.importorskip("tensorflow")
LOOSE = {"variable": "ResourceVariable", "the update waits for the read": "no"}


def test_a_guess_is_told_right_or_wrong_with_the_reason():
    sandbox = variable_sandbox()
    assert sandbox.run("11") == (
        "you said 11, and it is 11. AssignAdd runs before seen: a way in the graph leads there. "
        "1 of 1 foretold."
    )
    assert "it is 10. Read/ReadVariableOp runs before" in sandbox.run(
        "11", variable=LOOSE["variable"]
    )
    assert "nothing orders them. 2 of 3 foretold." in sandbox.run(EITHER, **LOOSE)


@pytest.mark.parametrize(
    ("guess", "picked", "words"),
    [
        ("12", {}, "'12' is none of them"),
        ("10", {"size": "1"}, "no control 'size'"),
        ("10", {"variable": "v"}, "variable cannot be 'v'; it can be 'RefVariable'"),
    ],
)
def test_what_cannot_be_picked_is_named(guess, picked, words):
    with pytest.raises(ValueError, match=words):
        variable_sandbox().run(guess, **picked)


def test_the_widget_asks_and_the_answer_holds_counts_and_graph():
    sandbox = variable_sandbox()
    before = repr(sandbox)
    data, _ = sandbox._repr_mimebundle_()
    assert repr(sandbox) == before == data["text/plain"]
    assert "application/vnd.jupyter.widget-view+json" in data
    answer = sandbox._answer(sandbox.model.start(), "10")
    assert not answer["right"] and "200 runs: 11 ×200." in answer["says"]
    assert "The program with a RefVariable" in answer["rows"]
    assert sandbox.graph(**LOOSE).found == ("Read/ReadVariableOp", "AssignAddVariableOp")
