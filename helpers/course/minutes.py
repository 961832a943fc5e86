"""Estimate how many minutes each section of a notebook takes, by its words, cells and exercises.
The rates below are what readers needed, as a mean over the chapters. The heading of an exercise
says how long the exercise takes, so its prose, stub and solution are not counted. Sections whose
title begins with `DEEPER` are optional, and are counted apart.
"""

import json
import re
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import NamedTuple

WORDS = 150  # that are read in a minute
# Minutes for one line of code, one exhibit (an output in HTML), one prediction.
LINE = 5 / 60
EXHIBIT = 45 / 60
PREDICTION = 30 / 60
STEP = 5  # minutes; the book shows a multiple of it
DEEPER = "Deeper"  # begins the titles of optional sections

# The line below the heading of an exercise: "*Difficulty ●○○ · importance ●●○ · 10 minutes."
_EXERCISE = re.compile(r"^\*Difficulty (\S+) · importance (\S+) · (\d+) minutes\.", re.MULTILINE)
_PART = re.compile(r"^(?=###? )", re.MULTILINE)
_UNREAD = re.compile(r"```.*?```|<details>.*?</details>|<[^>]*>|\]\([^)]*\)", re.DOTALL)
_WORD = re.compile(r"[^\W_][\w'’.-]*")


class TimedExercise(NamedTuple):
    """An exercise, as the lines at its beginning describe it."""

    #: Its title.
    title: str
    #: How hard it is, from 1 to 3.
    difficulty: int
    #: How important it is, from 1 to 3.
    importance: int
    #: How long it takes.
    minutes: int


@dataclass
class Section:
    """A section of a notebook. The part before the first heading counts as a section, too."""

    #: Its title; "" for the part before the first heading.
    title: str
    #: Minutes for reading its prose and running its cells.
    reading: float = 0.0
    #: Its exercises.
    todo: list[TimedExercise] = field(default_factory=list)
    #: How many cells there are to read.
    cells: int = 0
    #: How many words there are to read.
    words: int = 0


def sections(path: Path) -> list[Section]:
    """Return a notebook's sections, in order; the first is its opening."""
    reader = _Reader()
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code":
            reader.read_code(source, cell["outputs"])
        else:
            reader.read_prose(source)
    return reader.sections


class _Reader:
    """Counts the words, lines and exercises of a notebook, cell after cell, into sections."""

    def __init__(self):
        """Begin with the opening, which has no title."""
        self.sections = [Section("")]
        # True from the heading of an exercise to the end of its folded solution, `</details>`.
        self._is_in_exercise = False

    def read_code(self, source: str, outputs: list) -> None:
        """Count a cell of code, unless it is part of an exercise."""
        if not self._is_in_exercise:
            self.sections[-1].reading += _running(source, outputs)
            self.sections[-1].cells += 1

    def read_prose(self, source: str) -> None:
        """Count a cell of prose, in which sections and exercises may begin."""
        has_words = False
        for part in _PART.split(source):
            word_count = self._read_part(part)
            has_words = has_words or word_count > 0
        if has_words:
            self.sections[-1].cells += 1

    def _read_part(self, part: str) -> int:
        """Count one part of a cell, which begins at a heading; return how many words are read.

        The words of an exercise are not counted, because its heading says how long it takes.
        """
        title = part.partition("\n")[0].lstrip("# ")
        if part.startswith("## "):
            self.sections.append(Section(title))
        section = self.sections[-1]

        word_count = 0
        exercise = _EXERCISE.search(part)
        is_outside = part.startswith("##") or not self._is_in_exercise  # a heading ends an exercise
        if exercise:
            difficulty, importance, minutes = exercise.groups()  # "●●○", "●○○", "10"
            section.todo.append(
                TimedExercise(title, difficulty.count("●"), importance.count("●"), int(minutes))
            )
        elif is_outside:
            word_count = len(_WORD.findall(_UNREAD.sub(" ", part)))
            section.words += word_count
            section.reading += word_count / WORDS

        belongs_to_exercise = exercise is not None or not is_outside
        self._is_in_exercise = belongs_to_exercise and "</details>" not in part
        return word_count


def rows(path: Path) -> list[dict]:
    """Return a dict for each section of a notebook: its title, and whole minutes.

    The keys are "section", "reading" and "exercises".
    """
    return [
        {
            "section": section.title or "opening",
            "reading": ceil(section.reading),
            "exercises": sum(exercise.minutes for exercise in section.todo),
        }
        for section in sections(path)
    ]


def count_page_minutes(path: Path) -> tuple[int, int, int]:
    """Return the minutes (reading, exercises, optional sections) that a page of the book shows.

    The first and the last are rounded to multiples of `STEP`.
    """
    needed = 0.0
    deeper = 0.0
    exercises = 0
    for section in sections(path):
        if section.title.startswith(DEEPER):
            deeper += section.reading
        else:
            needed += section.reading
        exercises += sum(exercise.minutes for exercise in section.todo)
    return max(STEP, _rounded(needed)), exercises, _rounded(deeper)


def _rounded(minutes: float) -> int:
    return STEP * round(minutes / STEP)


def _running(source: str, outputs: list) -> float:
    """Return the minutes for reading a cell of code, running it, and looking at its outputs."""
    line_count = len([line for line in source.splitlines() if line.strip()])
    exhibit_count = len([output for output in outputs if "text/html" in output.get("data", {})])
    prediction_count = source.count("predict(")
    return line_count * LINE + exhibit_count * EXHIBIT + prediction_count * PREDICTION
