"""A question -> what the learner decided, in this kernel or before it, as the record knows."""

from functools import cache

from helpers.model.choice import Decided
from helpers.study.reasons import chapter_of
from helpers.study.remembering import remember, remembered

UNSAID, HIDDEN = "nothing yet", "decide first"


@cache
def _decided() -> dict[str, Decided]:
    """Return question -> what was decided last; the record is read once in a kernel."""
    events = remembered().events
    return {e["predict"]: _row(e["predict"], e["said"], e["was"]) for e in events if "predict" in e}


def said(question: str) -> str:
    """Return the choice that the learner has checked; empty before that."""
    return _decided()[question].said if question in _decided() else ""


def decide(question: str, said_: str, was: str) -> None:
    """Keep what was decided, in this kernel and in the record."""
    if said(question) != said_:
        chapter = chapter_of(question)
        remember({"predict": question, "said": said_, "was": was, "chapter": chapter})
    _decided()[question] = _row(question, said_, was)


def rows(asked: dict[str, tuple[str, str]]) -> tuple[Decided, ...]:
    """Return what was decided of the questions asked: question -> (said, was).

    Those of the same chapters that were decided before this kernel come first; all, where none was
    asked.
    """
    before = [one for one in _decided().values() if one.question not in asked]
    if asked:
        chapters = {chapter_of(question) for question in asked} - {None}
        before = [one for one in before if chapter_of(one.question) in chapters]
    return *before, *(_row(question, *pair) for question, pair in asked.items())


def _row(question: str, said_: str, was: str) -> Decided:
    mark = ("✓" if said_ == was else "✗") if said_ else "–"
    return Decided(mark, question, said_ or UNSAID, was if said_ else HIDDEN)
