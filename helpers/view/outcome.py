"""An outcome -> one worded line, with a mark and a colour that say the same."""

from helpers.model.outcome import Outcome
from helpers.view.markup import render

MARKS = {"untried": "○", "passed": "✓", "failed": "✕", "hint": "→"}


def text(model: Outcome) -> str:
    """Return the outcome as one or two lines of text."""
    first = f"{MARKS[model.state]} {model.exercise}: {sentence(model)}"
    return f"{first}\n  {model.more}" if model.more else first


def html(model: Outcome) -> str:
    """Return the outcome as a bordered status line."""
    return render("outcome.html", model=model, mark=MARKS[model.state], sentence=sentence(model))


def sentence(model: Outcome) -> str:
    """Return the state and its reason as one phrase."""
    if model.state == "failed":
        return f"failed because {model.because}"
    if model.state == "hint":
        return model.because
    return f"{model.state}. {model.because}".strip() if model.because else model.state
