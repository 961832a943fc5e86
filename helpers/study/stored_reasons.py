"""The course's questions -> the reason of each answer, from the folder `reasons/`.

The reasons are not in the notebooks, so that no cell gives an answer away. A reason belongs to one
answer.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

CHAPTERS = range(8)
NO_REASON = "This page has a reason for another answer, and none for this one."


def read_reasons(number: int) -> dict[str, dict[str, str]]:
    """Return question -> {answer: its reason} of one chapter.

    FileNotFoundError if there is no chapter of this number.
    """
    path = files("helpers.study").joinpath("reasons", f"{number}.toml")
    reasons = {}
    for entry in tomllib.loads(path.read_text("utf-8"))["reason"]:
        reasons_by_answer = reasons.setdefault(entry["asked"], {})
        reasons_by_answer[entry["answer"]] = " ".join(entry["why"].split())
    return reasons


@cache
def read_all_reasons() -> dict[str, tuple[int, dict[str, str]]]:
    """Return question -> (its chapter, {answer: its reason}) of the whole course."""
    stored = {}
    for number in CHAPTERS:
        for question, reasons in read_reasons(number).items():
            stored[question] = number, reasons
    return stored


def find_reasons(question: str) -> dict[str, str]:
    """Return answer -> reason of a question of the course; empty for any other question."""
    _, reasons = read_all_reasons().get(question, (None, {}))
    return reasons


def find_chapter(question: str) -> int | None:
    """Return the chapter that asks a question; None for a question of the learner's own."""
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
