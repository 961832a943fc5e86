"""The chapters' exercises, and what learners share of them -> how many came how far with each."""

from collections.abc import Iterable
from dataclasses import dataclass

from helpers.model.learner_progress import HINTED, PASSED, STATES, TRIED, UNTRIED, Chapter
from helpers.model.listing import Column, Listing
from helpers.model.phrase import clipped, counted, listed

LEAST = 5  # of fewer without a name, a count tells who
LONGEST_NAME, MOST_NAMES = 40, 6
TITLE = "How far the class is"


@dataclass(frozen=True)
class Count:
    """An exercise, and how many came how far; `names` are those under way who gave theirs."""

    chapter: int
    exercise: str
    untried: int
    hinted: int
    tried: int
    passed: int
    names: str = ""


_COLUMNS = (
    Column("chapter", "chapter"),
    Column("exercise", "exercise", code=True),
    Column("passed", PASSED),
    Column("tried", TRIED),
    Column("hinted", HINTED),
    Column("untried", UNTRIED),
)
_NAMED = Column("names", "hint or tried, by name")


def class_listing(
    chapters: Iterable[Chapter],
    learners: Iterable[tuple[dict[str, str], str]],
    unread: int = 0,
    more: bool = False,
) -> Listing:
    """Return a row for each exercise of the chapters that somebody has begun.

    There is none while fewer than `LEAST` without a name share.

    `learners`: for each what they share, exercise -> state, and their name or "". States that are
    not `STATES`, and exercises that the course does not have, count for nothing.
    """
    learners = [(states, _name(name)) for states, name in learners]
    unnamed = sum(not name for _, name in learners)
    shown = not unnamed or unnamed >= LEAST
    begun = [one for one in chapters if any(_is_begun(one, states) for states, _ in learners)]
    rows = [_count(one.number, task.name, learners) for one in begun for task in one.tasks]
    columns = (*_COLUMNS, _NAMED) if len(learners) > unnamed else _COLUMNS
    note = " ".join(_notes(learners, unnamed, unread, more))
    return Listing(TITLE, columns, tuple(rows) if shown else (), note)


def _is_begun(chapter: Chapter, states: dict[str, str]) -> bool:
    return any(states.get(task.name) in (HINTED, TRIED, PASSED) for task in chapter.tasks)


def _count(chapter: int, exercise: str, learners: list) -> Count:
    came = [states.get(exercise, UNTRIED) for states, _ in learners]
    counts = {state: came.count(state) for state in STATES}
    names = sorted(n for states, n in learners if n and states.get(exercise) in (HINTED, TRIED))
    many = (len(came) - sum(counts[one] for one in (HINTED, TRIED, PASSED)), counts[HINTED])
    words = listed(names, MOST_NAMES)
    return Count(chapter, exercise, *many, counts[TRIED], counts[PASSED], words)


def _name(name: str) -> str:
    return clipped(" ".join(name.split()), LONGEST_NAME)


def _notes(learners: list, unnamed: int, unread: int, more: bool) -> Iterable[str]:
    yield f"Shared by {counted(len(learners), 'learner')}; {len(learners) - unnamed} gave a name."
    yield "Chapters that nobody has begun are left out."
    if 0 < unnamed < LEAST:
        yield f"The counts are shown once {LEAST} without a name share: of fewer they tell who."
    if unread:
        yield f"{counted(unread, 'file')} could not be read."
    if more:
        yield "There are more files than are looked at."
