"""helpers/study/stored_reasons.py: each question of the course has its chapter and its reasons."""

import pytest

from helpers.study.stored_reasons import (
    CHAPTERS,
    NO_REASON,
    choose_reason,
    find_chapter,
    find_reasons,
    read_all_reasons,
    read_reasons,
)


@pytest.mark.parametrize("number", CHAPTERS)
def test_each_question_of_a_chapter_is_found_with_its_chapter_and_its_reasons(number):
    for question, reasons in read_reasons(number).items():
        assert find_chapter(question) == number
        assert find_reasons(question) == reasons
        assert reasons


def test_no_question_is_asked_in_two_chapters():
    assert len(read_all_reasons()) == sum(len(read_reasons(number)) for number in CHAPTERS)


def test_a_reason_is_one_line_without_double_spaces():
    for _, reasons in read_all_reasons().values():
        for reason in reasons.values():
            assert reason == " ".join(reason.split())


def test_another_chapter_has_no_reasons():
    with pytest.raises(FileNotFoundError):
        read_reasons(len(CHAPTERS))


def test_a_question_of_a_learner_has_no_chapter_and_no_reasons():
    assert find_chapter("not a question of the course") is None
    assert find_reasons("not a question of the course") == {}


@pytest.mark.parametrize(
    ("answer", "reasons", "reason"),
    [("1", {}, ""), ("1", {"1": "one", "2": "two"}, "one"), ("3", {"1": "one"}, NO_REASON)],
)
def test_the_reason_belongs_to_the_answer(answer, reasons, reason):
    assert choose_reason(answer, reasons) == reason
