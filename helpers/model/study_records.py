"""Records of study: questions, sandboxes, outcomes of checks, progress of learners."""

import json
import re
from collections import namedtuple
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from urllib.parse import quote

from ..safety.arguments import quote_value
from .phrase import clipped, counted, listed, stop
from .spine import CHAPTERS
from .tables import Column, Listing


class Choice(namedtuple("Choice", "question choices answer why raised", defaults=("", False))):
    """A question with its answer, one of `choices`; where running it `raised`, its type's name."""

    @property
    def outcome(self) -> str:
        """Return what running it gave or raised, as a sentence with its why."""
        verb = "raised" if self.raised else "gave"
        return f"Running it {verb} {self.answer}{stop(self.answer)} {self.why}".strip()


# A question that was asked: what the learner `said`, what it `was`; ✓, ✗ or – as its mark.
Decided = namedtuple("Decided", "mark question said was")
# Two answers that part: `yours`, and what `who` gives; the words before and after them.
Beside = namedtuple("Beside", "before yours real who after", defaults=("",))
# `state`: untried, passed, failed or hint; `because`: why; `more`: what to do next. `beside`: a
# `Beside` or None; `picture`: a model or None.
_OUTCOME = "exercise state because more beside picture"
Outcome = namedtuple("Outcome", _OUTCOME, defaults=("", "", None, None))


class Control(namedtuple("Control", "name options of matters", defaults=("", ()))):
    """One choice. It matters for some values of the control `of`, or always where that is empty."""

    @property
    def first(self) -> str:
        """Return the option that is picked at first."""
        return self.options[0]


class Sandbox(namedtuple("Sandbox", "title note controls verdicts code")):
    """Controls for a call, the `verdicts` that can be predicted, and `code`."""

    def start(self) -> dict[str, str]:
        """Return what is picked at first: control -> option."""
        return {control.name: control.first for control in self.controls}

    def different(self) -> Iterator[dict[str, str]]:
        """Yield the picks that differ in something that matters, each without the rest."""
        for options in product(*(control.options for control in self.controls)):
            picked = dict(zip(self.start(), options, strict=True))
            idle = [c for c in self.controls if c.of and picked[c.of] not in c.matters]
            if all(picked.pop(c.name) == c.first for c in idle):
                yield picked

    def picked(self, **changes: str) -> dict[str, str]:
        """Return the start with changes. ValueError names a control or an option not there."""
        options = {control.name: control.options for control in self.controls}
        for name, option in changes.items():
            offered(name, tuple(options), "the controls are")
            offered(option, options[name], f"{name} can be")
        return {**self.start(), **changes}


def offered(given: object, options: tuple[str, ...], what: str) -> str:
    """Return the option that `given` is; ValueError says `what` it can be."""
    if type(given) is not str or given not in options:
        raise ValueError(f"{what} {', '.join(options)}; {quote_value(given)} is not one of them")
    return given


_CHECK = re.compile(r"^check\.(\w+)\(", re.MULTILINE)
_FENCED = re.compile(r"```python\n(.*?)```", re.DOTALL)
_HEADING = re.compile(r"^#{2,6} ", re.MULTILINE)
_CODE = re.compile(r"```.*?```", re.DOTALL)


# An exercise: its name, the places of its cells, and its folded solution ("" in a handout).
ExerciseCells = namedtuple("ExerciseCells", "name heading stub check solution")


def exercise_cells(cells: list[dict]) -> Iterator[ExerciseCells]:
    """Yield each check that is called; the stub comes before it, the solution after it."""
    heading, sources = 0, ["".join(cell["source"]) for cell in cells]
    for at, cell in enumerate(cells):
        if cell["cell_type"] == "markdown":
            heading = at if _HEADING.search(_CODE.sub("", sources[at])) else heading
        elif called := _CHECK.search(sources[at]):
            after = sources[at + 1] if at + 1 < len(cells) else ""
            folded = _FENCED.search(after) if "<details>" in after else None
            yield ExerciseCells(called[1], heading, at - 1, at, folded[1] if folded else "")


UNTRIED, HINTED, TRIED, PASSED = STATES = ("not tried", "hint taken", "tried", "passed")
_RISES = {"hint": HINTED, "failed": TRIED, "passed": PASSED}


