"""Transcripts -> each run with what it printed and how it ended, as text or folded HTML."""

from dataclasses import replace

from helpers.model.transcript import Transcript, Transcripts
from helpers.view import row_limit
from helpers.view.markup import joined, render, visible

MARKS = {"well": "○", "error": "△", "killed": "✕"}
ALL = "the model has all of them (`.model.runs`)"
LONGEST = 100_000  # characters of what one run printed
FOLDED = 3  # more runs than this are folded, one by one


def text(model: Transcripts) -> str:
    """Return every run: its label, its source if it has one, its output, its end."""
    model, rest = _shown(model)
    alike = _alike(model)
    runs = ["\n".join(_run(run, alike)) for run in model.runs]
    parts = [model.title, *runs, alike, rest, model.note]
    return "\n\n".join(visible(part) for part in parts if part)


def html(model: Transcripts) -> str:
    """Return the same; where there are many runs, all are folded away under their labels."""
    model, rest = _shown(model)
    folded = len(model.runs) > FOLDED
    model = replace(model, note=joined(rest, model.note))
    return render("transcript.html", model=model, folded=folded, marks=MARKS, alike=_alike(model))


def _alike(model: Transcripts) -> str:
    """Return what is said once where several runs came to one and the same end."""
    ends = {f"{MARKS[run.end]} each: {run.ending}" for run in model.runs}
    return ends.pop() if len(ends) == 1 and 1 < len(model.runs) <= FOLDED else ""


def lines(run: Transcript, end: bool = True) -> list[str]:
    """Return what a run printed, its exception and, if asked for, its end, a line each."""
    printed = visible(run.printed).split("\n") if run.printed else []
    raised = [visible(run.error)] if run.error else []
    return [*printed, *raised, *([f"{MARKS[run.end]} {run.ending}"] if end else [])]


def _shown(model: Transcripts) -> tuple[Transcripts, str]:
    """Return the runs that there is room for, and a sentence on the others."""
    model = row_limit.trimmed(model)
    runs = [
        replace(
            run,
            label=row_limit.cut(run.label),
            source=row_limit.cut(run.source, LONGEST),
            printed=row_limit.cut(run.printed, LONGEST),
            error=row_limit.cut(run.error),
        )
        for run in model.runs
    ]
    words = [(run.label, run.source, run.printed, run.error) for run in runs]
    part = row_limit.fold([600 + cost for cost in row_limit.costs(words)])
    rest = part.says(ALL, "Runs")
    return replace(model, runs=tuple(runs[: part.head] + runs[part.total - part.tail :])), rest


def _run(run: Transcript, alike: str) -> list[str]:
    source = [f"  > {line}" for line in visible(run.source).strip().split("\n") if run.source]
    return [
        *([f"{run.label}:"] if run.label else []),
        *source,
        *(f"  {x}" for x in lines(run, not alike)),
    ]
