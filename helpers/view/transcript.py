"""Transcripts -> each run with what it printed and how it ended, as text or folded HTML."""

from helpers.model.transcript import Transcript, Transcripts
from helpers.view.ink import render, visible

MARKS = {True: "○", False: "✕"}
FOLDED = 3  # more runs than this are folded, one by one


def text(model: Transcripts) -> str:
    """Return every run: its label, its source if it has one, its output, its end."""
    parts = [model.title, *("\n".join(_run(run)) for run in model.runs), model.note]
    return "\n\n".join(part for part in parts if part)


def html(model: Transcripts) -> str:
    """Return the same; where there are many runs, all are folded away under their labels."""
    folded = len(model.runs) > FOLDED
    return render("transcript.html", model=model, folded=folded, marks=MARKS)


def lines(run: Transcript) -> list[str]:
    """Return what a run printed, its exception and its end, a line each."""
    printed = visible(run.printed).split("\n") if run.printed else []
    raised = [visible(run.error)] if run.error else []
    return [*printed, *raised, f"{MARKS[run.lived]} {run.ending}"]


def _run(run: Transcript) -> list[str]:
    source = [f"  > {line}" for line in visible(run.source).strip().split("\n") if run.source]
    return [*([f"{run.label}:"] if run.label else []), *source, *(f"  {x}" for x in lines(run))]
