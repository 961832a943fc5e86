"""A learner's guess about a program on a variable -> the truth, from its graph and from runs."""

from helpers.capture.variable_programs import (
    EITHER,
    SANDBOX,
    program_code,
    program_picture,
    seen,
    verdict,
)
from helpers.exhibit import Exhibit
from helpers.model.graph import Graph
from helpers.model.sandbox import offered
from helpers.safety.state import whole
from helpers.study.predict import Revealed
from helpers.view import page
from helpers.view import sandbox as sandbox_view

RUNS = 200


class VariableSandbox(Exhibit):
    """A what-if on show. The text form says what it starts with; `.run()` does the same in code."""

    def __init__(self):
        super().__init__(SANDBOX, sandbox_view)
        self._tries = []

    def run(self, guess: str, **picked: str) -> Revealed:
        """Run the program of these choices and say whether `guess` was right.

        ValueError names a verdict, a control or an option that is not there.
        """
        guess = offered(guess, SANDBOX.verdicts, "it sees")
        return Revealed(self._answer(SANDBOX.picked(**picked), guess, 1)["says"])

    @whole
    def graph(self, **picked: str) -> Graph:
        """Return the graph of the program of these choices."""
        return program_picture(SANDBOX.picked(**picked))

    @whole
    def _answer(self, picked: dict, guess: str, runs: int = RUNS) -> dict:
        graph = program_picture(picked)
        must, counted = verdict(graph), seen(picked, runs)
        self._tries.append(guess == must)
        score = f"{sum(self._tries)} of {len(self._tries)} foretold."
        return {
            "says": f"you said {guess}, and it is {must}. {_why(graph, must)}"
            f"{_counts(counted) if runs > 1 else ''} {score}",
            "right": guess == must,
            "rows": page.html(graph),
        }

    def _repr_mimebundle_(self, include=None, exclude=None):
        data = {"text/plain": repr(self), "text/html": sandbox_view.html(self.model)}
        bundle = sandbox_view.widget(self.model, program_code, self._answer)._repr_mimebundle_()
        shown, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        return {**shown, **data}, metadata


def variable_sandbox() -> VariableSandbox:
    """Return a what-if: pick the kind of variable, the read and the order; foretell; run; see."""
    return VariableSandbox()


def _why(graph: Graph, must: str) -> str:
    looks, writes = graph.found
    if must == EITHER:
        return f"No way leads from {writes} to {looks}, or back: nothing orders them."
    first, second = (looks, writes) if must == "10" else (writes, looks)
    return f"{first} runs before {second}: a way in the graph leads there."


def _counts(counted: dict[str, int]) -> str:
    words = ", ".join(f"{value} ×{runs}" for value, runs in counted.items())
    return f" {sum(counted.values())} runs: {words}."
