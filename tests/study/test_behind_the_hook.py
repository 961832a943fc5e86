"""Chapter 4, the machine behind the hook: what an answer leaves on is taken off after the check."""

import pytest

from helpers import check
from helpers.mini import frame_hook
from tests.study.folded import EXERCISES, verdict

pytestmark = pytest.mark.skipif(bool(frame_hook.why_not()), reason="no hook here")
SOLUTION = EXERCISES["behind_the_hook"].solution


def _one():
    return 1


def test_a_hook_that_an_answer_left_on_is_off_after_the_check():
    def left_on(machine, fn, program):
        frame_hook.watching(lambda code, values: lambda *_: "left", only=_one).__enter__()
        return program()

    assert "still on" in check.behind_the_hook(left_on).model.because
    with frame_hook.watching(lambda code, values: None):  # a hook below it would be asked too
        assert _one() == 1
    assert frame_hook.installed()[0].name == "_PyEval_EvalFrameDefault"


def test_a_stand_in_that_is_the_stub_still_is_named():
    run = "return machine().run(fn, *values[:first], *more, **named)"
    source = SOLUTION.replace(run, "return ...")
    outcome = verdict("behind_the_hook", source)
    assert outcome.state == "untried" and "what stands in" in outcome.more


def test_a_callback_that_is_asked_of_every_frame_passes_too():
    source = SOLUTION.replace(
        "lambda code, values: stand_in, only=fn",
        "lambda code, values: stand_in if code is fn.__code__ else None",
    )
    assert source != SOLUTION and verdict("behind_the_hook", source).state == "passed"
