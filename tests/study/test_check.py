"""A check says untried, passed or failed because, whatever the answer does."""

import builtins
import itertools
import os
import signal
import sys
from collections.abc import Callable
from inspect import signature

import pytest

from helpers import check
from helpers.capture.text.error import said
from helpers.safety import limits
from helpers.study.check import Checks, Exercise, Unfit, tried
from helpers.study.expect import expect
from helpers.study.two_answers import parted


def exercise():
    def judge(answer):
        value = tried(answer()) if callable(answer) else answer
        return None if value == 2 else f"it gave {value!r}"

    return Exercise("two", judge, "well done", ("one?", "two?", "three!"))


def state(answer):
    return exercise()(answer).model.state


def test_three_states():
    assert (state(...), state(2), state(3)) == ("untried", "passed", "failed")


def test_a_stub_that_returns_an_ellipsis_is_untried():
    assert state(lambda: ...) == "untried"


@pytest.mark.parametrize(
    "error", [ValueError("why"), SystemExit(1), RecursionError("deep"), BaseException("own")]
)
def test_what_an_answer_raises_is_told_and_not_raised(error):
    def answer():
        raise error

    because = exercise()(answer).model.because
    assert type(error).__name__ in because


def test_an_answer_that_is_unfit_is_told_as_it_was_said():
    def judge(answer):
        raise Unfit("it must be a number")

    outcome = Exercise("number", judge, "", ("a hint",))(5).model
    assert (outcome.state, outcome.because) == ("failed", "it must be a number")


def test_an_interrupt_is_the_learners_own_and_comes_through():
    def answer():
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        exercise()(answer)


def test_an_interrupt_that_nobody_pressed_is_told():
    def answer():
        raise KeyboardInterrupt

    assert "your code raised KeyboardInterrupt" in exercise()(answer).model.because


def test_the_text_says_why_and_where_help_is():
    text = repr(exercise()(3))
    assert "failed because it gave 3" in text and "check.two.hint()" in text
    assert "passed. well done" in repr(exercise()(2))


def test_hints_rise_and_the_last_one_stays():
    two = exercise()
    told = [two.hint().model.because for _ in range(4)]
    assert told == [
        "hint 1 of 3. one?",
        "hint 2 of 3. two?",
        "hint 3 of 3. three!",
        "hint 3 of 3. three!",
    ]
    assert "one?" in two.hint(1).model.because
    assert "three!" in two.hint(99).model.because


@pytest.mark.parametrize(
    ("given", "shown"), [("x", "'x'"), (0, "0"), (-2, "-2"), (True, "True"), ([1], "list")]
)
def test_what_is_no_number_of_a_hint_is_refused_and_told_what_is(given, shown):
    two = exercise()
    takes = "check.two.hint() takes the number of a hint, 1 to 3, or nothing for the next, not "
    with pytest.raises((TypeError, ValueError)) as raised:
        two.hint(given)
    assert str(raised.value) == takes + shown
    assert "one?" in two.hint().model.because  # none was used up


def test_an_unknown_exercise_is_named_with_those_that_are_known():
    with pytest.raises(AttributeError, match="'three'.*two"):
        Checks({"chapter_0": "one two"}).three


def test_too_many_or_too_few_answers_are_told_with_the_call_that_is_meant():
    for answers in ((1, 2, 3), ()):
        outcome = exercise()(*answers).model
        assert outcome.state == "failed"
        assert f"{len(answers)} answers given; the call is check.two(answer)" in outcome.because


@pytest.mark.parametrize(
    "name",
    ["default_finder", "rebinding", "one_more_holder", "cache", "code_patch", "guard_set"],
)
def test_what_cannot_be_called_is_refused_by_its_name(name):
    exercise = getattr(check, name)
    asked = [p for p in signature(exercise.judge).parameters.values() if p.annotation is Callable]
    outcome = exercise(*[None] * len(asked)).model
    assert outcome.because == f"{asked[0].name} must be a function, not None"
    assert exercise(*[...] * len(asked)).model.state == "untried"

    async def waits():
        return 1

    because = exercise(*[waits] * len(asked)).model.because
    assert because.startswith(f"{asked[0].name} is an async function: a call runs nothing")


def test_an_answer_that_asks_for_input_is_told_and_waits_for_nobody():
    before = builtins.input
    outcome = exercise()(lambda: input("how many? ")).model
    assert outcome.because.startswith("your code raised EOFError: a check answers no input()")
    assert builtins.input is before


def test_html_escapes_the_reason():
    html = exercise()("<script>")._repr_mimebundle_()[0]["text/html"]
    assert "<script" not in html and "&lt;script&gt;" in html


def test_expect_prints_the_error(capsys):
    with expect(TypeError):
        len(5)
    assert capsys.readouterr().out.startswith("TypeError: object of type 'int'")


def test_expect_fails_when_nothing_is_raised():
    with pytest.raises(AssertionError, match="expected TypeError or ValueError"):
        with expect(TypeError, ValueError):
            pass


def test_expect_lets_another_error_through():
    with pytest.raises(KeyError), expect(TypeError):
        {}["k"]


@pytest.mark.parametrize("wrong", [(), (5,), (int,), ("TypeError",)])
def test_expect_wants_exception_types(wrong):
    with pytest.raises(TypeError, match="expect needs exception types"):
        with expect(*wrong):
            pass


class Mute(Exception):
    def __str__(self):
        raise RuntimeError


def test_said_is_one_short_line_whatever_the_message():
    assert said(Mute()) == "Mute (its message raised RuntimeError)"
    assert said(ValueError("a\nb")) == "ValueError: a"
    assert len(said(ValueError("x" * 10**6))) < 400
    assert said(ValueError()) == "ValueError"


def in_child(seconds: float = 1) -> Exercise:
    return Exercise("made", lambda fn: fn(), "fine", ("a hint",), seconds, in_child=True)


@pytest.mark.skipif(sys.platform != "linux", reason="no copy is made elsewhere")
class TestInAChild:
    @pytest.mark.parametrize("end", [lambda: os._exit(0), lambda: os.kill(os.getpid(), 11)])
    def test_what_ends_the_process_does_not_end_this_one(self, end):
        assert in_child()(end).model.because == "your code ended the process that it ran in"

    def test_a_loop_in_c_is_ended(self, monkeypatch):
        monkeypatch.setattr(limits, "MARGIN", 1)
        because = in_child(0.5)(lambda: sum(itertools.count())).model.because
        assert "in a call in C that lets nothing else run" in because

    def test_an_answer_is_called_there_alone_and_what_it_prints_is_seen_once(self, capsys):
        called = []

        def answer():
            called.append(1)
            print("once")

        assert in_child()(answer).model.state == "passed"
        assert called == [] and capsys.readouterr().out == "once\n"

    def test_verdicts_come_back_as_they_are(self):
        assert in_child()(lambda: tried(...)).model.state == "untried"
        because = in_child()(lambda: parted("", "gives 1", "gives 2", "CPython"))
        assert because.model.beside.real == "gives 2"
        assert "raised ValueError: mine" in in_child()(raising(ValueError("mine"))).model.because


def raising(error):
    def answer():
        raise error

    return answer


def test_the_parts_that_are_still_a_stub_are_named():
    exercise = Exercise("pair", lambda first, second: None, "fine", ("a hint",))
    assert "the ... of second and" in exercise(1, ...).model.more
    assert "the ... of first, second and" in exercise(..., ...).model.more
