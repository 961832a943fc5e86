"""How far a learner is -> a table of chapters, with a mark for each exercise."""

from dataclasses import dataclass

from ..model.phrase import format_count
from ..model.study_records import HINTED, PASSED, TRIED, UNTRIED, ChapterProgress, Progress, Task
from .markup import render
from .plain_text import join_nonempty, render_grid

MARKS = {PASSED: "●", TRIED: "◐", HINTED: "◔", UNTRIED: "○"}
NEXT = "▸"
TITLE = "How far you are"
LEGEND = "   ".join([*(f"{mark} {state}" for state, mark in MARKS.items()), f"{NEXT} next"])
HEADINGS = ("chapter", "exercises", "passed", "predictions right at first")

KEPT = "What you check in the folder work/ is kept in work/progress.jsonl, "
ALONE = "on this machine and nowhere else."
SHARED = "and you share your progress; `stop_sharing()` ends that."
NOTHING = "Nothing is recorded yet."
ELSEWHERE = (
    "Nothing is recorded here, because only notebooks in the folder work/ are recorded: "
    "run `python3 course.py lab` and work there."
)
NO_NOTEBOOKS = "The course's notebooks are not beside these helpers, so there is nothing to show."


@dataclass(frozen=True)
class ChapterRow:
    """The cells of a chapter in the table, without its exercises."""

    title: str
    """Its number and its title."""
    passed: str
    """How many of its exercises are passed."""
    guessed: str
    """How many predictions were right at the first try, such as `3 of 5`; a dash for none made."""


def render_progress_text(model: Progress) -> str:
    """Return the table as plain text."""
    next_task = _find_next_task(model)
    rows = []
    for chapter in model.chapters:
        row = _describe_chapter(chapter)
        exercises = "  ".join(_mark_task(task, next_task) for task in chapter.tasks)
        rows.append([row.title, exercises, row.passed, row.guessed])

    total = f"{_describe_total(model)}." if rows else ""
    return join_nonempty(TITLE, total, LEGEND, render_grid(HEADINGS, rows), *_list_notes(model))


def _mark_task(task: Task, next_task: Task | None) -> str:
    """Return a mark and the name of a task as one word, so that no line ends between them."""
    marked = f"{MARKS[task.state]}{task.name}"
    return f"{NEXT}{marked}" if task is next_task else marked


def render_progress_html(model: Progress) -> str:
    """Return the chapters as HTML, the one with the next exercise open."""
    passed_count, task_count = _count_tasks(model)
    rows = []
    for chapter in model.chapters:
        row = _describe_chapter(chapter)
        rows.append((chapter, row.title, row.passed, row.guessed))

    # If there is a next exercise, a link above the notes names it, so the notes do not.
    notes = _list_notes(model, says_next=model.next is None)
    return render(
        "learner_progress.html",
        title=TITLE,
        total=_describe_total(model),
        part=round(100 * passed_count / max(1, task_count), 1),  # in per cent
        rows=rows,
        coming=_find_next_task(model),  # the exercise to do next, which has a mark
        notes=notes,
        legend=LEGEND,
        marks=MARKS,
        passed=PASSED,
        next_mark=NEXT,
    )


def _find_next_task(model: Progress) -> Task | None:
    """Return the exercise to do next; None if all are passed."""
    if model.next is None:
        return None
    _, task = model.next
    return task


def _count_tasks(model: Progress) -> tuple[int, int]:
    """Return how many exercises are passed, and how many there are."""
    passed_count = sum(chapter.passed for chapter in model.chapters)
    task_count = sum(len(chapter.tasks) for chapter in model.chapters)
    return passed_count, task_count


def _describe_total(model: Progress) -> str:
    """Return how many exercises of the course are passed, in words."""
    passed_count, task_count = _count_tasks(model)
    return f"{passed_count} of {format_count(task_count, 'exercise')} passed"


def _describe_chapter(chapter: ChapterProgress) -> ChapterRow:
    """Return the cells of a chapter in the table."""
    guessed = "–"  # no prediction was made
    if chapter.decided:
        guessed = f"{chapter.right} of {chapter.decided}"
    return ChapterRow(
        title=f"{chapter.number} {chapter.title}",
        passed=f"{chapter.passed} of {len(chapter.tasks)}",
        guessed=guessed,
    )


def _list_notes(model: Progress, says_next: bool = True) -> list[str]:
    """Return the notes below the table.

    The first says where the learner left off, and with `says_next` which exercise is next. The
    second says where the progress is kept. A third says why the record could not be read, if it
    could not.
    """
    if not model.chapters:  # the course's notebooks were not found
        return [NO_NOTEBOOKS]

    notes = [_describe_last_place(model, says_next)]
    notes.append(KEPT + (SHARED if model.shared else ALONE))
    if model.trouble:
        notes.append(model.trouble)
    return notes


def _describe_last_place(model: Progress, says_next: bool) -> str:
    """Return where the learner left off, or that nothing is recorded.

    With `says_next`, the words also say which exercise is next.
    """
    # `model.goes_on` is a clause such as "exercise guard is next", in which `left_off` ends.
    left_off = model.left_off
    if not says_next:
        left_off = left_off.replace(f"; {model.goes_on}", "")
    if left_off:
        return left_off

    sentence = ELSEWHERE if model.elsewhere else NOTHING
    if not says_next:
        return sentence
    return f"{sentence} {model.goes_on[0].upper()}{model.goes_on[1:]}."
