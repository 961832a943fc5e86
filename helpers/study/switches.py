"""Start-up switches on show: what each did, and a way to try it, changed or not, again."""

from helpers.capture.startup import startup, startup_switches
from helpers.exhibit import Exhibit
from helpers.model.transcript import Transcripts
from helpers.view import switches as switches_view
from helpers.view import transcript


class StartupSwitches(Exhibit):
    """Every switch with the transcript of one run; `.run(label)` runs one again."""

    def __init__(self):
        super().__init__(startup_switches(), transcript)

    def run(self, label: str, source: str | None = None) -> Exhibit:
        """Run a switch, or `source` in its place, in a fresh interpreter.

        KeyError names the switches if there is none of this label and no source.
        """
        again = startup(label, source)
        return Exhibit(Transcripts("In a fresh interpreter", (again,)), transcript)

    def _repr_mimebundle_(self, include=None, exclude=None):
        data = {"text/plain": repr(self), "text/html": transcript.html(self.model)}
        bundle = switches_view.widget(self.model, startup)._repr_mimebundle_()
        shown, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        return {**shown, **data}, metadata
