"""A plan's minutes are those of the notebooks, its sums add up, and a copy can be solved so far."""

import json
import random
import re
from math import ceil
from pathlib import Path

import pytest

from helpers.course import terminal, workshop
from helpers.course.fresh import fresh
from helpers.course.minutes import sections
from helpers.course.workshop import (
    HALF,
    LENGTHS,
    LUNCH,
    OPENING,
    PAUSE,
    RECAP,
    SITTING,
    plan_workshop,
)
from helpers.model.study_records import find_exercise_cells

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("0*.ipynb"))
SEEDED = random.Random(18)
MANY = [(days, minutes, n) for days, minutes, _ in LENGTHS.values() for n in (1, 3)]
CHOSEN = [(days, most, sorted(SEEDED.sample(NOTEBOOKS[:6], n))) for days, most, n in MANY]


@pytest.mark.parametrize(("count", "minutes", "paths"), CHOSEN, ids=str)
def test_a_plan_fits_rests_and_adds_up(count, minutes, paths):
    days = plan_workshop(count, minutes, paths)
    assert 0 < len(days) <= count
    for day in days:
        assert sum(row.minutes for row in day) <= minutes
        assert [row.title for row in day].count(LUNCH) <= (minutes > HALF)
        assert day[0].chapter and day[-1].chapter  # no pause before or after
        sitting = []
        for row in day:
            sitting = [*sitting, row.minutes] if row.chapter else []
            assert sum(sitting) <= SITTING or len(sitting) == 1
        for before, after in zip(day, day[1:], strict=False):
            assert before.title != OPENING or after.chapter
            assert after.title != RECAP or before.chapter
    # all reading is in it, with the minutes of the notebook
    done = [row for day in days for row in day if row.chapter]
    for path in paths:
        rows = [(row.title, row.minutes) for row in done if row.chapter == path.stem]
        for part in sections(path):
            needed = part.title and not re.match(r"Deeper|\d+ · Your turn", part.title)
            assert not needed or (part.title, ceil(part.reading)) in rows
        todo = [one for part in sections(path) for one in part.todo]
        known = {(f"{one.title} {'●' * one.difficulty}", one.minutes) for one in todo}
        assert {row for row in rows if row[0].endswith("●")} <= known


@pytest.mark.parametrize("minutes", range(150, 330, 45))
def test_no_step_is_done_without_those_before_it(minutes):
    days = plan_workshop(1, minutes, [NOTEBOOKS[4]])
    steps = [row.title.split()[1] for day in days for row in day if row.title.startswith("Step")]
    assert steps == [str(number) for number in range(1, len(steps) + 1)]


def test_a_plan_says_day_pauses_and_chapters(capsys):
    assert workshop.workshop(["half-day", "--from", "13:30", "1", "3"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("Day 1, 13:30 to ") and f"-- {PAUSE}" in told
    assert told.index("01_function_references") < told.index("03_bytecode_and_frames")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["half-day", *"0123456"], "longer than a workshop of 4 hours"),
        (["day", "77"], "does not name exactly one notebook"),
        (["day", "--from", "25:00"], "a time like 09:00"),
    ],
)
def test_what_cannot_be_planned_is_refused_in_a_sentence(words, why, refused):
    refused(terminal.CommandRefused, why, workshop.workshop, words)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_first_exercises_are_solved_and_nothing_else_differs(path):
    before = json.loads(fresh(path))["cells"]
    there = list(find_exercise_cells(before))
    for count in {1, len(there)}:
        after = json.loads(fresh(path, count))["cells"]
        pairs = enumerate(zip(before, after, strict=True))
        changed, told = {at for at, (old, new) in pairs if old != new}, there[:count]
        stubs, checks = {one.stub for one in told}, {one.check for one in told}
        assert stubs <= changed <= stubs | checks
        for one in told:
            assert "".join(after[one.stub]["source"]) == one.solution.rstrip()
            assert not after[one.stub]["outputs"] and not after[one.check]["outputs"]
