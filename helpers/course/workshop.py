"""How long a workshop is -> its plan: sections, exercises and pauses, each with its minutes.

The minutes of sections and exercises are those of the notebooks. All of a chapter's reading is
done; of the exercises those that fit are taken, the most important first, then the shortest. No
break parts a chapter's opening from what follows it, or its recap from what comes before.
"""

import argparse
import re
from datetime import datetime, timedelta
from math import ceil
from pathlib import Path
from typing import NamedTuple

from helpers.course.chapter_notebooks import chapter_named, chapters, notebooks
from helpers.course.minutes import DEEPER, sections
from helpers.course.terminal import CommandRefused, Parser, say

STEP = "Step "
YOUR_TURN = re.compile(r"\d+ · Your turn$")
OPENING = "What it is about"
RECAP = "Recap"
PAUSE = "Pause"
LUNCH = "Lunch"
MINUTES = {PAUSE: 15, LUNCH: 60}
SITTING = 75  # minutes between two breaks, at most, but for one long section or exercise
HALF = 240  # minutes of the longest day without lunch
ENOUGH = 45  # minutes after which a break comes between two chapters
LUNCH_FROM = 120  # minutes of a longer day: its first break after that is lunch


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
    """Something to do."""

    #: How long it takes.
    minutes: int
    #: The name of its chapter, "" for a break.
    chapter: str
    #: What it is.
    what: str
    #: () for what is always done; else exercises are taken in this order, the smallest first.
    worth: tuple = ()


def workshop(words: list[str]) -> int:
    """Print the plan that the words ask for: a length, and the numbers of chapters if any."""
    requested = read_words(words)
    length = LENGTHS[requested.length]
    paths = [notebooks() / name for name in requested.chapters]
    plan = planned(length.days, length.minutes, paths)
    for line in lines(plan, requested.start):
        say(line)
    return 0


def read_words(words: list[str]) -> argparse.Namespace:
    """Return what the words say: `length`, `chapters` as names of notebooks, `start` as a time."""
    parser = Parser("workshop")
    parser.add_argument("length", choices=LENGTHS, nargs="?")
    parser.add_argument("chapters", nargs="*", help="numbers, in the order of the day")
    parser.add_argument("--from", dest="start", default="09:00", metavar="09:00")
    requested = parser.read(words)
    if requested.length is None:
        raise CommandRefused(
            f"workshop needs a length: {', '.join(LENGTHS)}; chapters may follow it."
        )
    try:
        requested.start = datetime.strptime(requested.start, "%H:%M")
    except ValueError:
        raise CommandRefused(f"--from needs a time like 09:00, not {requested.start!r}.") from None
    usual = LENGTHS[requested.length].chapters.split()
    existing = [str(int(name[:2])) for name in chapters() if name[:2].isdigit()]
    chosen = requested.chapters or [number for number in usual if number in existing]
    requested.chapters = [chapter_named(word) for word in chosen]
    return requested


