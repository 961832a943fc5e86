"""A learner's progress -> a table of chapters; each exercise has a mark, its name and its place."""

from helpers.model.learner_progress import HINTED, PASSED, TRIED, UNTRIED, Chapter, Progress, Task
from helpers.view.markup import grid, joined, render

MARKS = {PASSED: "●", TRIED: "◐", HINTED: "◔", UNTRIED: "○"}
NEXT = "▸"
TITLE = "How far you are"
LEGEND = "   ".join(f"{mark} {state}" for state, mark in MARKS.items()) + f"   {NEXT} next"
HEADINGS = ("chapter", "exercises", "passed", "predictions right at first")
KEPT = (
    "What you check in the folder work/ is kept in work/progress.jsonl, "
    "on this machine and nowhere else."
)
SHARED = (
    "What you check in the folder work/ is kept in work/progress.jsonl, "
    "and you share how far you are: `stop_sharing()` ends that."
)
NOTHING = "Nothing is recorded yet."
ELSEWHERE = (
    "Nothing is recorded here, for only a notebook in the folder work/ records: "
    "run `python3 course.py lab` and work there."
)
ALONE = "The course's notebooks are not beside these helpers: there is nothing to go through."


def text(model: Progress) -> str:
    """Return a row for each chapter, with a mark before each exercise, and what comes next."""
    rows = [
        [_title(one), "  ".join(_marked(task, model) for task in one.tasks), *_counts(one)]
        for one in model.chapters
    ]
    return joined(TITLE, LEGEND, grid(HEADINGS, rows), *_notes(model))


def html(model: Progress) -> str:
    """Return the same as a table whose exercises are links, as JupyterLab follows them."""
    rows = [(one, _title(one), _counts(one)) for one in model.chapters]
    return render(
        "learner_progress.html",
        title=TITLE,
        legend=LEGEND,
        headings=HEADINGS,
        rows=rows,
        marks=MARKS,
        passed=PASSED,
        next_mark=NEXT,
        coming=_next(model),
        notes=_notes(model),
    )


def _title(chapter: Chapter) -> str:
    return f"{chapter.number} {chapter.title}"


def _counts(chapter: Chapter) -> tuple[str, str]:
    guessed = f"{chapter.right} of {chapter.decided}" if chapter.decided else "–"
    return f"{chapter.passed} of {len(chapter.tasks)}", guessed


def _next(model: Progress) -> Task | None:
    return model.next[1] if model.next else None


def _marked(task: Task, model: Progress) -> str:
    """Return the mark and the name as one word: no line ends between them."""
    return f"{NEXT if task is _next(model) else ''}{MARKS[task.state]}{task.name}"


def _notes(model: Progress) -> list[str]:
    """Return what stands below: where one left off and goes on, where it is kept, what is amiss."""
    if not model.chapters:
        return [ALONE]
    goes_on = f"{model.goes_on[0].upper()}{model.goes_on[1:]}."
    where = model.left_off or f"{ELSEWHERE if model.elsewhere else NOTHING} {goes_on}"
    return [where, SHARED if model.shared else KEPT, *([model.trouble] if model.trouble else [])]
