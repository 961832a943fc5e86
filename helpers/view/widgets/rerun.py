"""Transcripts -> a widget that has the kernel run them again; `transcript` shows them without."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

from helpers.model.transcript import Transcript, Transcripts
from helpers.view import transcript
from helpers.view.markup import visible
from helpers.view.transcript import MARKS

_HERE = Path(__file__)


def widget(model: Transcripts, run: Callable[[str, str], Transcript]):
    """Return an anywidget. `run(label, source)` returns the transcript of a new run."""
    made = _widget_class()(
        title=visible(model.title),
        note=visible(model.note),
        labels=[visible(one.label) for one in model.runs],
        sources=[one.source for one in model.runs],
    )

    def on_message(_, content, buffers):
        shown = answer(run(str(content.get("label", "")), str(content.get("source", ""))))
        made.answer = {**shown, "number": made.answer.get("number", 0) + 1}

    made.on_msg(on_message)
    return made


def answer(run: Transcript) -> dict:
    """Return what the page shows of a run: `says` (its end in words) and `shown` (safe HTML)."""
    bare = Transcript("", "", run.printed, run.error, run.code)
    shown = transcript.html(Transcripts("", (bare,)))
    return {"says": f"{MARKS[run.lived]} {run.ending}", "shown": shown}


@cache
def _widget_class():
    import anywidget
    import traitlets

    class SwitchesWidget(anywidget.AnyWidget):
        _esm = _HERE.with_suffix(".js").read_text(encoding="utf-8")
        _css = _HERE.with_suffix(".css").read_text(encoding="utf-8")
        title = traitlets.Unicode().tag(sync=True)
        note = traitlets.Unicode().tag(sync=True)
        labels = traitlets.List(traitlets.Unicode()).tag(sync=True)
        sources = traitlets.List(traitlets.Unicode()).tag(sync=True)
        answer = traitlets.Dict().tag(sync=True)

        def __repr__(self):
            return f"SwitchesWidget({self.title!r}, {len(self.labels)} switches)"

    return SwitchesWidget
