"""What came of exercises -> the outcome of one, or a table of how far a learner is."""

from markupsafe import Markup

from ..model.framework_records import JobGraph
from ..model.graphs import Graph
from ..model.phrase import counted, ended
from ..model.study_records import HINTED, PASSED, TRIED, UNTRIED, Chapter, Outcome, Progress
from ..model.tables import Ledger, Listing
from . import View
from .diagram.graph_view import graph
from .diagram.job_view import job
from .markup import grid, joined, render
from .table_view import ledger, table

OUTCOMES = {"untried": "○", "passed": "✓", "failed": "✕", "hint": "→"}
_VIEWS = {Graph: graph, JobGraph: job, Ledger: ledger, Listing: table}
MARKS = {PASSED: "●", TRIED: "◐", HINTED: "◔", UNTRIED: "○"}
NEXT = "▸"
TITLE = "How far you are"
LEGEND = "   ".join(f"{mark} {state}" for state, mark in MARKS.items()) + f"   {NEXT} next"
HEADINGS = ("chapter", "exercises", "passed", "predictions right at first")
KEPT = "What you check in the folder work/ is kept in work/progress.jsonl, "
ALONE = "on this machine and nowhere else."
SHARED = "and you share your progress; `stop_sharing()` ends that."
NOTHING = "Nothing is recorded yet."
ELSEWHERE = "Nothing is recorded here, because only notebooks in the folder work/ are recorded: "
ELSEWHERE += "run `python3 course.py lab` and work there."
NO_NOTEBOOKS = "The course's notebooks are not beside these helpers, so there is nothing to show."


def _outcome_text(model: Outcome) -> str:
    words = f"{model.state}. {model.because}".strip() if model.because else model.state
    words = f"failed because {model.because}" if model.state == "failed" else words
    words = model.because if model.state == "hint" else words
    first = f"{OUTCOMES[model.state]} {model.exercise}: {words}"
    view = view_of(model.picture)
    parts = [f"{first}\n  {model.more}" if model.more else first]
    return "\n\n".join([*parts, view.text(model.picture)] if view else parts)


def _outcome_html(model: Outcome) -> str:
    view, columns, head, because = view_of(model.picture), (), model.state, model.because
    if model.state == "hint":
        head, _, because = because.partition(". ")
    if beside := model.beside:  # heading, words and ink of both answers
        because = beside.after.lstrip(" .,:;")
        columns = ("yours", beside.yours, "failed"), (beside.who, beside.real, "passed")
    picture = Markup(view.html(model.picture)) if view else ""
    because = because[:1].upper() + ended(because[1:]) if because else ""
    values = {"mark": OUTCOMES[model.state], "columns": columns, "picture": picture}
    values |= {"head": head, "because": because}
    return render("outcome.html", model=model, **values)


def view_of(picture) -> View | None:
    """Return the view of a graph, a ledger or a table; None for anything else."""
    return next((view for kind, view in _VIEWS.items() if isinstance(picture, kind)), None)


def _progress_text(model: Progress) -> str:
    coming, rows = model.next and model.next[1], []
    for one in model.chapters:  # mark and name are one word: no line ends between them
        marked = (f"{NEXT * (t is coming)}{MARKS[t.state]}{t.name}" for t in one.tasks)
        title, *counts = _row(one)
        rows.append([title, "  ".join(marked), *counts])
    head = [f"{_total(model)}."] * bool(rows)
    return joined(TITLE, *head, LEGEND, grid(HEADINGS, rows), *_notes(model))


def _progress_html(model: Progress) -> str:
    values = {"title": TITLE, "legend": LEGEND, "total": _total(model)}
    values["notes"] = _notes(model, model.next is None)  # a link above them says what is next
    values |= {"marks": MARKS, "passed": PASSED, "next_mark": NEXT}
    values["coming"] = model.next and model.next[1]
    passed, many = _counts(model)
    values["part"] = round(100 * passed / max(1, many), 1)
    rows = [(one, *_row(one)) for one in model.chapters]
    return render("learner_progress.html", rows=rows, **values)


def _counts(model: Progress) -> tuple[int, int]:
    return sum(one.passed for one in model.chapters), sum(len(one.tasks) for one in model.chapters)


def _total(model: Progress) -> str:
    passed, many = _counts(model)
    return f"{passed} of {counted(many, 'exercise')} passed"


def _row(chapter: Chapter) -> tuple[str, str, str]:
    guessed = f"{chapter.right} of {chapter.decided}" if chapter.decided else "–"
    title, passed = f"{chapter.number} {chapter.title}", f"{chapter.passed} of {len(chapter.tasks)}"
    return title, passed, guessed


def _notes(model: Progress, onward: bool = True) -> list[str]:
    """Return the notes below: where one left off, what is next, where it is kept, what is wrong."""
    if not model.chapters:
        return [NO_NOTEBOOKS]
    goes_on = f" {model.goes_on[0].upper()}{model.goes_on[1:]}." * onward
    left_off = model.left_off if onward else model.left_off.replace(f"; {model.goes_on}", "")
    where = left_off or f"{ELSEWHERE if model.elsewhere else NOTHING}{goes_on}"
    return [where, KEPT + (SHARED if model.shared else ALONE), *filter(None, [model.trouble])]


outcome = View(_outcome_text, _outcome_html)
progress = View(_progress_text, _progress_html)
