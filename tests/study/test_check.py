"""A check says untried, passed or failed because, whatever the answer does."""

import re
import signal
from collections.abc import Callable
from importlib import import_module
from inspect import signature

import pytest

from helpers import check
from helpers.study.answers import InvalidAnswer, require_no_stub
from helpers.study.check import Exercise
from helpers.study.expected_errors import expect
from helpers.study.sentences import Mismatch, describe_difference, prefix_reason
from helpers.view.progress_view import outcome

checks = import_module("helpers.study.check")  # the name there is that of the exercises


def exercise():
    def judge(answer):
        value = require_no_stub(answer()) if callable(answer) else answer
        return None if value == 2 else f"it gave {value!r}"

    return Exercise("two", judge, "well done", ("one?", "two?", "three!"))


@pytest.mark.parametrize(
    ("answer", "state"), [(..., "untried"), (lambda: ..., "untried"), (2, "passed"), (3, "failed")]
)
def test_the_states(answer, state):
    assert exercise()(answer).model.state == state


RAISED = ValueError("why"), SystemExit(1), RecursionError("deep"), KeyboardInterrupt()


@pytest.mark.parametrize("error", [*RAISED, InvalidAnswer("be a 2")])
def test_what_an_answer_raises_is_told_and_not_raised(error):
    def answer():
        raise error

    told = exercise()(answer).model
    fact = type(error).__name__ if error in RAISED else "be a 2"
    assert told.state == "failed" and fact in told.because


def test_an_error_that_is_its_own_cause_is_told_once():
    def answer():
        error = ValueError("why")
        raise error from error

    told = exercise()(answer).model
    assert told.because.count("ValueError: why") == 1


def test_an_interrupt_is_the_learners_own_and_comes_through():
    with pytest.raises(KeyboardInterrupt):
        exercise()(lambda: signal.raise_signal(signal.SIGINT))


def test_the_text_says_why_and_where_help_is(snapshot):
    assert repr(exercise()(3)) == snapshot(name="failed")
    assert repr(exercise()(2)) == snapshot(name="passed")


def test_hints_rise_and_the_last_one_stays(refused):
    two = exercise()
    told = [two.hint().model.because for _ in range(4)]
    hints = [sentence.split()[-1] for sentence in told]
    assert hints == ["one?", "two?", "three!", "three!"] and told[2] == told[3]
    assert "one?" in two.hint(1).model.because
    refused(ValueError, "hint.* 1 .* 3, .*99", two.hint, 99)


def test_an_unknown_exercise_is_named_with_those_that_are_known(refused):
    known = checks.Checks({"chapter_0": "one two"})
    refused(AttributeError, "'three'.*two", getattr, known, "three")


def test_too_many_or_too_few_answers_are_told_with_the_call_that_is_meant():
    for answers in ((1, 2, 3), ()):
        told = exercise()(*answers).model
        assert told.state == "failed"
        assert str(len(answers)) in told.because and "check.two(answer)" in told.because


@pytest.mark.parametrize("name", ["default_finder", "rebinding", "cache_lookup", "code_patch"])
def test_what_cannot_be_called_is_refused_by_its_name(name):
    exercise = getattr(check, name)
    asked = [p for p in signature(exercise.judge).parameters.values() if p.annotation is Callable]
    told = exercise(*[None] * len(asked)).model
    assert re.match(rf"{asked[0].name} .*function.*None$", told.because)
    assert exercise(*[...] * len(asked)).model.state == "untried"


def test_the_parts_that_are_still_a_stub_are_named():
    exercise = Exercise("pair", lambda first, second: None, "fine", ("a hint",))
    one_stub = exercise(1, ...).model.more
    assert "second" in one_stub and "first" not in one_stub
    assert "first, second" in exercise(..., ...).model.more


def apart():
    two = "gives [1, 5, 3]", "gives [1, 2, 3]"
    return describe_difference("f(2): ", *two, "CPython", ". Look at POP_TOP.")


def test_words_around_two_answers_keep_what_it_knows(snapshot):
    assert apart() == snapshot
    more = prefix_reason("for x, ", apart(), " Think")
    assert more == f"for x, {apart()} Think" and type(more) is Mismatch
    assert (more.beside.yours, more.beside.before) == ("gives [1, 5, 3]", "for x, f(2): ")
    assert prefix_reason("for x, ", "no", "!") == "for x, no!"


def test_the_text_form_is_the_sentence_and_the_page_has_two_columns():
    exhibit = Exercise("sum", lambda answer: apart(), "well done", ("a hint",))(1)
    assert f"failed because {apart()}" in repr(exhibit)
    html = outcome.html(exhibit.model)
    assert html.index("failed</strong>") < html.index(">sum</code>")  # the verdict is first
    assert html.index("yours") < html.index("CPython") < html.index("Look at POP_TOP.")


@pytest.mark.parametrize("wrong", [-1, 0, 1, 3, 4, 7, "2", 2.5])
def test_first_check_names_the_fault_and_not_the_answer(wrong):
    said = check.warm_up(wrong).model.because.replace(repr(wrong), "")
    assert not {"two", "x"} & set(re.findall(r"\w+", said))


def test_expect_prints_the_error_and_fails_without_one(capsys):
    with expect(TypeError):
        len(5)
    assert capsys.readouterr().out.startswith("TypeError: object of type 'int'")
    with pytest.raises(AssertionError, match="TypeError or ValueError"):
        with expect(TypeError, ValueError):
            pass
    with pytest.raises(KeyError), expect(TypeError):
        {}["k"]
