"""Source that a reader may change and run again in a fresh interpreter."""

from collections.abc import Callable
from typing import Any

from ..exhibit import Exhibit
from ..model.transcripts import Transcript, Transcripts
from ..view.source_views import transcript
from ..view.widgets.forms import answer_of, rerun_widget


class Switches(Exhibit):
    """Transcripts of one run each. In Jupyter a widget runs them anew; `.run(label)` does too."""

    def __init__(self, model: Transcripts, run: Callable[..., Transcript]):
        super().__init__(model, transcript)
        self._run = run

    def run(self, label: str, source: str | None = None) -> Exhibit:
        """Run what has this label, or `source` in its place; KeyError names the labels."""
        again = self._run(label, source)
        return Exhibit(Transcripts("In a fresh interpreter", (again,)), transcript)

    def recorded(self) -> dict[str, Any]:
        """Return what each label comes to, run as it stands: a page may play that alone.

        `note`: words for that page; `unknown`: for changed lines. `runs`: label -> answer.
        """
        return {
            "note": "This page plays recorded runs: each switch was run once, with these lines.",
            "unknown": "These lines were not recorded. Changed lines run only in the notebook.",
            "runs": {one.label: answer_of(self._run(one.label, None)) for one in self.model.runs},
        }

    def _widget(self) -> Any:
        return rerun_widget(self.model, self._run)