# An exercise: a link to its cell, as JupyterLab reads it, and the farthest that it came.
Task = namedtuple("Task", "name link state", defaults=(UNTRIED,))


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
    """All chapters; `here`: the one that was worked on last, None before that."""

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
        one = next((one for one in self.chapters if one.number == self.here), None)
        if one is None:
            return ""
        many = f"{one.passed} of {counted(len(one.tasks), 'exercise')} passed"
        return f"You left off in chapter {one.number}: {many}; {self.goes_on}."

    @property
    def goes_on(self) -> str:
        """Return which exercise is next, in words."""
        if self.next is None:
            return "every exercise of the course is passed"
        chapter, task = self.next
        where = f", in chapter {chapter.number}" if chapter.number != self.here else ""
        return f"next: {task.name}{where}"


def chapters(texts: dict[str, str]) -> tuple[Chapter, ...]:
    """Return the chapters of notebooks by file name; ValueError for what is not a notebook."""
    found, titles = [], {one.file: one.title for one in CHAPTERS}
    for file in sorted(texts):
        number, _, stem = file.removesuffix(".ipynb").partition("_")
        if not number.isdigit():
            continue
        try:
            cells = json.loads(texts[file])["cells"]
            places = {one.name: cells[one.heading]["id"] for one in exercise_cells(cells)}
            tasks = (Task(name, f"{file}#cell-id={quote(at)}") for name, at in places.items())
            title = titles.get(f"{number}_{stem}", stem.replace("_", " "))
            found.append(Chapter(int(number), title, tuple(tasks)))
        except (ValueError, LookupError, TypeError, RecursionError):
            raise ValueError(f"{file} is not a notebook") from None
    return tuple(found)


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
    told = []
    for one in chapters:
        tasks = tuple(task._replace(state=states.get(task.name, UNTRIED)) for task in one.tasks)
        rights = [right for number, right in first.values() if number == one.number]
        told.append(replace(one, tasks=tasks, decided=len(rights), right=sum(rights)))
    return Progress(tuple(told), here, trouble)


LEAST = 5  # of fewer without a name, a count tells who
LONGEST_NAME, MOST_NAMES = 40, 6
FEW = f"Counts appear once {LEAST} learners share without a name; fewer would identify them."
_HEADINGS = {"chapter": "chapter", "exercise": "exercise", "passed": PASSED, "tried": TRIED}
_HEADINGS |= {"hinted": HINTED, "untried": UNTRIED, "names": "hint or tried, by name"}

# An exercise, and how many came how far; `names` are those under way who gave theirs.
Count = namedtuple("Count", "chapter exercise untried hinted tried passed names")


def class_listing(
    chapters: Iterable[Chapter], learners: Iterable[tuple[dict[str, str], str]], unread: int = 0
) -> Listing:
    """Return a row for each exercise of the chapters that somebody has begun.

    There is none while fewer than `LEAST` without a name share. `learners`: for each what they
    share, exercise -> state, and their name or "".
    """
    learners = [(told, clipped(" ".join(name.split()), LONGEST_NAME)) for told, name in learners]
    unnamed, rows = sum(not name for _, name in learners), []
    shown, named = not unnamed or unnamed >= LEAST, len(learners) - unnamed
    for chapter in chapters if shown else ():
        counts = [_count(chapter.number, task.name, learners) for task in chapter.tasks]
        if any(one.untried < len(learners) for one in counts):
            rows += counts
    fields = list(_HEADINGS)[: None if named else -1]
    columns = tuple(Column(name, _HEADINGS[name], code=name == "exercise") for name in fields)
    note = f"Shared by {counted(len(learners), 'learner')}; {named} gave a name. "
    note += "Chapters that nobody has started are left out." + f" {FEW}" * (not shown)
    note += f" {counted(unread, 'file')} could not be read." if unread else ""
    return Listing("How far the class is", columns, tuple(rows), note)


def _count(chapter: int, exercise: str, learners: list) -> Count:
    came = [states.get(exercise) for states, _ in learners]
    many = [came.count(state) for state in (HINTED, TRIED, PASSED)]
    names = sorted(n for states, n in learners if n and states.get(exercise) in (HINTED, TRIED))
    return Count(chapter, exercise, len(came) - sum(many), *many, listed(names, MOST_NAMES))
