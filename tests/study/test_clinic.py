"""helpers/study/chapter_7: a diagnosis is read from models, and the judges leave all as it was."""

import sys

import pytest

from helpers import check
from helpers.exhibit import Exhibit
from helpers.model.tables import Column, Listing
from helpers.study.answers import InvalidAnswer, NotAttempted
from helpers.study.chapter_7.diagnosis import NOBODY, Evidence, judge_diagnosis
from helpers.view.table_view import table

A, B = "cache key", "C call"


def shown(rows):
    return Exhibit(Listing("a title", (Column("name", "name"),), rows), table)


def needs(seam, row):
    return Evidence(seam, lambda model: row in model.rows, f"row {row}")


BOTH = needs(A, 1), needs(B, 2)


def test_each_seam_needs_an_exhibit_that_shows_its_cause():
    assert judge_diagnosis((B, A), (shown((2,)), shown((1,))), BOTH, {}) is None
    assert judge_diagnosis((A, B), shown((1, 2)), BOTH, {}) is None
    reason = judge_diagnosis((A, B), (shown((1,)), shown((3,))), BOTH, {})
    assert reason.endswith(BOTH[1].wanted)


def test_a_seam_too_few_or_another_is_told_and_none_is_given_away():
    few = judge_diagnosis(A, shown((1, 2)), BOTH, {})
    assert f"{A!r} is right" in few and "1 more" in few and B not in few
    other = judge_diagnosis(("frame", A), shown((1, 2)), BOTH, {})
    assert other == NOBODY.format("frame") and A not in other and B not in other
    assert judge_diagnosis("frame", shown((1,)), BOTH, {"frame": "words"}) == "words"


STUBS, NO_ANSWERS = [(..., None), ((A, ...), None), (A, ...)], [(5, None), ((), None), (A, 5)]


@pytest.mark.parametrize("answer", STUBS + NO_ANSWERS)
def test_a_stub_is_untried_and_what_is_no_seam_or_no_exhibit_is_refused(answer, refused):
    error = NotAttempted if answer in STUBS else InvalidAnswer
    refused(error, "^", judge_diagnosis, *answer, BOTH[:1], {})


@pytest.mark.long
@pytest.mark.own_process
def test_stance_and_tracer_are_put_back_whatever_a_tool_does():
    torch = pytest.importorskip("torch")
    from helpers import show_compiled

    def plain(x):
        return x + 1

    compiled = torch.compile(plain, backend="eager")
    compiled(torch.ones(2))

    def leaves(test, function):
        torch.compiler.set_stance("force_eager")
        sys.settrace(lambda *event: None)
        raise RuntimeError("gone")

    tracer = sys.gettrace()
    outcome = check.blind_tool("evaluator", show_compiled(compiled), leaves).model
    assert outcome.state == "failed" and "gone" in outcome.because
    assert sys.gettrace() is tracer
    assert torch._dynamo.eval_frame._stance.stance == "default"
