"""A learner's guess about one call of a tf.function -> the truth, from the running function."""

from helpers.capture.signatures import SANDBOX, Signatures, call_code
from helpers.exhibit import Exhibit
from helpers.model.sandbox import offered
from helpers.model.traces import TraceLedger
from helpers.safety.state import whole
from helpers.study.predict import Revealed
from helpers.view import ledger
from helpers.view import sandbox as sandbox_view


class SignatureSandbox(Exhibit):
    """A sandbox on show. The text form says what it starts with; `.run()` does the same in code."""

    def __init__(self):
        super().__init__(SANDBOX, sandbox_view)
        self._live, self._tries = Signatures(), []

    def run(self, guess: str, **picked: str) -> Revealed:
        """Run the call of these choices and say whether `guess` was right.

        ValueError names a verdict, a control or an option that is not there.
        """
        guess = offered(guess, SANDBOX.verdicts, "a call is")
        return Revealed(self._answer(SANDBOX.picked(**picked), guess)["says"])

    @whole
    def ledger(self, **picked: str) -> TraceLedger:
        """Return the ledger of one of the functions (the plain one if none is named)."""
        return self._live.function(SANDBOX.picked(**picked)).model

    @whole
    def _answer(self, picked: dict, guess: str) -> dict:
        row = self._live.run(picked)
        right = row.verdict == guess
        self._tries.append(right)
        why = f" ({row.note})" if row.note else ""
        score = f"{sum(self._tries)} of {len(self._tries)} foretold."
        return {
            "says": f"you said {guess}, and it was {row.verdict}{why}. {score}",
            "right": right,
            "rows": ledger.html(self._live.function(picked).model),
        }

    def _show(self, picked: dict) -> str:
        return f"{picked['function']}({call_code(picked)})"

    def _repr_mimebundle_(self, include=None, exclude=None):
        data = {"text/plain": repr(self), "text/html": sandbox_view.html(self.model)}
        bundle = sandbox_view.widget(self.model, self._show, self._answer)._repr_mimebundle_()
        shown, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        return {**shown, **data}, metadata


def signature_sandbox() -> SignatureSandbox:
    """Return a sandbox: pick dtype, shape, Python or tensor, keys; foretell; run; see the row."""
    return SignatureSandbox()
