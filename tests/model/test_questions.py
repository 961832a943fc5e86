"""helpers/model/question_records.py: a sandbox has each call once, and refuses other options."""

import pytest

from helpers.model.question_records import Choice, Control, Sandbox

SANDBOX = Sandbox(
    title="t",
    note="",
    controls=(
        Control("kind", ("tensor", "number")),
        Control("dtype", ("int", "float", "bool"), of="kind", matters=("tensor",)),
        Control("twice", ("no", "yes")),
    ),
    verdicts=("hit", "trace"),
    code="",
)


def test_a_control_that_does_not_matter_makes_no_further_call():
    calls = [tuple(picked.items()) for picked in SANDBOX.different()]
    assert len(calls) == len(set(calls)) == 3 * 2 + 2
    assert (("kind", "number"), ("twice", "yes")) in calls
    assert all("dtype" in dict(call) for call in calls if dict(call)["kind"] == "tensor")


def test_what_is_not_changed_has_its_first_option():
    assert SANDBOX.picked(kind="number") == {"kind": "number", "dtype": "int", "twice": "no"}


class Text(str):
    """A subclass, which may have an `==` of its own."""


@pytest.mark.parametrize("changes", [{"size": "1"}, {"kind": "list"}, {"kind": Text("number")}])
def test_an_unknown_control_or_option_is_named(changes, refused):
    [(name, option)] = changes.items()
    refused(ValueError, name if name == "size" else str(option), SANDBOX.picked, **changes)


@pytest.mark.parametrize("has_raised", [False, True])
def test_the_outcome_of_a_choice_has_the_answer_and_the_reason(has_raised):
    choice = Choice("q", ("3", "4"), "3", "Because.", raised=has_raised)
    assert "3. Because." in choice.outcome and ("raised" in choice.outcome) == has_raised
