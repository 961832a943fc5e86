"""Records of a learner's progress, and how they are made from notebooks and recorded events.

The chapters and their exercises are read from the notebooks. The events say which checks the
learner ran, with which result, and which predictions the learner made.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from urllib.parse import quote

from .phrase import format_count
from .spine import CHAPTERS

_CHECK_CALL = re.compile(r"^check\.(\w+)\(", re.MULTILINE)
_PYTHON_BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
_CODE_BLOCK = re.compile(r"```.*?```", re.DOTALL)
_HEADING = re.compile(r"^#{2,6} ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ExerciseCells:
    """Where an exercise is in a notebook.

    Attributes
    ----------
    name : str
        The name of the exercise.
    heading : int
        The position of the cell with its heading, from 0.
    stub : int
        The position of the cell that the learner fills in.
    check : int
        The position of the cell that calls the check.
    solution : str
        The code of the folded solution, "" in a handout.
    """

    name: str
    heading: int
    stub: int
    check: int
    solution: str


def find_exercise_cells(cells: list[dict]) -> Iterator[ExerciseCells]:
    """Yield the exercises of a notebook, whose cells are dicts as in the .ipynb file.

    A code cell that calls `check.NAME(…)` belongs to the exercise NAME. The cell before it is the
    stub, which the learner fills in. The cell after it has the folded solution.
    """
    sources = ["".join(cell["source"]) for cell in cells]
    heading = 0  # the position of the last cell with a heading
    for position, cell in enumerate(cells):
        if cell["cell_type"] == "markdown":
            # Blocks of code are removed, because a comment in them looks like a heading.
            if _HEADING.search(_CODE_BLOCK.sub("", sources[position])):
                heading = position
            continue

        check_call = _CHECK_CALL.search(sources[position])
        if check_call:
            next_source = sources[position + 1] if position + 1 < len(cells) else ""
            yield ExerciseCells(
                name=check_call[1],
                heading=heading,
                stub=position - 1,
                check=position,
                solution=_find_solution(next_source),
            )


def _find_solution(text: str) -> str:
    """Return the code of the solution in a text cell, "" if there is none.

    A solution is the first block of Python after a `<details>`, which a page shows folded.
    """
    if "<details>" not in text:
        return ""
    block = _PYTHON_BLOCK.search(text)
    return block[1] if block else ""


# How far a learner came with an exercise, in this order.
UNTRIED, HINTED, TRIED, PASSED = STATES = ("not tried", "hint taken", "tried", "passed")
# Result of a check in an event -> the state that the exercise then has at least.
_STATES_BY_OUTCOME = {"hint": HINTED, "failed": TRIED, "passed": PASSED}


@dataclass(frozen=True, slots=True)
class Task:
    """An exercise, with how far the learner came.

    Attributes
    ----------
    name : str
        The name of the exercise.
    link : str
        A link to its cell, as JupyterLab reads links.
    state : str
        The farthest that the learner came, one of `STATES`.
    """

    name: str
    link: str
    state: str = UNTRIED


@dataclass(frozen=True)
class ChapterProgress:
    """A chapter, with how far the learner came.

    Attributes
    ----------
    number : int
        The number of the chapter.
    title : str
        Its title.
    tasks : tuple of Task
        Its exercises, in order.
    decided : int
        How many predictions the learner made.
    right : int
        How many of them were right at first.
    """

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
    """How far a learner came in all chapters.

    Attributes
    ----------
    chapters : tuple of Chapter
        The chapters, in order.
    here : int or None
        The number of the chapter that was worked on last, None if nothing was recorded.
    trouble : str
        Why the record could not be read, "" if it could.
    shared : bool
        Whether the learner shares the progress with a class.
    elsewhere : bool
        Whether the progress is kept outside the folder of the course.
    """

    chapters: tuple[ChapterProgress, ...]
    here: int | None = None
    trouble: str = ""
    shared: bool = False
    elsewhere: bool = False

    @property
    def next(self) -> tuple[ChapterProgress, Task] | None:
        """Return (chapter, exercise) of the next exercise that is not passed; None if all are.

        The search begins in the chapter `here`, and goes on from the first chapter.
        """
        numbers = [chapter.number for chapter in self.chapters]
        start = numbers.index(self.here) if self.here in numbers else 0
        for chapter in self.chapters[start:] + self.chapters[:start]:
            for task in chapter.tasks:
                if task.state != PASSED:
                    return chapter, task
        return None

    @property
    def left_off(self) -> str:
        """Return in one line where the learner left off; "" if nothing was recorded."""
        for chapter in self.chapters:
            if chapter.number == self.here:
                exercises = format_count(len(chapter.tasks), "exercise")
                passed = f"{chapter.passed} of {exercises} passed"
                return f"You left off in chapter {chapter.number}: {passed}; {self.goes_on}."
        return ""

    @property
    def goes_on(self) -> str:
        """Return which exercise is next, such as "next: lookup, in chapter 4"."""
        chapter_and_task = self.next
        if chapter_and_task is None:
            return "every exercise of the course is passed"
        chapter, task = chapter_and_task
        place = f", in chapter {chapter.number}" if chapter.number != self.here else ""
        return f"next: {task.name}{place}"


def read_chapters(texts: dict[str, str]) -> tuple[ChapterProgress, ...]:
    """Return the chapters that the notebooks are, with nothing tried, in the order of their names.

    `texts` maps a file name, such as "04_guards.ipynb", to the content of the file. A file whose
    name does not begin with a number is left out. ValueError names a file that is not a notebook.
    """
    titles = {chapter.file: chapter.title for chapter in CHAPTERS}
    chapters = []
    for file in sorted(texts):
        number, _, name = file.removesuffix(".ipynb").partition("_")
        if not number.isdigit():
            continue
        # A chapter that is not of the course has its file name as its title.
        title = titles.get(f"{number}_{name}", name.replace("_", " "))
        try:
            chapter = ChapterProgress(int(number), title, _read_tasks(file, texts[file]))
        except (ValueError, LookupError, TypeError, RecursionError):  # not JSON, or other JSON
            raise ValueError(f"{file} is not a notebook") from None
        chapters.append(chapter)
    return tuple(chapters)


def _read_tasks(file: str, text: str) -> tuple[Task, ...]:
    """Return the exercises of a notebook, with nothing tried.

    `text` is the content of the file. An exercise has a link to the cell with its heading.
    """
    cells = json.loads(text)["cells"]
    # Name of an exercise -> id of the cell with its heading. The last check of a name counts.
    cell_ids = {}
    for exercise in find_exercise_cells(cells):
        cell_ids[exercise.name] = cells[exercise.heading]["id"]
    return tuple(
        Task(name, f"{file}#cell-id={quote(cell_id)}") for name, cell_id in cell_ids.items()
    )


def build_progress(
    chapters: Iterable[ChapterProgress], events: Iterable[dict], trouble: str = ""
) -> Progress:
    """Return the chapters with the learner's progress, as recorded events tell it.

    Parameters
    ----------
    chapters
        The chapters, with nothing tried.
    events
        What checks and predictions recorded, the oldest first. A check's event is {"check": name of
        the exercise, "is": "hint", "failed" or "passed"}. A prediction's event is {"chapter":
        number or None, "predict": the question, "said": the learner's answer, "was": the right
        answer}.
    trouble
        Why the record could not be read, "" if it could.
    """
    chapter_numbers = {task.name: chapter.number for chapter in chapters for task in chapter.tasks}
    states: dict[str, str] = {}  # name of an exercise -> the farthest state
    first_answers: dict[str, tuple[int, bool]] = {}  # question -> (chapter, whether it was right)
    here = None  # the chapter of the latest event
    for event in events:
        if "check" in event:
            exercise = event["check"]
            state_before = states.get(exercise, UNTRIED)
            state_now = _STATES_BY_OUTCOME[event["is"]]
            # An exercise that was passed stays so, even if a later check of it fails.
            states[exercise] = max(state_before, state_now, key=STATES.index)
            here = chapter_numbers.get(exercise, here)
        else:
            if event["chapter"] is not None:
                here = event["chapter"]
            # Only the first answer to a question counts.
            is_right = event["said"] == event["was"]
            first_answers.setdefault(event["predict"], (event["chapter"], is_right))

    with_progress = [_add_progress(chapter, states, first_answers) for chapter in chapters]
    return Progress(tuple(with_progress), here, trouble)


def _add_progress(
    chapter: ChapterProgress, states: dict[str, str], first_answers: dict[str, tuple[int, bool]]
) -> ChapterProgress:
    """Return a chapter with the states of its exercises, and counts of its predictions.

    `states` maps an exercise to its state. `first_answers` maps a question to (number of its
    chapter, whether the first answer was right).
    """
    tasks = [replace(task, state=states.get(task.name, UNTRIED)) for task in chapter.tasks]
    answers = [is_right for number, is_right in first_answers.values() if number == chapter.number]
    return replace(chapter, tasks=tuple(tasks), decided=len(answers), right=sum(answers))
