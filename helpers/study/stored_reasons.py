"""Read why each answer to a question of the course is right or wrong, from the folder `reasons/`.
A reason belongs to one answer of one question. The reasons are not in the notebooks, so that no
cell gives an answer away.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

CHAPTERS = range(8)
NO_REASON = "This page has a reason for another answer, and none for this one."


def read_reasons(number: int) -> dict[str, dict[str, str]]:
    """Return question -> {answer: its reason}, for the questions of one chapter.

    Raise FileNotFoundError if there is no chapter with this number.
    """
    path = files("helpers.study").joinpath("reasons", f"{number}.toml")
    reasons = {}
    for entry in tomllib.loads(path.read_text("utf-8"))["reason"]:
        reasons_by_answer = reasons.setdefault(entry["asked"], {})
        reasons_by_answer[entry["answer"]] = " ".join(entry["why"].split())
    return reasons


@cache
def read_all_reasons() -> dict[str, tuple[int, dict[str, str]]]:
    """Return question -> (number of its chapter, {answer: its reason}), for the whole course."""
    entries_by_question = {}
    for number in CHAPTERS:
        for question, reasons in read_reasons(number).items():
            entries_by_question[question] = number, reasons
    return entries_by_question


def find_reasons(question: str) -> dict[str, str]:
    """Return answer -> reason of a question of the course; empty for any other question."""
    _, reasons = read_all_reasons().get(question, (None, {}))
    return reasons


def find_chapter(question: str) -> int | None:
    """Return the number of the chapter that asks a question; None for a learner's own question."""
    chapter, _ = read_all_reasons().get(question, (None, {}))
    return chapter


def choose_reason(answer: str, reasons: Mapping[str, str]) -> str:
    """Return the reason that belongs to a measured answer.

    Parameters
    ----------
    answer
        What running the code gave.
    reasons
        Answer -> its reason; empty for a question that nobody explains.

    Returns
    -------
    str
        The reason of this answer. If there are reasons for other answers only, a sentence that says
        so. If there are none at all, "".
    """
    if not reasons:
        return ""
    return reasons.get(answer, NO_REASON)
