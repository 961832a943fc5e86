"""A plan's minutes are those of the notebooks, its sums add up, and a copy can be solved so far."""

import json
import random
import re
from math import ceil
from pathlib import Path

import pytest

import course
from helpers.course import workshop
from helpers.course.minutes import exercises, sections
from helpers.course.solved import solved
from helpers.course.workshop import LENGTHS, Length, lines, planned
from helpers.course.workshop_breaks import (
    HALF,
    LUNCH,
    LUNCH_FROM,
    LUNCH_TO,
    OPENING,
    PAUSE,
    RECAP,
    SITTING,
    Row,
    in_days,
)
from helpers.model.exercise_cells import exercise_cells

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("0*.ipynb"))
SEEDED = random.Random(18)
CHOSEN = [
    (length, sorted(SEEDED.sample(NOTEBOOKS[:6], n))) for length in LENGTHS for n in (1, 2, 3)
]


@pytest.mark.parametrize(("length", "paths"), CHOSEN, ids=str)
def test_a_plan_fits_rests_and_adds_up(length, paths):
    days = planned(length, paths)
    assert 0 < len(days) <= length.days
    for day in days:
        assert sum(row.minutes for row in day) <= length.minutes
        assert [row.what for row in day].count(LUNCH) <= (length.minutes > HALF)
        assert day[0].chapter and day[-1].chapter  # no pause before or after
        sitting = []
        for row in day:
            sitting = [*sitting, row.minutes] if row.chapter else []
            assert sum(sitting) <= SITTING or len(sitting) == 1


@pytest.mark.parametrize(("length", "paths"), [*CHOSEN, (LENGTHS[2], NOTEBOOKS)], ids=str)
def test_no_break_parts_a_recap_or_an_opening_from_its_chapter(length, paths):
    for day in planned(length, paths):
        for before, after in zip(day, day[1:], strict=False):
            assert before.what != OPENING or after.chapter
            assert after.what != RECAP or before.chapter


def made(chapter, *minutes):
    return [Row(number, chapter, f"{number} minutes") for number in minutes]


def test_a_break_stands_between_chapters_where_there_is_a_choice():
    rows = [*made("a", 30, 20), *made("b", 10, 10, 25)]
    [day] = in_days(rows, 1, HALF)
    assert [row.what for row in day].index(PAUSE) == 2
    [day] = in_days([*made("a", 30), *made("b", 10, 10, 40)], 1, HALF)
    assert [row.what for row in day].index(PAUSE) == 1
    [day] = in_days(made("a", 70, 5, 20), 1, HALF)  # of one chapter: so that sittings are alike
    assert [row.what for row in day].index(PAUSE) == 1


def test_a_recap_waits_for_no_break():
    rows = [*made("a", 60, 60), Row(20, "a", RECAP), *made("b", 60, 60)]
    [day] = in_days(rows, 1, 450)
    assert [day[3].what, day[4].chapter] == [RECAP, ""]
    assert in_days([*made("a", 70, 160), Row(20, "a", RECAP)], 1, HALF) is None


