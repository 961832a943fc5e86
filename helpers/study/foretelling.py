"""A guess -> the result of running the choices, and how many guesses were right."""

from helpers.exhibit import Exhibit
from helpers.model.question_records import Sandbox, require_option
from helpers.safety.restoring import preserves_interpreter_state
from helpers.study.predict import Revealed
from helpers.view.widgets.forms import sandbox as sandbox_view

#: {words} is the second text that `_truth` returns.
SAYS = "you said {guess}, and it {words} {right} of {tries} right."


class Foretelling(Exhibit):
    """A sandbox on show. Its text says what it starts with. `.run()` does the same in code.

    Each kind defines two methods. `picked` is the name of each control -> its chosen option.
    `_code(picked)` returns the choices as you would type them. `_truth(picked)` runs them and
    returns three texts: the verdict, words that go between "and it" and the count, and safe HTML.
    """

    _recorded_note = "This page plays recorded runs: each choice was run once."

    def __init__(self, sandbox: Sandbox, what: str):
        """Show a sandbox; `what` begins the message for a guess that is none of its verdicts."""
        super().__init__(sandbox, sandbox_view)
        self._what = what
        self._tries: list[bool] = []  # whether each guess was right

    def run(self, guess: str, **picked: str) -> Revealed:
        """Run these choices and say whether `guess` was right, or raise ValueError."""
        guess = require_option(guess, self.model.verdicts, self._what)
        answer = self._answer(self.model.picked(**picked), guess)
        return Revealed(answer["says"])

    @preserves_interpreter_state
    def _answer(self, picked: dict, guess: str) -> dict:
        """Run the choices and count the guess; return what the form shows: says, right and rows."""
        verdict, words, rows = self._truth(picked)
        is_right = verdict == guess
        self._tries.append(is_right)
        says = SAYS.format(
            guess=guess,
            words=words,
            right=sum(self._tries),
            tries=len(self._tries),
        )
        return {"says": says, "right": is_right, "rows": rows}

    def recorded(self) -> dict:
        """Return the result of each choice on a fresh sandbox, for a page that runs no Python.

        `note` is text for that page. `runs`: options that matter, joined by "|" -> `call`,
        `verdict`, `rows` and `says`, in which {guess}, {right} and {tries} are still open.
        """
        runs = {}
        for options in self.model.different():
            runs["|".join(options.values())] = self._record_run(options)
        return {"note": self._recorded_note, "runs": runs}

    def _record_run(self, options: dict) -> dict:
        """Return the result of some choices on a new sandbox of this kind."""
        picked = self.model.picked(**options)
        fresh_sandbox = type(self)()
        fresh_sandbox._prepare(picked)
        verdict, words, rows = fresh_sandbox._truth(picked)
        return {
            "call": self._code(picked),
            "verdict": verdict,
            # The page fills in the rest, which depends on the guesses.
            "says": SAYS.replace("{words}", words),
            "rows": rows,
        }

    def _prepare(self, picked: dict) -> None:
        """Do what must come before a recorded call. By default, nothing."""

    def _widget(self):
        """Return the form, which calls back for the code of the choices and for their result."""
        return sandbox_view.widget(self.model, self._code, self._answer)
