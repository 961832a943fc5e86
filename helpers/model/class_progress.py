"""Count for each exercise of the course how many learners of a class passed it or tried it.

Learners share their progress, with or without a name. A count of few learners without a name would
tell who they are, so the table is empty then.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from .phrase import clip_text, format_count, format_names
from .study_records import HINTED, PASSED, TRIED, UNTRIED, ChapterProgress
from .tables import Column, Listing

LEAST = 5  # learners without a name; of fewer, a count would tell who they are
LONGEST_NAME = 40  # characters
MOST_NAMES = 6
FEW = f"Counts appear once {LEAST} learners share without a name; fewer would identify them."
_COLUMNS = (
    Column("chapter", "chapter"),
    Column("exercise", "exercise", code=True),
    Column("passed", PASSED),
    Column("tried", TRIED),
    Column("hinted", HINTED),
    Column("untried", UNTRIED),
)
_NAMES = Column("names", "hint or tried, by name")


@dataclass(frozen=True, slots=True)
class Count:
    """An exercise, with how many learners came how far.

    Attributes
    ----------
    chapter : int
        The number of the chapter.
    exercise : str
        The name of the exercise.
    untried : int
        How many learners have not tried it.
    hinted : int
        How many took a hint.
    tried : int
        How many tried it and have not passed.
    passed : int
        How many passed.
    names : str
        Who took a hint or tried, of the learners who gave a name.
    """

    chapter: int
    exercise: str
    untried: int
    hinted: int
    tried: int
    passed: int
    names: str


def build_class_listing(
    chapters: Iterable[ChapterProgress],
    learners: Iterable[tuple[dict[str, str], str]],
    unread: int = 0,
) -> Listing:
    """Return a row for each exercise of the chapters that somebody has begun.

    Parameters
    ----------
    chapters
        The chapters of the course.
    learners
        For each learner (states, name). `states` maps the name of an exercise to the state that the
        learner reached, and lacks exercises that were not tried. The name is "" for a learner
        without one.
    unread
        How many files could not be read.

    Returns
    -------
    Listing
        The rows are `Count`. If some learners share without a name, but fewer than `LEAST`, the
        listing has no rows, because a count would identify them.
    """
    # Names are put on one line and shortened. A name of spaces only becomes "".
    learners = [
        (states, clip_text(" ".join(name.split()), LONGEST_NAME)) for states, name in learners
    ]
    unnamed_count = sum(not name for _, name in learners)
    named_count = len(learners) - unnamed_count
    is_shown = unnamed_count == 0 or unnamed_count >= LEAST

    rows = []
    if is_shown:
        for chapter in chapters:
            counts = [_count_states(chapter.number, task.name, learners) for task in chapter.tasks]
            has_begun = any(count.untried < len(learners) for count in counts)
            if has_begun:  # somebody has tried one of the exercises
                rows += counts

    note = f"Shared by {format_count(len(learners), 'learner')}; {named_count} gave a name. "
    note += "Chapters that nobody has started are left out."
    if not is_shown:
        note += f" {FEW}"
    if unread:
        note += f" {format_count(unread, 'file')} could not be read."
    columns = (*_COLUMNS, _NAMES) if named_count else _COLUMNS
    return Listing("How far the class is", columns, tuple(rows), note)


def _count_states(chapter: int, exercise: str, learners: list[tuple[dict[str, str], str]]) -> Count:
    """Return the row of one exercise: how many learners are in each state.

    Parameters
    ----------
    chapter
        The number of the exercise's chapter.
    exercise
        The name of the exercise.
    learners
        (states, name) for each learner, as in `build_class_listing`.
    """
    # None for a learner who has not tried the exercise.
    states = [states_by_exercise.get(exercise) for states_by_exercise, _ in learners]
    hinted = states.count(HINTED)
    tried = states.count(TRIED)
    passed = states.count(PASSED)

    # The learners with a name who may need help.
    names = []
    for states_by_exercise, name in learners:
        if name and states_by_exercise.get(exercise) in (HINTED, TRIED):
            names.append(name)
    return Count(
        chapter=chapter,
        exercise=exercise,
        untried=len(states) - hinted - tried - passed,
        hinted=hinted,
        tried=tried,
        passed=passed,
        names=format_names(sorted(names), MOST_NAMES),
    )
