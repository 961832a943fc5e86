"""How long a workshop is -> its plan: sections, exercises and pauses, each with its minutes.

The minutes of sections and exercises are those of the notebooks. All of a chapter's reading is
done; of the exercises those that fit are taken, the most important first, then the shortest. No
break parts a chapter's opening from what follows it, or its recap from what comes before.
"""

import argparse
import re
from collections import namedtuple
from datetime import datetime, timedelta
from math import ceil
from pathlib import Path

from helpers.course.minutes import DEEPER, sections
from helpers.course.terminal import Parser, Refusal, say
from helpers.course.work import chapter_named, chapters, notebooks

STEP = "Step "
YOUR_TURN = re.compile(r"\d+ · Your turn$")
OPENING, RECAP = "What it is about", "Recap"
PAUSE, LUNCH = "Pause", "Lunch"
MINUTES = {PAUSE: 15, LUNCH: 60}
SITTING = 75  # minutes between two breaks, at most, but for one long section or exercise
HALF = 240  # minutes of a day without lunch
ENOUGH = 45  # minutes after which a break comes between two chapters
LUNCH_FROM = 120  # minutes of a longer day: its first break after that is lunch
# name -> days, minutes of each with its pauses, the chapters that fit well
LENGTHS = {
    "half-day": (1, HALF, "0 1 3"),
    "day": (1, 450, "0 1 2 3 4"),
    "two-days": (2, 450, "0 1 2 3 4 5 6 7"),
}


# Something to do: its minutes, its chapter ("" for a break), and what it is. `worth` is () for
# what is always done; else the exercise is taken in the order of its worth, the smallest first.
Row = namedtuple("Row", "minutes chapter what worth", defaults=((),))


def workshop(words: list[str]) -> int:
    """Print the plan that the words ask for: a length, and the numbers of chapters if any."""
    asked = read_words(words)
    days, minutes, _ = LENGTHS[asked.length]
    plan = planned(days, minutes, [notebooks() / name for name in asked.chapters])
    for line in lines(plan, asked.start):
        say(line)
    return 0


def read_words(words: list[str]) -> argparse.Namespace:
    """Return what the words say: `length`, `chapters` as names of notebooks, `start` as a time."""
    parser = Parser("workshop")
    parser.add_argument("length", choices=LENGTHS, nargs="?")
    parser.add_argument("chapters", nargs="*", help="numbers, in the order of the day")
    parser.add_argument("--from", dest="start", default="09:00", metavar="09:00")
    asked = parser.read(words)
    if asked.length is None:
        raise Refusal(f"workshop needs a length: {', '.join(LENGTHS)}; chapters may follow it.")
    try:
        asked.start = datetime.strptime(asked.start, "%H:%M")
    except ValueError:
        raise Refusal(f"--from needs a time like 09:00, not {asked.start!r}.") from None
    usual = LENGTHS[asked.length][2].split()
    there = [str(int(name[:2])) for name in chapters() if name[:2].isdigit()]
    chosen = asked.chapters or [number for number in usual if number in there]
    asked.chapters = [chapter_named(word) for word in chosen]
    return asked


def planned(count: int, minutes: int, paths: list[Path]) -> list[list[Row]]:
    """Return the rows of each of `count` days, of so many minutes with its breaks.

    Refusal if just reading the chapters, with pauses, takes longer than the days.
    """
    rows = [row for path in paths for row in rows_of(path)]
    kept = [row for row in rows if not row.worth]
    days = in_days(kept, count, minutes)
    if days is None:
        hours = f"{count * minutes / 60:g} hours"
        raise Refusal(f"These chapters take longer than a workshop of {hours}: name fewer.")
    missed = set()  # chapters of which a step does not fit, and so none after it
    for row in sorted((row for row in rows if row.worth), key=lambda row: row.worth):
        step = row.what.startswith(STEP)
        more = [one for one in rows if one in (*kept, row)]
        if not (step and row.chapter in missed) and (tried := in_days(more, count, minutes)):
            kept, days = more, tried
        elif step:
            missed.add(row.chapter)
    return days


def rows_of(path: Path) -> list[Row]:
    """Return what there is to do in a chapter: each section, and after it its exercises."""
    rows = []
    for part in sections(path):
        reading = ceil(part.reading)
        if reading and not part.title.startswith(DEEPER) and not YOUR_TURN.match(part.title):
            rows.append(Row(reading, path.stem, part.title or OPENING))
        step = ()  # a step builds on those before it, and is worth no more than they are
        for one in part.todo:
            worth = (-one.importance, one.difficulty, one.minutes)
            if one.title.startswith(STEP):
                worth = step = max(step, worth)
            rows.append(Row(one.minutes, path.stem, f"{one.title} {'●' * one.difficulty}", worth))
    return rows


def lines(days: list[list[Row]], start: datetime) -> list[str]:
    """Return the plan as lines of text; each day begins at this time."""
    told, chapter = [], ""
    for number, day in enumerate(days, 1):
        now, work = start, _sum([row for row in day if row.chapter])
        until = start + timedelta(minutes=_sum(day))
        told += ["", f"Day {number}, {start:%H:%M} to {until:%H:%M}: {work} minutes of work", ""]
        for row in day:
            if row.chapter not in (chapter, ""):
                chapter = row.chapter
                told.append(f"              {chapter}")
            what = row.what if row.chapter else f"-- {row.what}"
            told.append(f"{now:%H:%M}  {row.minutes:>3} min  {what}")
            now += timedelta(minutes=row.minutes)
    return told[1:]


def in_days(rows: list[Row], count: int, most: int) -> list[list[Row]] | None:
    """Return the rows with their breaks, day by day; None if `count` days are too few."""
    blocks = []  # what no break parts: an opening goes with what follows it
    for row in rows:
        joined = blocks and (row.what == RECAP or blocks[-1][-1].what == OPENING)
        blocks[-1:] = [[*blocks[-1], row]] if joined else [*blocks[-1:], [row]]
    days, sitting = [[]], []
    for block in blocks:
        day, goes_on = days[-1], sitting and sitting[-1].chapter == block[0].chapter
        worked = _sum(sitting)
        if day and (worked + _sum(block) > SITTING or not goes_on and worked >= ENOUGH):
            hungry = most > HALF and _sum(day) >= LUNCH_FROM
            kind = LUNCH if hungry and all(row.what != LUNCH for row in day) else PAUSE
            day.append(Row(MINUTES[kind], "", kind))
            sitting = []
        if day and _sum(day) + _sum(block) > most:
            days[-1] = day[:-1] if not day[-1].chapter else day
            days.append([])
            sitting = []
        sitting = sitting + block
        days[-1].extend(block)
    return days if len(days) <= count else None


def _sum(rows: list[Row]) -> int:
    return sum(row.minutes for row in rows)
