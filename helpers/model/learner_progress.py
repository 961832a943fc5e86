"""The notebooks' text, and the events of a record -> how far a learner is, and what is next."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from urllib.parse import quote

from helpers.model.exercise_cells import exercise_cells
from helpers.model.phrase import counted

UNTRIED, HINTED, TRIED, PASSED = STATES = ("not tried", "hint taken", "tried", "passed")
_RISES = {"hint": HINTED, "failed": TRIED, "passed": PASSED}


@dataclass(frozen=True)
class Task:
    """An exercise: a link to its cell, as JupyterLab reads it, and the farthest that it came."""

    name: str
    link: str
    state: str = UNTRIED


@dataclass(frozen=True)
class Chapter:
    """A chapter's exercises, and how many predictions were decided, and `right` at first."""

    number: int
    title: str
    tasks: tuple[Task, ...]
    decided: int = 0
    right: int = 0

    @property
    def passed(self) -> int:
        """Return how many exercises are passed."""
        return sum(task.state == PASSED for task in self.tasks)


@dataclass(frozen=True)
class Progress:
    """All chapters; `here` is the number of the one that was worked on last, None before that.

    `shared`: the learner lets others see the states. `elsewhere`: who asks records nothing, for it
    is no kernel in `work/`.
    """

    chapters: tuple[Chapter, ...]
    here: int | None = None
    trouble: str = ""
    shared: bool = False
    elsewhere: bool = False

    @property
    def next(self) -> tuple[Chapter, Task] | None:
        """Return the first exercise that is not passed, from `here` on and then from the start."""
        numbers = [chapter.number for chapter in self.chapters]
        start = numbers.index(self.here) if self.here in numbers else 0
        onward = self.chapters[start:] + self.chapters[:start]
        left = ((one, task) for one in onward for task in one.tasks if task.state != PASSED)
        return next(left, None)

    @property
    def left_off(self) -> str:
        """Return in one line where the learner left off; nothing where nothing was recorded."""
        here = next((one for one in self.chapters if one.number == self.here), None)
        if here is None:
            return ""
        many = f"{here.passed} of {counted(len(here.tasks), 'exercise')} passed"
        return f"You left off in chapter {here.number}: {many}; {self.goes_on}."

    @property
    def goes_on(self) -> str:
        """Return which exercise is next, in words."""
        if self.next is None:
            return "every exercise of the course is passed"
        chapter, task = self.next
        return f"next: {task.name}" + (
            f", in chapter {chapter.number}" if chapter.number != self.here else ""
        )


def chapters(texts: dict[str, str]) -> tuple[Chapter, ...]:
    """Return the chapters of notebooks by their file's name; ValueError for what is no notebook.

    Its number and its title are in the name: `03_bytecode_and_frames.ipynb`.
    """
    return tuple(
        Chapter(int(number), stem.replace("_", " "), tuple(_tasks(name, texts[name])))
        for name in sorted(texts)
        for number, _, stem in [name.removesuffix(".ipynb").partition("_")]
        if number.isdigit()
    )


def progress(chapters: Iterable[Chapter], events: Iterable[dict], trouble: str = "") -> Progress:
    """Return the chapters with what the events tell of them, in the order in which they came."""
    states, first, here = {}, {}, None
    homes = {task.name: chapter.number for chapter in chapters for task in chapter.tasks}
    for event in events:
        if "check" in event:
            came = states.get(event["check"], UNTRIED), _RISES[event["is"]]
            states[event["check"]] = max(came, key=STATES.index)
            here = homes.get(event["check"], here)
        else:
            here = here if event["chapter"] is None else event["chapter"]
            first.setdefault(event["predict"], (event["chapter"], event["said"] == event["was"]))
    told = tuple(_told(chapter, states, list(first.values())) for chapter in chapters)
    return Progress(told, here, trouble)


def _told(chapter: Chapter, states: dict, guesses: list) -> Chapter:
    tasks = (replace(task, state=states.get(task.name, UNTRIED)) for task in chapter.tasks)
    rights = [right for number, right in guesses if number == chapter.number]
    return replace(chapter, tasks=tuple(tasks), decided=len(rights), right=sum(rights))


def _tasks(file: str, text: str) -> Iterator[Task]:
    """Yield the exercises of a notebook, each with a link to the cell of its heading."""
    try:
        cells = json.loads(text)["cells"]
        for one in exercise_cells(cells):
            yield Task(one.name, f"{file}#cell-id={quote(cells[one.heading]['id'])}")
    except (ValueError, LookupError, TypeError, RecursionError):
        raise ValueError(f"{file} is no notebook") from None
