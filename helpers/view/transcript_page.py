"""Runs of child processes, called transcripts -> what each run printed, and how it ended."""

from dataclasses import replace

from ..model.transcripts import Transcript, Transcripts
from .ceilings import cut_text
from .markup import render
from .plain_text import escape_invisible

ENDS = {"well": "○", "error": "△", "killed": "✕"}
MOST_CHARACTERS = 300_000  # of all runs together
LEAST_CHARACTERS = 200  # of one part of a run
FOLDED = 3  # more runs than this are folded, one by one


def render_transcript_text(model: Transcripts) -> str:
    """Return the runs one below the other."""
    shared_ending = _find_shared_ending(model)
    parts = [model.title]
    for run in _cut_runs(model):
        parts.append(_render_run_text(run, shared_ending))
    parts += [shared_ending, model.note]
    return "\n\n".join(escape_invisible(part) for part in parts if part)


def _render_run_text(run: Transcript, shared_ending: str) -> str:
    """Return a run: its label, its source, what it printed, and how it ended.

    If all runs ended alike, `shared_ending` is the sentence on it. It stands once below all runs,
    so the ending is left out here.
    """
    lines = []
    if run.label:
        lines.append(f"{run.label}:")
    if run.source:
        lines += [f"  > {line}" for line in escape_invisible(run.source).strip().split("\n")]

    outputs = [run.printed, run.error]
    if not shared_ending:
        outputs.append(f"{ENDS[run.end]} {run.ending}")
    for output in outputs:
        if output:
            lines += [f"  {line}" for line in escape_invisible(output).split("\n")]
    return "\n".join(lines)


def render_transcript_html(model: Transcripts) -> str:
    """Return the runs as HTML; if there are more than `FOLDED`, a reader opens each of them."""
    return render(
        "transcript.html",
        model=replace(model, runs=_cut_runs(model)),
        folded=len(model.runs) > FOLDED,
        marks=ENDS,
        alike=_find_shared_ending(model),
    )


def _cut_runs(model: Transcripts) -> tuple[Transcript, ...]:
    """Return the runs with their texts cut, so that all of them together fit a page."""
    room = max(MOST_CHARACTERS // max(len(model.runs), 1), LEAST_CHARACTERS)
    return tuple(_cut_run(run, room) for run in model.runs)


def _cut_run(run: Transcript, room: int) -> Transcript:
    """Return a run whose texts have at most `room` characters each."""
    return replace(
        run,
        label=cut_text(run.label, room),
        source=cut_text(run.source, room),
        printed=cut_text(run.printed, room),
        error=cut_text(run.error, room),
    )


def _find_shared_ending(model: Transcripts) -> str:
    """Return one sentence if all runs ended alike, else an empty text.

    The text is empty for a single run too, and for so many runs that they are folded: each of them
    tells its own ending.
    """
    if not 1 < len(model.runs) <= FOLDED:
        return ""
    endings = {f"{ENDS[run.end]} each: {run.ending}" for run in model.runs}
    return endings.pop() if len(endings) == 1 else ""
