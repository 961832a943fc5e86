"""How long a workshop is -> its plan: sections, exercises and pauses, each with its minutes.

The minutes of sections and exercises are those of the notebooks. All of a chapter's reading is
done; of the exercises those that fit are taken, the most important first, then the shortest.
"""

import argparse
import re
from dataclasses import dataclass
from math import ceil
from pathlib import Path

import course
from helpers.course.minutes import DEEPER, exercises, sections
from helpers.course.reset import chapter_named, chapters
from helpers.course.work import notebooks
from helpers.course.workshop_breaks import HALF, MINUTES, OPENING, Row, in_days

STEP = "Step "
YOUR_TURN = re.compile(r"\d+ · Your turn$")


@dataclass(frozen=True)
class Length:
    """So many days of so many minutes each, pauses among them; and the chapters that fit well."""

    name: str
    days: int
    minutes: int
    chapters: str


LENGTHS = (
    Length("half-day", 1, HALF, "0 1 3"),
    Length("day", 1, 450, "0 1 2 3 4"),
    Length("two-days", 2, 450, "0 1 2 3 4 5 6 7"),
)


def workshop(words: list[str]) -> int:
    """Print the plan that the words ask for: a length, and the numbers of chapters if any."""
    length, chosen, start = _asked(words)
    days = planned(length, [notebooks() / chapter_named(word) for word in chosen])
    for line in lines(days, start):
        course.say(line)
    return 0


def planned(length: Length, chapters: list[Path]) -> list[list[Row]]:
    """Return the rows of each day.

    Refusal if the chapters' reading alone, with its pauses, is longer than the days.
    """
    rows = [row for path in chapters for row in _rows(path)]
    kept = [row for row in rows if not row.worth]
    days = in_days(kept, length.days, length.minutes)
    if days is None:
        hours = f"{length.days * length.minutes / 60:g} hours"
        raise course.Refusal(f"These chapters take longer than a workshop of {hours}: name fewer.")
    for row in sorted((row for row in rows if row.worth), key=lambda row: row.worth):
        more = [one for one in rows if one in (*kept, row)]
        tried = _follows(row, more, rows) and in_days(more, length.days, length.minutes)
        if tried:
            kept, days = more, tried
    return days


def _follows(row: Row, kept: list[Row], rows: list[Row]) -> bool:
    """Tell whether all steps before this one are kept; of an exercise that is no step, True."""
    before = rows[: rows.index(row)] if row.what.startswith(STEP) else []
    steps = [one for one in before if one.chapter == row.chapter and one.what.startswith(STEP)]
    return all(one in kept for one in steps)


def lines(days: list[list[Row]], start: int) -> list[str]:
    """Return the plan as lines of text; each day begins `start` minutes after midnight."""
    told, chapter = [], ""
    for number, day in enumerate(days, 1):
        now, work = start, sum(row.minutes for row in day if row.what not in MINUTES)
        until = _clock(start + sum(row.minutes for row in day))
        told += [f"Day {number}, {_clock(start)} to {until}: {work} minutes of work", ""]
        for row in day:
            if row.chapter not in (chapter, ""):
                told.append(f"              {row.chapter}")
                chapter = row.chapter
            what = row.what if row.chapter else f"-- {row.what}"
            told.append(f"{_clock(now)}  {row.minutes:>3} min  {what}")
            now += row.minutes
        told.append("")
    return told[:-1]


def _asked(words: list[str]) -> tuple[Length, list[str], int]:
    about = "Print a plan: sections, exercises and pauses, each with its minutes."
    parser = argparse.ArgumentParser("course.py workshop", description=about, allow_abbrev=False)
    by_name = {length.name: length for length in LENGTHS}
    parser.add_argument("length", choices=by_name)
    numbers = "numbers of chapters, in the order of the day"
    parser.add_argument("chapters", nargs="*", default=[], help=numbers)
    begins = "when each day begins"
    parser.add_argument("--from", dest="start", default="09:00", metavar="09:00", help=begins)
    asked = parser.parse_intermixed_args(words)
    at = re.fullmatch(r"([01]?\d|2[0-3]):([0-5]\d)", asked.start)
    if not at:
        raise course.Refusal(f"A day begins at a time like 09:00, not at {asked.start!r}.")
    length = by_name[asked.length]
    there = "".join(str(int(name[:2])) for name in chapters() if name[:2].isdigit())
    usual = [number for number in length.chapters.split() if number in there]
    return length, asked.chapters or usual, 60 * int(at[1]) + int(at[2])


def _rows(path: Path) -> list[Row]:
    """Return what there is to do in a chapter: each section, and after it its exercises."""
    rows, todo = [], exercises(path)
    for part in sections(path):
        reading = ceil(part.reading)
        if reading and not part.title.startswith(DEEPER) and not YOUR_TURN.match(part.title):
            rows.append(Row(reading, path.stem, part.title or OPENING))
        step = ()  # a step builds on those before it, and is worth no more than they are
        for one in (one for one in todo if one.section == part.title):
            worth = (-one.importance, one.difficulty, one.minutes)
            if one.title.startswith(STEP):
                worth = step = max(step, worth)
            rows.append(Row(one.minutes, path.stem, f"{one.title} {'●' * one.difficulty}", worth))
    return rows


def _clock(minutes: int) -> str:
    return f"{minutes // 60 % 24:02}:{minutes % 60:02}"
