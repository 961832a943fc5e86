"""Transcripts -> a widget that has the kernel run them again; `transcript` shows them without."""

from collections.abc import Callable

from helpers.model.transcript import Transcript, Transcripts
from helpers.view import transcript
from helpers.view.markup import visible
from helpers.view.transcript import MARKS
from helpers.view.widgets.base import INTERRUPTED, widget_class


def widget(model: Transcripts, run: Callable[[str, str], Transcript]):
    """Return an anywidget. `run(label, source)` returns the transcript of a new run."""
    made = _widget_class()(
        title=visible(model.title),
        note=visible(model.note),
        labels=[visible(one.label) for one in model.runs],
        sources=[one.source for one in model.runs],
    )

    def on_message(_, content, buffers):
        label = str(content.get("label", ""))
        try:
            shown = answer(run(label, str(content.get("source", ""))))
        except KeyboardInterrupt:
            shown = {"says": INTERRUPTED, "shown": ""}
        made.answer = {**shown, "number": made.answer.get("number", 0) + 1, "of": label}

    made.on_msg(on_message)
    return made


def answer(run: Transcript) -> dict:
    """Return what the page shows of a run: `says` (its end in words) and `shown` (safe HTML)."""
    bare = Transcript("", "", run.printed, run.error, run.code)
    shown = transcript.html(Transcripts("", (bare,)))
    return {"says": f"{MARKS[run.end]} {run.ending}", "shown": shown}


_widget_class = widget_class(
    __file__,
    styles=("form.css", "rerun.css"),
    says=lambda w: f"{w.title!r}, {len(w.labels)} switches",
    traits=lambda t: {
        "title": t.Unicode(),
        "note": t.Unicode(),
        "labels": t.List(t.Unicode()),
        "sources": t.List(t.Unicode()),
        "answer": t.Dict(),
    },
)
