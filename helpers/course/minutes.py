"""A notebook -> how many minutes each of its sections takes, by one written rule.

The rule is what readers needed, as a mean over the chapters. An exercise takes what it says; its
prose, stub and solution are not counted again. What is under `DEEPER` is counted apart.
"""

import json
import re
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import NamedTuple

WORDS = 150  # a minute
# Minutes of each.
LINE = 5 / 60
EXHIBIT = 45 / 60
PREDICTION = 30 / 60
STEP = 5  # minutes; a page shows a multiple of it
DEEPER = "Deeper"  # begins the titles of sections for those who want more

_EXERCISE = re.compile(r"^\*Difficulty (\S+) · importance (\S+) · (\d+) minutes\.", re.MULTILINE)
_PART = re.compile(r"^(?=###? )", re.MULTILINE)
_UNREAD = re.compile(r"```.*?```|<details>.*?</details>|<[^>]*>|\]\([^)]*\)", re.DOTALL)
_WORD = re.compile(r"[^\W_][\w'’.-]*")


class TimedExercise(NamedTuple):
    """An exercise, as its heading says it."""

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
    """A section, or what comes before the first."""

    #: Its title, "" for what comes before the first.
    title: str
    #: Minutes of reading and running.
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
    """Reads a notebook, cell after cell."""

    def __init__(self):
        """Begin with the opening, which has no title."""
        self.sections = [Section("")]
        # From an exercise's heading to the end of its folded solution: `</details>`.
        self._is_in_exercise = False

    def read_code(self, source: str, outputs: list) -> None:
        """Count a cell of code; the stub of an exercise is not counted."""
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
        """Count what stands under one heading; return the words that are read there."""
        title = part.partition("\n")[0].lstrip("# ")
        if part.startswith("## "):
            self.sections.append(Section(title))
        section = self.sections[-1]

        word_count = 0
        exercise = _EXERCISE.search(part)
        is_outside = part.startswith("##") or not self._is_in_exercise  # a heading ends an exercise
        if exercise:
            difficulty, importance, minutes = exercise.groups()
            section.todo.append(
                TimedExercise(title, difficulty.count("●"), importance.count("●"), int(minutes))
            )
        elif is_outside:
            word_count = len(_WORD.findall(_UNREAD.sub(" ", part)))
            section.words += word_count
            section.reading += word_count / WORDS

        goes_on = exercise is not None or not is_outside
        self._is_in_exercise = goes_on and "</details>" not in part
        return word_count


def rows(path: Path) -> list[dict]:
    """Return a row for each of a notebook's sections: its title, and whole minutes for both."""
    return [
        {
            "section": section.title or "opening",
            "reading": ceil(section.reading),
            "exercises": sum(exercise.minutes for exercise in section.todo),
        }
        for section in sections(path)
    ]


def on_the_page(path: Path) -> tuple[int, int, int]:
    """Return the minutes of reading, of the exercises, and of what goes deeper."""
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
    """Return the minutes that a cell of code takes."""
    line_count = len([line for line in source.splitlines() if line.strip()])
    exhibit_count = len([output for output in outputs if "text/html" in output.get("data", {})])
    prediction_count = source.count("predict(")
    return line_count * LINE + exhibit_count * EXHIBIT + prediction_count * PREDICTION
