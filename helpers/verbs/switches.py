"""An exhibit of small programs that a reader may change and run again in a fresh interpreter."""

from collections.abc import Callable
from typing import Any

from ..exhibit import Exhibit
from ..model.transcripts import Transcript, Transcripts
from ..view.source_views import transcript
from ..view.widgets.forms import render_answer, rerun_widget


class Switches(Exhibit):
    """An exhibit of programs, each with a label, its source, and a transcript of one run.

    In Jupyter, a widget runs a program again, also with changed source. So does `.run(label)`.

    Parameters
    ----------
    model : Transcripts
        The transcripts, one for each label.
    run : callable
        `run(label, source)` runs a program and returns its transcript. With None as `source`, it
        runs the program of the label as it stands.
    """

    def __init__(self, model: Transcripts, run: Callable[..., Transcript]):
        super().__init__(model, transcript)
        self._run = run

    def run(self, label: str, source: str | None = None) -> Exhibit:
        """Run the program with this label, or `source` in its place; KeyError names the labels."""
        new_transcript = self._run(label, source)
        return Exhibit(Transcripts("In a fresh interpreter", (new_transcript,)), transcript)

    def recorded(self) -> dict[str, Any]:
        """Run each program once, and return what a saved page shows in place of new runs.

        A saved page has no Python. The keys are "note", a sentence above the programs; "unknown",
        what the page shows when a reader runs changed lines; and "runs", label -> answer.
        """
        answers = {}
        for earlier in self.model.runs:
            answers[earlier.label] = render_answer(self._run(earlier.label, None))
        return {
            "note": "This page plays recorded runs: each switch was run once, with these lines.",
            "unknown": "These lines were not recorded. Changed lines run only in the notebook.",
            "runs": answers,
        }

    def _widget(self) -> Any:
        return rerun_widget(self.model, self._run)