def planned(count: int, minutes: int, paths: list[Path]) -> list[list[AgendaRow]]:
    """Return the rows of each of `count` days, of so many minutes with its breaks.

    `paths` are the notebooks in the order of the day. All their reading is planned, and then each
    exercise that still fits, the best first. CommandRefused if the reading alone does not fit.
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
    missed = set()  # chapters of which a step does not fit, and so none after it
    for exercise in exercises:
        is_step = exercise.what.startswith(STEP)
        if is_step and exercise.chapter in missed:
            continue
        # From `rows`, to keep the order of the chapters.
        with_exercise = [row for row in rows if row in (*chosen, exercise)]
        longer_days = in_days(with_exercise, count, minutes)
        if longer_days:
            chosen = with_exercise
            days = longer_days
        elif is_step:
            missed.add(exercise.chapter)
    return days


def rows_of(path: Path) -> list[AgendaRow]:
    """Return what there is to do in a chapter: each section, and after it its exercises."""
    rows = []
    for section in sections(path):
        reading = ceil(section.reading)
        is_left_out = section.title.startswith(DEEPER) or YOUR_TURN.match(section.title)
        if reading and not is_left_out:
            rows.append(AgendaRow(reading, path.stem, section.title or OPENING))
        worth_of_steps = ()  # a step builds on those before it, and is worth no more than they are
        for exercise in section.todo:
            worth = (-exercise.importance, exercise.difficulty, exercise.minutes)
            if exercise.title.startswith(STEP):
                # The smallest is taken first, so the largest so far comes after the steps before.
                worth_of_steps = max(worth_of_steps, worth)
                worth = worth_of_steps
            title = f"{exercise.title} {'●' * exercise.difficulty}"
            rows.append(AgendaRow(exercise.minutes, path.stem, title, worth))
    return rows


def lines(days: list[list[AgendaRow]], start: datetime) -> list[str]:
    """Return the plan as lines of text; each day begins at this time."""
    plan = []
    chapter = ""
    for number, day in enumerate(days, 1):
        work = _sum([row for row in day if row.chapter])
        end = start + timedelta(minutes=_sum(day))
        if plan:
            plan.append("")
        plan.append(f"Day {number}, {start:%H:%M} to {end:%H:%M}: {work} minutes of work")
        plan.append("")

        time = start
        for row in day:
            if row.chapter not in (chapter, ""):
                chapter = row.chapter
                plan.append(f"              {chapter}")
            what = row.what if row.chapter else f"-- {row.what}"
            plan.append(f"{time:%H:%M}  {row.minutes:>3} min  {what}")
            time += timedelta(minutes=row.minutes)
    return plan


def in_days(rows: list[AgendaRow], count: int, most: int) -> list[list[AgendaRow]] | None:
    """Return the rows with their breaks, day by day; None if `count` days are too few.

    `most` is how many minutes a day has.
    """
    days = [[]]
    sitting = []  # what was done since the last break
    for block in _join_blocks(rows):
        day = days[-1]  # the list itself, to which rows are added
        if day and _needs_break(sitting, block):
            day.append(_choose_break(day, most))
            sitting = []
        if day and _sum(day) + _sum(block) > most:
            if not day[-1].chapter:  # no day ends with a break
                day.pop()
            days.append([])
            sitting = []
        sitting = sitting + block
        days[-1].extend(block)
    return days if len(days) <= count else None


def _join_blocks(rows: list[AgendaRow]) -> list[list[AgendaRow]]:
    """Return the rows in blocks that no break parts.

    An opening is in one block with what follows it, and a recap with what comes before it.
    """
    blocks = []
    for row in rows:
        if blocks and (row.what == RECAP or blocks[-1][-1].what == OPENING):
            blocks[-1].append(row)
        else:
            blocks.append([row])
    return blocks


def _needs_break(sitting: list[AgendaRow], block: list[AgendaRow]) -> bool:
    """Return whether a break comes before a block; `sitting` is what was done since the last one.

    It does if the sitting would be too long, or at a new chapter, if it has been long enough.
    """
    worked = _sum(sitting)
    if worked + _sum(block) > SITTING:
        return True
    goes_on = sitting and sitting[-1].chapter == block[0].chapter
    return not goes_on and worked >= ENOUGH


def _choose_break(day: list[AgendaRow], most: int) -> AgendaRow:
    """Return the next break of a day of `most` minutes: lunch, once in a longer day, or a pause."""
    has_lunch = any(row.what == LUNCH for row in day)
    is_lunch_time = most > HALF and _sum(day) >= LUNCH_FROM
    kind = LUNCH if is_lunch_time and not has_lunch else PAUSE
    return AgendaRow(MINUTES[kind], "", kind)


def _sum(rows: list[AgendaRow]) -> int:
    return sum(row.minutes for row in rows)
