"""Plan a workshop of a given length: which sections and exercises, in which order, and the breaks.
The minutes of sections and exercises are those of `minutes.py`. All sections of the chapters are in
the plan. Exercises are added as long as they fit, the most important first, then the easiest, then
the shortest. There is no break after the opening of a chapter or before its recap.
"""

import argparse
import re
from datetime import datetime, timedelta
from math import ceil
from pathlib import Path
from typing import NamedTuple

from helpers.course.chapter_notebooks import find_notebook, list_notebooks, notebooks_folder
from helpers.course.minutes import DEEPER, sections
from helpers.course.terminal import CommandRefused, Parser, say

STEP = "Step "  # begins the title of an exercise that builds on the step before it
YOUR_TURN = re.compile(r"\d+ · Your turn$")
OPENING = "What it is about"
RECAP = "Recap"
PAUSE = "Pause"
LUNCH = "Lunch"
MINUTES = {PAUSE: 15, LUNCH: 60}
SITTING = 75  # longest time between two breaks, unless one section or exercise takes longer
HALF = 240  # minutes of the longest day without lunch
ENOUGH = 45  # minutes of work after which there is a break before a new chapter
LUNCH_FROM = 120  # in a longer day, the first break after so many minutes is lunch


class Length(NamedTuple):
    """How long a workshop is."""

    #: How many days.
    days: int
    #: Minutes of each day, with its pauses.
    minutes: int
    #: The numbers of the chapters that fit well.
    chapters: str


LENGTHS = {
    "half-day": Length(1, HALF, "0 1 3"),
    "day": Length(1, 450, "0 1 2 3 4"),
    "two-days": Length(2, 450, "0 1 2 3 4 5 6 7"),
}


class AgendaRow(NamedTuple):
    """A line of the plan: a section, an exercise or a break."""

    #: How long it takes.
    minutes: int
    #: The name of its chapter; "" for a break.
    chapter: str
    #: Its title.
    title: str
    #: () for a section, which is always in the plan. For an exercise, a sort key: the exercise with
    #: the smallest key is taken first.
    worth: tuple = ()


def workshop(arguments: list[str]) -> int:
    """Run `course.py workshop` with these arguments: print a plan; return the exit code 0."""
    requested = read_arguments(arguments)
    length = LENGTHS[requested.length]
    paths = [notebooks_folder() / name for name in requested.chapters]
    plan = plan_workshop(length.days, length.minutes, paths)
    for line in lines(plan, requested.start):
        say(line)
    return 0


def read_arguments(arguments: list[str]) -> argparse.Namespace:
    """Parse the arguments of `course.py workshop`; raise CommandRefused if they are wrong.

    The result has `length`, a key of `LENGTHS`; `chapters`, a list of file names of notebooks; and
    `start`, the time of the day as a datetime.
    """
    parser = Parser("workshop")
    parser.add_argument("length", choices=LENGTHS, nargs="?")
    parser.add_argument("chapters", nargs="*", help="numbers, in the order of the day")
    parser.add_argument("--from", dest="start", default="09:00", metavar="09:00")
    requested = parser.read(arguments)
    if requested.length is None:
        raise CommandRefused(
            f"workshop needs a length: {', '.join(LENGTHS)}; chapters may follow it."
        )
    try:
        requested.start = datetime.strptime(requested.start, "%H:%M")
    except ValueError:
        raise CommandRefused(f"--from needs a time like 09:00, not {requested.start!r}.") from None
    usual = LENGTHS[requested.length].chapters.split()
    existing = [str(int(name[:2])) for name in list_notebooks() if name[:2].isdigit()]
    chosen = requested.chapters or [number for number in usual if number in existing]
    requested.chapters = [find_notebook(word) for word in chosen]
    return requested


def plan_workshop(count: int, minutes: int, paths: list[Path]) -> list[list[AgendaRow]]:
    """Return the plan of a workshop: a list of rows for each day.

    Parameters
    ----------
    count
        How many days the workshop has.
    minutes
        How long a day is, with its breaks.
    paths
        The notebooks, in the order in which they are worked through.

    Raises
    ------
    CommandRefused
        The sections alone take longer than the workshop.
    """
    rows = []
    for path in paths:
        rows += rows_of(path)
    chosen = [row for row in rows if not row.worth]
    days = in_days(chosen, count, minutes)
    if days is None:
        hours = f"{count * minutes / 60:g} hours"
        raise CommandRefused(f"These chapters take longer than a workshop of {hours}: name fewer.")

    exercises = sorted((row for row in rows if row.worth), key=lambda row: row.worth)
    # Chapters in which a step did not fit. Later steps build on it, so they are left out.
    chapters_without_steps = set()
    for exercise in exercises:
        is_step = exercise.title.startswith(STEP)
        if is_step and exercise.chapter in chapters_without_steps:
            continue
        # Selected from `rows`, so that the order of the chapters stays.
        with_exercise = [row for row in rows if row in (*chosen, exercise)]
        longer_days = in_days(with_exercise, count, minutes)
        if longer_days:
            chosen = with_exercise
            days = longer_days
        elif is_step:
            chapters_without_steps.add(exercise.chapter)
    return days


