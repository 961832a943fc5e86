"""A guess, or source to change -> the truth from running it, and how many guesses were right."""

from collections.abc import Callable

from helpers.exhibit import Exhibit
from helpers.model.study_records import Sandbox, offered
from helpers.model.tables import Transcript, Transcripts
from helpers.safety.restoring import preserves_interpreter_state
from helpers.study.predict import Revealed
from helpers.view.source_views import transcript
from helpers.view.widgets.forms import answer_of, rerun_widget
from helpers.view.widgets.forms import sandbox as sandbox_view

SAYS = "you said {guess}, and it {words} {right} of {tries} foretold."


class Foretelling(Exhibit):
    """A sandbox on show. The text form says what it starts with; `.run()` does the same in code.

    Each kind says `_code(picked)`, the choices as they would be typed, and `_truth(picked)`: the
    verdict, words that go on after "and it" and end a sentence, and safe HTML.
    """

    _recorded_note = "This page plays recorded runs: each choice was run once."

    def __init__(self, sandbox: Sandbox, what: str):
        super().__init__(sandbox, sandbox_view)
        self._what, self._tries = what, []

    def run(self, guess: str, **picked: str) -> Revealed:
        """Run what these choices make and say whether `guess` was right, or raise ValueError."""
        guess = offered(guess, self.model.verdicts, self._what)
        return Revealed(self._answer(self.model.picked(**picked), guess)["says"])

    @preserves_interpreter_state
    def _answer(self, picked: dict, guess: str) -> dict:
        verdict, words, rows = self._truth(picked)
        self._tries.append(verdict == guess)
        score = {"right": sum(self._tries), "tries": len(self._tries)}
        says = SAYS.format(guess=guess, words=words, **score)
        return {"says": says, "right": verdict == guess, "rows": rows}

    def recorded(self) -> dict:
        """Return what each choice comes to, on a fresh sandbox each: a page may play that alone.

        `note`: words for that page. `runs`: options that matter, with "|" between them -> `call`,
        `verdict`, `rows`, and what is said, with {guess}, {right} and {tries} still open.
        """
        runs = {"|".join(some.values()): self._record(some) for some in self.model.different()}
        return {"note": self._recorded_note, "runs": runs}

    def _record(self, some: dict) -> dict:
        picked, fresh = self.model.picked(**some), type(self)()
        fresh._prepare(picked)
        verdict, words, rows = fresh._truth(picked)
        says = SAYS.replace("{words}", words)
        return {"call": self._code(picked), "verdict": verdict, "says": says, "rows": rows}

    def _prepare(self, picked: dict) -> None:
        """Do what stands before a call that is recorded; nothing, unless a kind says more."""

    def _widget(self):
        return sandbox_view.widget(self.model, self._code, self._answer)


class Switches(Exhibit):
    """Transcripts of one run each. In Jupyter a widget runs them anew; `.run(label)` does too."""

    def __init__(self, model: Transcripts, run: Callable[..., Transcript]):
        super().__init__(model, transcript)
        self._run = run

    def run(self, label: str, source: str | None = None) -> Exhibit:
        """Run what has this label, or `source` in its place; KeyError names the labels."""
        again = self._run(label, source)
        return Exhibit(Transcripts("In a fresh interpreter", (again,)), transcript)

    def recorded(self) -> dict:
        """Return what each label comes to, run as it stands: a page may play that alone.

        `note`: words for that page; `unknown`: for changed lines. `runs`: label -> answer.
        """
        return {
            "note": "This page plays recorded runs: each switch was run once, as it stands here.",
            "unknown": "These lines were not recorded: changed ones run in the notebook alone.",
            "runs": {one.label: answer_of(self._run(one.label, None)) for one in self.model.runs},
        }

    def _widget(self):
        return rerun_widget(self.model, self._run)