@pytest.mark.parametrize("minutes", range(275, 400, 25))
def test_a_day_eats_once_and_at_noon(minutes):
    [day] = in_days(made("a", *[5] * (minutes // 5)), 1, 500)
    at = [row.what for row in day].index(LUNCH)
    assert LUNCH_FROM <= sum(row.minutes for row in day[:at]) < LUNCH_TO + SITTING
    assert [row.what for row in day].count(LUNCH) == 1
    assert [row.what for row in day].count(PAUSE) == -(-minutes // SITTING) - 2


@pytest.mark.parametrize(("length", "paths"), CHOSEN, ids=str)
def test_all_reading_is_in_the_plan_with_the_minutes_of_the_notebook(length, paths):
    done = [row for day in planned(length, paths) for row in day if row.chapter]
    for path in paths:
        rows = [(row.what, row.minutes) for row in done if row.chapter == path.stem]
        for part in sections(path):
            needed = part.title and not re.match(r"Deeper|\d+ · Your turn", part.title)
            assert not needed or (part.title, ceil(part.reading)) in rows
        known = {(f"{one.title} {'●' * one.difficulty}", one.minutes) for one in exercises(path)}
        assert {row for row in rows if row[0].endswith("●")} <= known


def test_what_is_left_out_is_not_more_important_than_what_is_done():
    [day] = planned(LENGTHS[0], [NOTEBOOKS[1], NOTEBOOKS[3]])
    every = [row for path in (NOTEBOOKS[1], NOTEBOOKS[3]) for row in workshop._rows(path)]
    left = [row for row in every if row not in day]
    assert left and min(row.worth for row in left) >= min(row.worth for row in day if row.worth)
    shortest = min(row.minutes for row in left)
    assert sum(row.minutes for row in day) + shortest > HALF or any(
        row.what.startswith(workshop.STEP) for row in left
    )


@pytest.mark.parametrize("minutes", range(150, 330, 15))
def test_no_step_is_done_without_those_before_it(minutes):
    days = planned(Length("made", 1, minutes, ""), [NOTEBOOKS[4]])
    steps = [row.what.split()[1] for day in days for row in day if row.what.startswith("Step")]
    assert steps == [str(number) for number in range(1, len(steps) + 1)]


def test_the_clock_goes_on_by_the_minutes_of_each_row():
    days = planned(LENGTHS[2], NOTEBOOKS[:7])
    told = [re.match(r"(\d\d):(\d\d) +(\d+) min", line) for line in lines(days, 9 * 60)]
    told = [tuple(map(int, one.groups())) for one in told if one]
    rows = [row for day in days for row in day]
    assert [minutes for _, _, minutes in told] == [row.minutes for row in rows]
    for (h, m, minutes), (hh, mm, _) in zip(told, told[1:], strict=False):
        assert 60 * hh + mm in (60 * h + m + minutes, 9 * 60)


def test_a_plan_says_day_pauses_and_chapters(capsys):
    assert workshop.workshop(["half-day", "--from", "13:30", "1", "3"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("Day 1, 13:30 to ") and f"-- {PAUSE}" in told
    assert told.index("01_function_references") < told.index("03_bytecode_and_frames")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["half-day", *"0123456"], "longer than a workshop of 4 hours"),
        (["day", "77"], "names no one notebook"),
        (["day", "--from", "25:00"], "a time like 09:00"),
    ],
)
def test_what_cannot_be_planned_is_refused_in_a_sentence(words, why):
    with pytest.raises(course.Refusal, match=why):
        workshop.workshop(words)


def test_without_a_word_the_length_alone_is_missing(capsys):
    with pytest.raises(SystemExit):
        workshop.workshop([])
    assert "required: length\n" in capsys.readouterr().err


def test_another_length_is_refused_with_those_there_are(capsys):
    with pytest.raises(SystemExit):
        workshop.workshop(["week"])
    assert "half-day" in capsys.readouterr().err


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_first_exercises_are_solved_and_nothing_else_differs(path):
    before = json.loads(path.read_text("utf-8"))["cells"]
    there = list(exercise_cells(before))
    for count in {1, len(there)}:
        after = json.loads(solved(path, count))["cells"]
        changed = {
            at for at, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1]
        }
        told = there[:count]
        assert (
            {one.stub for one in told}
            <= changed
            <= {p for one in told for p in (one.stub, one.check)}
        )
        for one in told:
            assert "".join(after[one.stub]["source"]) == one.solution.rstrip()
            assert not after[one.stub]["outputs"] and not after[one.check]["outputs"]


@pytest.mark.parametrize("count", [0, -1, 99])
def test_a_number_of_exercises_that_are_not_there_is_refused(count):
    with pytest.raises(course.Refusal, match=f"takes a number from 1 to 1, .* not {count}"):
        solved(NOTEBOOKS[0], count)
