"""A notebook -> how many minutes each of its sections takes, by one written rule.

The rule is what readers needed, as a mean over the chapters. An exercise takes what it says; its
prose, stub and solution are not counted again. What is under `DEEPER` is counted apart.
"""

import json
import re
from collections import namedtuple
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path

WORDS = 150  # a minute
LINE, EXHIBIT, PREDICTION = 5 / 60, 45 / 60, 30 / 60  # minutes
STEP = 5  # minutes; a page shows a multiple of it
DEEPER = "Deeper"  # begins the titles of sections for those who want more

_EXERCISE = re.compile(r"^\*Difficulty (\S+) · importance (\S+) · (\d+) minutes\.", re.MULTILINE)
_PART = re.compile(r"^(?=###? )", re.MULTILINE)
_UNREAD = re.compile(r"```.*?```|<details>.*?</details>|<[^>]*>|\]\([^)]*\)", re.DOTALL)
_WORD = re.compile(r"[^\W_][\w'’.-]*")


# An exercise by its heading: how hard and how important, from 1 to 3, and its minutes.
Exercise = namedtuple("Exercise", "title difficulty importance minutes")


@dataclass
class Section:
    """A section, or what comes before the first: minutes, cells and words to read, exercises."""

    title: str
    reading: float = 0.0
    todo: list[Exercise] = field(default_factory=list)
    cells: int = 0
    words: int = 0


def sections(path: Path) -> list[Section]:
    """Return a notebook's sections, in order; the first is its opening."""
    found, inside = [Section("")], False  # whether an exercise is under way
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code":
            found[-1].reading += 0 if inside else _running(source, cell["outputs"])
            found[-1].cells += not inside
            continue
        read = False
        for part in _PART.split(source):
            title = part.partition("\n")[0].lstrip("# ")
            if part.startswith("## "):
                found.append(Section(title))
            if asked := _EXERCISE.search(part):
                dots = (one.count("●") for one in asked.groups()[:2])
                found[-1].todo.append(Exercise(title, *dots, int(asked[3])))
            elif not inside or part.startswith("##"):
                words = len(_WORD.findall(_UNREAD.sub(" ", part)))
                found[-1].words += words
                found[-1].reading += words / WORDS
                read = read or words > 0
            goes_on = bool(asked) or inside and not part.startswith("##")
            inside = goes_on and "</details>" not in part
        found[-1].cells += read
    return found


def rows(path: Path) -> list[dict]:
    """Return a row for each of a notebook's sections: its title, and whole minutes for both."""
    return [
        {
            "section": one.title or "opening",
            "reading": ceil(one.reading),
            "exercises": sum(each.minutes for each in one.todo),
        }
        for one in sections(path)
    ]


def on_the_page(path: Path) -> tuple[int, int, int]:
    """Return the minutes of reading, of the exercises, and of what goes deeper."""
    parts, times = sections(path), [0.0, 0.0]
    for part in parts:
        times[part.title.startswith(DEEPER)] += part.reading
    needed, deeper = (STEP * round(minutes / STEP) for minutes in times)
    exercises = sum(one.minutes for part in parts for one in part.todo)
    return max(STEP, needed), exercises, deeper


def _running(source: str, outputs: list) -> float:
    lines = sum(bool(line.strip()) for line in source.splitlines())
    exhibits = sum("text/html" in output.get("data", {}) for output in outputs)
    return lines * LINE + exhibits * EXHIBIT + source.count("predict(") * PREDICTION