def rows_of(path: Path) -> list[AgendaRow]:
    """Return the rows of a chapter: each section, and after it the exercises of that section.

    Optional sections, and the section with only exercises, have no row of their own.
    """
    rows = []
    for section in sections(path):
        reading = ceil(section.reading)
        is_left_out = section.title.startswith(DEEPER) or YOUR_TURN.match(section.title)
        if reading and not is_left_out:
            rows.append(AgendaRow(reading, path.stem, section.title or OPENING))
        # A step builds on the steps before it, so it must not be taken before them. Its sort key is
        # the largest key of all steps until then.
        largest_step_worth = ()
        for exercise in section.todo:
            worth = (-exercise.importance, exercise.difficulty, exercise.minutes)
            if exercise.title.startswith(STEP):
                largest_step_worth = max(largest_step_worth, worth)
                worth = largest_step_worth
            title = f"{exercise.title} {'●' * exercise.difficulty}"
            rows.append(AgendaRow(exercise.minutes, path.stem, title, worth))
    return rows


def lines(days: list[list[AgendaRow]], start: datetime) -> list[str]:
    """Return the plan as lines of text. `days` has the rows of each day; days begin at `start`."""
    plan = []
    chapter = ""
    for number, day in enumerate(days, 1):
        work = _sum_minutes([row for row in day if row.chapter])
        end = start + timedelta(minutes=_sum_minutes(day))
        if plan:
            plan.append("")
        plan.append(f"Day {number}, {start:%H:%M} to {end:%H:%M}: {work} minutes of work")
        plan.append("")

        time = start
        for row in day:
            if row.chapter not in (chapter, ""):
                chapter = row.chapter
                plan.append(f"              {chapter}")
            title = row.title if row.chapter else f"-- {row.title}"
            plan.append(f"{time:%H:%M}  {row.minutes:>3} min  {title}")
            time += timedelta(minutes=row.minutes)
    return plan


def in_days(rows: list[AgendaRow], count: int, most: int) -> list[list[AgendaRow]] | None:
    """Divide rows into days and add breaks; return a list of rows for each day.

    `count` is the number of days, and `most` how many minutes a day has. Return None if the rows do
    not fit.
    """
    days = [[]]
    sitting = []  # the rows since the last break
    for block in _join_blocks(rows):
        day = days[-1]  # the same list, so that `append` changes `days`
        if day and _needs_break(sitting, block):
            day.append(_choose_break(day, most))
            sitting = []
        if day and _sum_minutes(day) + _sum_minutes(block) > most:
            if not day[-1].chapter:  # a break at the end of the day is useless
                day.pop()
            days.append([])
            sitting = []
        sitting = sitting + block
        days[-1].extend(block)
    return days if len(days) <= count else None


def _join_blocks(rows: list[AgendaRow]) -> list[list[AgendaRow]]:
    """Group rows into blocks, within which there is no break.

    The opening of a chapter is in one block with the row after it, and a recap with the row before
    it. Any other row is a block of its own.
    """
    blocks = []
    for row in rows:
        if blocks and (row.title == RECAP or blocks[-1][-1].title == OPENING):
            blocks[-1].append(row)
        else:
            blocks.append([row])
    return blocks


def _needs_break(sitting: list[AgendaRow], block: list[AgendaRow]) -> bool:
    """Return whether there is a break before a block. `sitting` are the rows since the last break.

    There is a break if the sitting would be longer than `SITTING`, and before a new chapter if the
    sitting has been at least `ENOUGH` minutes.
    """
    worked_minutes = _sum_minutes(sitting)
    if worked_minutes + _sum_minutes(block) > SITTING:
        return True
    is_same_chapter = sitting and sitting[-1].chapter == block[0].chapter
    return not is_same_chapter and worked_minutes >= ENOUGH


def _choose_break(day: list[AgendaRow], most: int) -> AgendaRow:
    """Return the row of the next break: lunch or a pause.

    `day` are the rows until then, and `most` how many minutes the day has. A day longer than `HALF`
    has lunch once.
    """
    has_lunch = any(row.title == LUNCH for row in day)
    is_lunch_time = most > HALF and _sum_minutes(day) >= LUNCH_FROM
    kind = LUNCH if is_lunch_time and not has_lunch else PAUSE
    return AgendaRow(MINUTES[kind], "", kind)


def _sum_minutes(rows: list[AgendaRow]) -> int:
    return sum(row.minutes for row in rows)
