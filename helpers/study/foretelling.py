"""A form in which learners choose options, guess what happens, and then see the code run.
It is called a *sandbox*. Its *verdicts* are the results that a learner can guess.
"""

from helpers.exhibit import Exhibit
from helpers.model.question_records import Sandbox, require_option
from helpers.safety.restoring import preserves_interpreter_state
from helpers.study.predict import Revealed
from helpers.view.widgets.forms import sandbox as sandbox_view

#: The sentence after a guess. {words} is the second text that `_truth` returns.
SAYS = "you said {guess}, and it {words} {right} of {tries} right."


class GuessingSandbox(Exhibit):
    """A sandbox that a notebook shows. `.run()` does in code what the form does.

    A subclass defines two methods, whose argument `picked` is name of a control -> chosen option.

    `_code(picked)` returns the Python code of these options, as a learner would type it.

    `_truth(picked)` runs that code, and returns three texts: the verdict; the words between "and
    it" and the count of right guesses in the sentence `SAYS`; and HTML with the details.
    """

    #: A note on a page that runs no Python.
    _recorded_note = "This page plays recorded runs: each choice was run once."

    def __init__(self, sandbox: Sandbox, what: str):
        """Show a sandbox. `what` begins the error message for a guess that is no verdict."""
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
        """Run the code of the chosen options, and count the guess.

        Return what the form shows: `says`, a sentence; `right`, whether the guess was right; and
        `rows`, HTML with the details.
        """
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
        """Run every choice of options, for a page that runs no Python; return the results.

        The result has `note`, a text for that page, and `runs`, a dict: the options, joined by "|"
        -> what `_record_run` returns.
        """
        runs = {}
        for options in self.model.different():
            runs["|".join(options.values())] = self._record_run(options)
        return {"note": self._recorded_note, "runs": runs}

    def _record_run(self, options: dict) -> dict:
        """Return the result of these options on a new sandbox of this kind.

        It has the keys `call`, `verdict`, `rows` and `says`. The sentence `says` still has the
        fields {guess}, {right} and {tries}, which the page fills in.
        """
        picked = self.model.picked(**options)
        fresh_sandbox = type(self)()
        fresh_sandbox._prepare(picked)
        verdict, words, rows = fresh_sandbox._truth(picked)
        return {
            "call": self._code(picked),
            "verdict": verdict,
            # The other fields depend on the guesses of the page's reader.
            "says": SAYS.replace("{words}", words),
            "rows": rows,
        }

    def _prepare(self, picked: dict) -> None:
        """Do what must come before the run of `_record_run`. A subclass may replace this."""

    def _widget(self):
        """Return the form. It calls `_code` and `_answer` when the learner uses it."""
        return sandbox_view.widget(self.model, self._code, self._answer)
